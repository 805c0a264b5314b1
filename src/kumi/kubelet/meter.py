"""The meter: what the containers of a machine use, measured again and again.

The rule, at each look:
    cpu       of a container: what its processes used since the look before, by the time since then. One that began since then
              had used nothing when it began
    memory    what its processes have now
    pod       its containers that run, once each of them is measured
    node      the sum of its containers that are measured; from the second look on
Short      a time of less than LEAST_MS says little, since processors are counted in hundredths of a second: the container waits
           for the next look.
Falls      processor time that seems to fall (process_trees.py, "Lost") counts as none.
Not here   what nobody's container uses: several nodes may share this machine, and what else runs on it is none of theirs.
Source     Kubernetes: resource metrics pipeline (window, timestamp).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from kumi.api.metrics import Usage, Used, sum_of
from kumi.kubelet.process_trees import Tree, read
from kumi.runtime.clock import Clock

LOG = logging.getLogger(__name__)
LEAST_MS = 500
SOON_MS = 2_000
"""until the next look where a container or a node isn't measured yet, at most"""


Read: TypeAlias = Callable[[Sequence[int]], Mapping[int, Tree]]
"""(guardians) -> what is below each that is there"""


class Running(NamedTuple):
    """A container that runs: its node, its pod's uid, its name, the id of its guardian, since when it runs."""

    node: str
    pod: str
    container: str
    guardian: int
    started_ms: int


class _Look(NamedTuple):
    """What a container had used at a moment of the monotonic clock."""

    at_ms: int
    cpu_ns: int


class Meter:
    """See the module. A kumi.runtime.usage.UsageSource."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._looks: dict[Running, _Look] = {}
        self._used: dict[Running, tuple[int, Used]] = {}
        """container -> the window, and what it used in it"""
        self._pods: dict[str, Usage[Mapping[str, Used]]] = {}
        self._nodes: dict[str, Usage[Used]] = {}
        self._last_ms: int | None = None

    def node(self, name: str) -> Usage[Used] | None:
        """See UsageSource."""
        return self._nodes.get(name)

    def pod(self, uid: str) -> Usage[Mapping[str, Used]] | None:
        """See UsageSource."""
        return self._pods.get(uid)

    async def run(
        self, nodes: Iterable[str], running: Callable[[], Sequence[Running]], every_ms: int, read: Read = read
    ) -> None:
        """Until cancelled, every so often, and soon where there is somebody new. `nodes`: all of the machine; `running`: what
        runs on them now. A look that fails is told once, until one succeeds again."""
        fails = False
        while True:
            now = running()
            if self._is_due(now, every_ms):
                try:
                    self.take(nodes, now, await asyncio.to_thread(read, [one.guardian for one in now]))
                except Exception:
                    if not fails:
                        LOG.exception("what containers use can't be read")
                    fails = True
                else:
                    fails = False
            await self._clock.sleep_ms(min(every_ms, SOON_MS))

    def _is_due(self, running: Iterable[Running], every_ms: int) -> bool:
        if self._last_ms is None or not self._nodes:
            return True
        return self._clock.monotonic_ms() - self._last_ms >= every_ms or any(one not in self._used for one in running)

    def take(self, nodes: Iterable[str], running: Sequence[Running], trees: Mapping[int, Tree]) -> None:
        """One look. `trees`: of the guardians that are still there."""
        now_ms, at_ms = self._clock.now_ms(), self._clock.monotonic_ms()
        there = {one: trees[one.guardian] for one in running if one.guardian in trees}
        looks, used = {}, {}
        for one, tree in there.items():
            before = self._looks.get(one) or self._beginning(one, now_ms, at_ms)
            window_ms = at_ms - before.at_ms if before is not None else 0
            if before is None or window_ms < LEAST_MS:
                looks[one] = before or _Look(at_ms, tree.cpu_ns)
                if one in self._used:
                    used[one] = self._used[one]
                continue
            looks[one] = _Look(at_ms, tree.cpu_ns)
            cpu_nano = max(0, tree.cpu_ns - before.cpu_ns) * 1000 // window_ms
            used[one] = (window_ms, Used(cpu_nano, tree.memory_bytes))
        self._looks, self._used = looks, used
        self._pods = _of_pods(now_ms, there, used)
        if self._last_ms is not None:
            window_ms = at_ms - self._last_ms
            self._nodes = {
                name: Usage(now_ms, window_ms, sum_of(u for one, (_, u) in used.items() if one.node == name))
                for name in nodes
            }
        self._last_ms = at_ms

    def _beginning(self, one: Running, now_ms: int, at_ms: int) -> _Look | None:
        """When it had used nothing; None: that was before the last look, so nobody knows what of it is of now."""
        age_ms = now_ms - one.started_ms
        if self._last_ms is None or not 0 <= age_ms <= at_ms - self._last_ms:
            return None
        return _Look(at_ms - age_ms, 0)


def _of_pods(
    now_ms: int, there: Iterable[Running], used: Mapping[Running, tuple[int, Used]]
) -> dict[str, Usage[Mapping[str, Used]]]:
    """The pods of which every container is measured."""
    by_pod: dict[str, list[Running]] = {}
    for one in there:
        by_pod.setdefault(one.pod, []).append(one)
    return {
        pod: Usage(now_ms, max(used[one][0] for one in ones), {one.container: used[one][1] for one in ones})
        for pod, ones in by_pod.items()
        if all(one in used for one in ones)
    }
