"""Devices: which GPU for which container.

The rule   an extended resource whose name contains "gpu" is a set of devices, numbered from 0; a container that asks for
           n gets n of them that no other live container of the node has, lowest numbers first, for the life of its pod.
           Init containers run before the others and share theirs: they get from the pod's own devices.
Told       a pod whose annotation says which of nvidia.com/gpu it has (kumi.api.gpu_sharing) gets these: where its containers ask
           for some, as the n of them; where they ask for none, it shares them with others, and all its containers see them.
           Numbers that are not there, or were given away meanwhile, are not heeded.
Variables  CUDA_VISIBLE_DEVICES and NVIDIA_VISIBLE_DEVICES list a container's devices. On a node that offers GPUs a
           container that asks for none sees none ("" and "void"); on any other node nothing is set.
Names      where the node's cards are known (gpus.py), number i is the i-th card, by its UUID; else, where Kumi itself was
           started with CUDA_VISIBLE_DEVICES, number i is the i-th of that list.
Unhealthy  a card that is, is given to nobody; who has it keeps it.
Restart    a pod's devices are in its record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kumi.api import gpu_sharing
from kumi.api.errors import KumiError
from kumi.api.quantity import MILLI, parse
from kumi.api.wire import JsonObject
from kumi.kubelet.gpus import RESOURCE, Card

Given = dict[str, dict[str, list[int]]]
"""container -> resource -> device numbers"""


def is_device(resource: str) -> bool:
    """Whether a resource is handed out as numbered devices."""
    return "/" in resource and "gpu" in resource.lower()


def asked(pod: JsonObject) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]:
    """(of the containers that run together, of the init containers that run before): container -> resource -> count."""
    together: dict[str, dict[str, int]] = {}
    before: dict[str, dict[str, int]] = {}
    for container in pod["spec"].get("initContainers") or ():
        into = together if container.get("restartPolicy") == "Always" else before
        into[container["name"]] = _counts(container)
    for container in pod["spec"]["containers"]:
        together[container["name"]] = _counts(container)
    return together, before


class Devices:
    """The devices of one node and which pods have them. `cards`: those behind nvidia.com/gpu, if they are known."""

    def __init__(self, count_by_resource: Mapping[str, int], cards: Sequence[Card] = ()) -> None:
        self._cards = cards
        self._unhealthy: frozenset[int] = frozenset()
        self.offered = {name: count for name, count in count_by_resource.items() if is_device(name)}
        self._given: dict[str, Given] = {}

    def take(self, pod_uid: str, pod: JsonObject) -> Given:
        """A pod's devices. KumiError if there are too few: admission counts them first."""
        if pod_uid in self._given:
            return self._given[pod_uid]
        together, before = asked(pod)
        given: Given = {}
        for resource in sorted(self.offered):
            free = self._free(resource)
            needs = sum(c.get(resource, 0) for c in together.values())
            pool = max([needs, *(c.get(resource, 0) for c in before.values())])
            told = self._told(resource, pod)
            if told and not pool:
                for name in (*before, *together):
                    given.setdefault(name, {})[resource] = told
                continue
            if len(told) == pool and set(told) <= set(free):
                free = told
            if pool > len(free):
                raise KumiError(f"{pool} {resource} asked for, {len(free)} free")
            mine = free[:pool]
            for name, counts in before.items():
                given.setdefault(name, {})[resource] = mine[: counts.get(resource, 0)]
            for name, counts in together.items():
                given.setdefault(name, {})[resource] = mine[: counts.get(resource, 0)]
                mine = mine[counts.get(resource, 0) :]
        self.restore(pod_uid, given)
        return given

    def restore(self, pod_uid: str, given: Given) -> None:
        """The pod has had these since before the restart."""
        self._given[pod_uid] = given

    def release(self, pod_uid: str) -> None:
        """The pod is over."""
        self._given.pop(pod_uid, None)

    def avoid(self, uuids: Iterable[str]) -> int:
        """From now on the cards with these UUIDs, and no others, are unhealthy: how many of the node's are."""
        bad = set(uuids)
        self._unhealthy = frozenset(number for number, card in enumerate(self._cards) if card.uuid in bad)
        return len(self._unhealthy)

    def variables_of(self, given: Mapping[str, list[int]], visible: str | None) -> dict[str, str]:
        """The variables of one container. `visible`: Kumi's own CUDA_VISIBLE_DEVICES."""
        if not self.offered:
            return {}
        listed = ",".join(self._names_of(given, visible))
        return {"CUDA_VISIBLE_DEVICES": listed, "NVIDIA_VISIBLE_DEVICES": listed or "void"}

    def minors_of(self, given: Mapping[str, list[int]]) -> list[int]:
        """The minor numbers of a container's cards: as NVML says, else taken to be what they are numbered."""
        if self._cards:
            return [self._cards[i].minor for i in given.get(RESOURCE, ()) if i < len(self._cards)]
        return [i for resource in sorted(given) for i in given[resource]]

    def _told(self, resource: str, pod: JsonObject) -> list[int]:
        """What the pod's annotation says, of devices that are there."""
        if resource != RESOURCE:
            return []
        numbers = gpu_sharing.numbers(pod["metadata"].get("annotations") or {})
        return [number for number in numbers if number < self.offered[resource]]

    def _names_of(self, given: Mapping[str, list[int]], visible: str | None) -> list[str]:
        if self._cards:
            return [self._cards[i].uuid for i in given.get(RESOURCE, ()) if i < len(self._cards)]
        names = [n.strip() for n in visible.split(",")] if visible else []
        known = len(names) >= sum(self.offered.values())
        numbers = [i for resource in sorted(given) for i in given[resource]]
        return [names[i] if known else str(i) for i in numbers]

    def _free(self, resource: str) -> list[int]:
        used = {i for given in self._given.values() for by_name in given.values() for i in by_name.get(resource, ())}
        avoided = self._unhealthy if resource == RESOURCE else frozenset()
        return [i for i in range(self.offered[resource]) if i not in used and i not in avoided]


def _counts(container: JsonObject) -> dict[str, int]:
    resources = container.get("resources") or {}
    written = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: parse(value, name) // MILLI for name, value in written.items() if is_device(name)}
