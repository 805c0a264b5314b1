"""Own gangs: which pod groups are Kumi's, where another scheduler may have some too.

The rule   where pods that name Volcano mean Kumi (it is the control plane), all are
           else (`kumi controllers --own`) one is from when a pod that names Kumi is in it, or from when its own annotation
           kumi.dev/scheduler-name names Kumi; and as long as it is there
Why        a pod group doesn't say who schedules it, its pods do. One that has none yet may be anybody's: it is left alone, since
           two schedulers that write one phase undo each other's words for ever. Who makes a group and waits for its phase
           before there are pods says whose it is by the annotation.
Stays      also when its pods are gone: somebody has to say so.
Keys       `namespace/name` of the pod group.
Cost       O(1) a pod, a pod group.
Source     Kumi's own; Volcano takes every pod group, and of pods those that name it.
Not here   whose pods are whose: kumi.bridge.into.pod.
"""

from __future__ import annotations

from kumi.api import core, volcano
from kumi.bridge.scheduler_names import VOLCANO_SCHEDULER

SCHEDULER_NAME = "kumi.dev/scheduler-name"


class OwnGangs:
    """See the module. `schedulers`: the names that mean Kumi."""

    def __init__(self, schedulers: tuple[str, ...]) -> None:
        self._schedulers = schedulers
        self.has_all = VOLCANO_SCHEDULER in schedulers
        self._met: dict[str, None] = {}
        """pod groups that are there, and are Kumi's"""
        self._pods: dict[str, dict[str, None]] = {}
        """pod group -> uids of the pods of Kumi's that are in it"""

    def has(self, group: str) -> bool:
        """Is it Kumi's?"""
        return self.has_all or group in self._met or group in self._pods

    def meet(self, group: volcano.PodGroup) -> bool:
        """It is there, or changed. Is it Kumi's?"""
        if group.metadata.annotations.get(SCHEDULER_NAME) in self._schedulers or group.key in self._pods:
            self._met[group.key] = None
        return self.has(group.key)

    def part(self, group: str) -> None:
        """It is gone."""
        self._met.pop(group, None)

    def meet_pod(self, pod: core.Pod) -> str:
        """A pod is there, or changed. The pod group that is Kumi's for it, "" for none."""
        name = pod.metadata.annotations.get(volcano.GROUP_NAME_ANNOTATION, "")
        if self.has_all or not name or pod.spec.scheduler_name not in self._schedulers:
            return ""
        group = f"{pod.metadata.namespace}/{name}"
        self._pods.setdefault(group, {})[pod.metadata.uid] = None
        return group

    def part_with_pod(self, pod: core.Pod) -> None:
        """The pod is gone."""
        group = f"{pod.metadata.namespace}/{pod.metadata.annotations.get(volcano.GROUP_NAME_ANNOTATION, '')}"
        uids = self._pods.get(group)
        if uids is not None:
            uids.pop(pod.metadata.uid, None)
            if not uids:
                del self._pods[group]
