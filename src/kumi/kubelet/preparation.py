"""What a pod has before its first container starts: its claims, its tokens, its volumes, a port.

Order      claims first: a pod that waits for one asks for nothing else meanwhile.
Again      every step may be done again: a preparation that fails is tried anew from the start (pod_state.py says when).
Not here   each of them: claims.py, tokens.py, volumes.py, ports.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kumi.api.wire import JsonObject
from kumi.kubelet import claims, tokens, volumes
from kumi.kubelet.environment import CannotConfigure
from kumi.kubelet.machine import Machine
from kumi.kubelet.outfit import Outfit, note
from kumi.kubelet.pod_record import PodRecord
from kumi.kubelet.ports import Group


class Preparation:
    """Of one pod; what comes of it is in its record. `places`: below which its volumes are."""

    def __init__(self, machine: Machine, record: PodRecord, outfit: Outfit, places: Path) -> None:
        self._machine, self._record, self._outfit = machine, record, outfit
        self._places = places
        self._tokens: dict[tokens.Asked, tokens.Token] = {}

    async def prepare(self, pod: JsonObject, is_over: Callable[[], bool]) -> None:
        """Everything; `is_over`: whether nobody wants it any more. KumiError, OSError: not now."""
        machine, record = self._machine, self._record
        self._outfit.check(pod)
        claimed = await self._claim(pod, is_over)
        sources = await machine.sources(record.namespace, *volumes.wanted_of(pod))
        now_ms = machine.clock.now_ms()
        self._tokens = await tokens.ask(machine.client, pod, volumes.tokens_of(pod), now_ms)
        sources = replace(sources, tokens=tokens.texts_of(self._tokens), claims=claimed)
        record.places = volumes.provide(pod, self._places, sources, self._outfit.facts(pod))
        said = note(pod)
        if said is not None and said.group and said.port:
            group = Group(said.group, said.port)
            record.group, record.group_port = group
            record.port = machine.ports.take(group, record.uid)

    async def renew(self, pod: Callable[[], JsonObject | None]) -> None:
        """Keeps its tokens fresh from now on; `pod` as in tokens.keep."""
        await tokens.keep(self._machine.client, self._machine.clock, pod, self._places, self._tokens)

    async def _claim(self, pod: JsonObject, is_over: Callable[[], bool]) -> dict[str, claims.Claimed]:
        """What is behind the pod's claims; it uses them from now on."""
        machine, record = self._machine, self._record
        found = await claims.find(machine.client, machine.kinds, pod, machine.settings.data_dir)
        if is_over():
            raise CannotConfigure("the pod is over")
        machine.attachments.take(record.uid, record.node, found)
        record.claims = {one.claim: one.exclusive for one in found.values()}
        record.read_only = [volume for volume, one in found.items() if one.read_only]
        return found
