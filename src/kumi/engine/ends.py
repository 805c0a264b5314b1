"""Ends: when pods that hold a node are expected to end, in the order of time.

The rule   end(p)  = started(p) + what it says that it takes (Pod.started_ms, Member.execution_ms); of a gang's pod what the pod
           group
                     says counts, where it says something (PodGroup.execution_ms)
           not started yet   it starts now
           overdue           one whose end is not after now ends in the next millisecond
           nobody says       it never ends, for this purpose
           leaving           a pod on its way out is in `releasing` of the nodes, and not here
Why        reservations are made of these; nothing else knows what a node is used for later.
Needs      `Pod.started_ms`: whoever tells of a pod that runs tells since when; without it, it is taken to start now, for ever.
Kept       as pods come, change and go, where the policy has a line that keeps reservations (kumi.engine.placement.line).
Units      milliseconds since the epoch.
Cost       O(log n) compares a pod that comes or goes.
Not here   what follows: placement/line/timeline.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from heapq import merge

from kumi.engine.journal import Journal
from kumi.engine.model import Pod

SOON_MS = 1
"""what is overdue, or leaving, ends so long from now"""


class Ends:
    """Of pods that hold a node, by uid."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.order: list[tuple[int, str]] = []
        """(end, uid) of those that have started"""
        self.starting: dict[str, int] = {}
        """uid -> how long it takes, of those that have not"""
        self._end: dict[str, int] = {}
        self._said: dict[str, int] = {}
        """pod group -> what it says that it takes"""
        self._of_group: dict[str, dict[str, Pod]] = {}

    def seat(self, pod: Pod, times: int) -> None:
        """The pod holds a node now; -1: not any more."""
        group = pod.member.group
        if group and times > 0:
            if group not in self._of_group:
                self._journal.put(self._of_group, group, {})
            self._journal.put(self._of_group[group], pod.uid, pod)
        elif group and pod.uid in self._of_group.get(group, ()):
            self._journal.drop(self._of_group[group], pod.uid)
            if not self._of_group[group]:
                self._journal.drop(self._of_group, group)
        if times > 0:
            self._enter(pod)
        else:
            self._leave(pod.uid)

    def say(self, group: str, execution_ms: int | None) -> None:
        """The pod group says that it takes so long; None: nothing, or it is gone."""
        if self._said.get(group) == execution_ms:
            return
        if execution_ms is None:
            self._journal.drop(self._said, group)
        else:
            self._journal.put(self._said, group, execution_ms)
        for uid, pod in sorted(self._of_group.get(group, {}).items()):
            self._leave(uid)
            self._enter(pod)

    def said_ms(self, pod: Pod) -> int | None:
        """How long the pod takes by what is said; None: nobody says."""
        said = self._said.get(pod.member.group) if pod.member.group else None
        return pod.member.execution_ms if said is None else said

    def of(self, uid: str, now_ms: int) -> int | None:
        """When that pod is expected to end; None: never."""
        if uid in self.starting:
            return now_ms + max(self.starting[uid], SOON_MS)
        end = self._end.get(uid)
        return None if end is None else max(end, now_ms + SOON_MS)

    def in_order(self, now_ms: int) -> Iterator[tuple[int, str]]:
        """(end, uid) of all that ever end, the first one first."""
        late = bisect_right(self.order, (now_ms, _LAST))
        overdue = [(now_ms + SOON_MS, uid) for _, uid in self.order[:late]]
        starting = [(now_ms + max(said, SOON_MS), uid) for uid, said in self.starting.items()]
        coming = (self.order[at] for at in range(late, len(self.order)))
        return merge(sorted(overdue), sorted(starting), coming)

    def next_ms(self, now_ms: int) -> int | None:
        """The first expected end after now of those that have started; None: there is none."""
        at = bisect_right(self.order, (now_ms, _LAST))
        return self.order[at][0] if at < len(self.order) else None

    def _enter(self, pod: Pod) -> None:
        said = self.said_ms(pod)
        if said is None or pod.terminating:
            return
        if pod.started_ms:
            self._journal.put(self._end, pod.uid, pod.started_ms + said)
            self._journal.insert(self.order, (pod.started_ms + said, pod.uid))
        else:
            self._journal.put(self.starting, pod.uid, said)

    def _leave(self, uid: str) -> None:
        self._journal.drop(self.starting, uid)
        end = self._end.get(uid)
        if end is not None:
            self._journal.drop(self._end, uid)
            self._journal.discard(self.order, (end, uid))


_LAST = "\U0010ffff"
"""after every uid"""
