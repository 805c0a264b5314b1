"""Ends: when pods that hold a node are expected to end, in the order of time.

The rule   end(p)            started(p) + what it says that it takes (Pod.started_ms, Member.execution_ms); of a gang's pod what
                             the pod group says counts, where it says something (PodGroup.execution_ms)
           not started yet   it starts now
           overdue           one whose end is not after now ends in the next millisecond
           nobody says       it never ends, for this purpose
           leaving           a pod on its way out is in `releasing` of the nodes, and not here
Why        reservations are made of these; nothing else knows what a node is used for later.
Needs      `Pod.started_ms`: whoever tells of a pod that runs tells since when; without it, it is taken to start now, for ever.
Party      pods of a gang that end at one time are one party, one on its own is another: what is kept, and looked at, is parties
           (those of a gang that have started, that have not, and that are overdue by different times are several)
Order      by end; then by key: the pod group, or the uid of one on its own
Kept       as pods come, change and go, where the policy has a line that keeps reservations (kumi.engine.placement.line).
Units      milliseconds since the epoch.
Cost       O(1) a pod that comes or goes, O(log n) compares a party.
Not here   what follows: placement/line/timeline.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from heapq import merge
from itertools import count
from typing import Any

from kumi.engine.journal import Journal
from kumi.engine.model import Pod

SOON_MS = 1
"""what is overdue, or leaving, ends so long from now"""


Turn = tuple[int, str, str]
"""(end, or how long it takes; key: the pod group, or the uid of one on its own; that uid again, "" for a gang)"""


class Party:
    """Pods that end at one time. Changed through Ends only."""

    __slots__ = ("known", "pods", "stamp")

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.stamp = 0
        """stands for one content of it; never used twice, also where a trial is taken back"""
        self.known: Any = None
        """what somebody found of one such content; no part of what a trial takes back"""


class Ends:
    """Of pods that hold a node, by uid."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._stamps = count(1)
        self.order: list[Turn] = []
        """of the parties that have started, in order"""
        self.parties: dict[Turn, Party] = {}
        """these"""
        self.starting: dict[Turn, Party] = {}
        """those that have not"""
        self._turns: dict[str, tuple[bool, Turn]] = {}
        """uid -> has it started, and its party"""
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
        if uid not in self._turns:
            return None
        started, (ms, _, _) = self._turns[uid]
        return max(ms, now_ms + SOON_MS) if started else now_ms + max(ms, SOON_MS)

    def in_order(self, now_ms: int) -> Iterator[tuple[int, Turn, Party]]:
        """(end, turn, party) of all that ever end, the first one first; turns tell those apart that end at one time."""
        late = bisect_right(self.order, (now_ms, _LAST))
        overdue = [(now_ms + SOON_MS, turn, self.parties[turn]) for turn in self.order[:late]]
        starting = [(now_ms + max(turn[0], SOON_MS), turn, party) for turn, party in self.starting.items()]
        coming = ((turn[0], turn, self.parties[turn]) for turn in self.order[late:])
        return merge(sorted(overdue, key=_which), sorted(starting, key=_which), coming, key=_which)

    def next_ms(self, now_ms: int) -> int | None:
        """The first expected end after now of those that have started; None: there is none."""
        at = bisect_right(self.order, (now_ms, _LAST))
        return self.order[at][0] if at < len(self.order) else None

    def _enter(self, pod: Pod) -> None:
        said, group = self.said_ms(pod), pod.member.group
        if said is None or pod.terminating:
            return
        started = bool(pod.started_ms)
        turn = (pod.started_ms + said, group or pod.uid, "" if group else pod.uid)
        parties = self.parties if started else self.starting
        if turn not in parties:
            self._journal.put(parties, turn, Party())
            if started:
                self._journal.insert(self.order, turn)
        self._journal.put(parties[turn].pods, pod.uid, pod)
        self._journal.swap(parties[turn], "stamp", next(self._stamps))
        self._journal.put(self._turns, pod.uid, (started, turn))

    def _leave(self, uid: str) -> None:
        if uid not in self._turns:
            return
        started, turn = self._turns[uid]
        parties = self.parties if started else self.starting
        self._journal.drop(self._turns, uid)
        self._journal.drop(parties[turn].pods, uid)
        self._journal.swap(parties[turn], "stamp", next(self._stamps))
        if not parties[turn].pods:
            self._journal.drop(parties, turn)
            if started:
                self._journal.discard(self.order, turn)


def _which(one: tuple[int, Turn, Party]) -> tuple[int, str, str, int]:
    """Their order, unique among the overdue, those that start now, and those to come."""
    end, (ms, key, uid), _ = one
    return (end, key, uid, ms)


_LAST = "\U0010ffff"
"""after every key"""
