"""Waiting: the line of pods on their own that wait for a node.

The rule, after the priority, the higher first, by the policy's queueOrder:
    time          creation
    shortest      what they say that they take, the shorter first
    deadline      their deadline, the earlier first
    leastSlack    deadline - now - what they say that they take, the smaller first; one that says nothing takes no time. All who
                  wait lose slack alike, so the key is deadline - execution, which doesn't move
    fair          the dominant share of the pod's namespace (shares.py), the smaller first. It moves as pods come, are placed and
                  go, also while the line is gone through
Unsaid         who doesn't say what counts goes after all who do.
Ties           creation in whole seconds as the API has it, then uid: servers of Kumi's give uids in the order in which objects
               come, so that who came first goes first within a second as well.
Why            one order for the line, whoever goes through it; a hundred thousand may wait in it.
Kept           a sorted line; for `fair` one a namespace, of whose heads the least is next.
Units          milliseconds.
Cost           O(log n) compares a pod that comes or goes, or is next; `fair` O(namespaces) more when one begins to go through it.
Source         shortest job first, earliest deadline first, least slack time first; Ghodsi et al., Dominant Resource Fairness
               (2011).
Not here       who may pass whom: placement/line/; workloads of a ClusterQueue: queues.py; gangs: placement/plugins/.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

from kumi.engine.settings import UNSAID_MS, QueueOrder

if TYPE_CHECKING:
    from kumi.engine.journal import Journal
    from kumi.engine.model import Pod, PodShape
    from kumi.engine.placement.line.asking import Held, Reservation
    from kumi.engine.reasons import Reason
    from kumi.engine.shares import Shares

Turn: TypeAlias = tuple[int, int, int, str]
"""(-priority, what the order counts, created_ms, uid)"""
_LAST: Turn = (2**63, 0, 0, "")
"""after every turn"""


class Alike:
    """Those of one shape that wait: `turns`, in their order. The rest is placement/crowd.py's, and no part of the state: `full`:
    none of them finds room now; `refusals`: why not, `news`: which is new; `of`: what nodes are like as long as that holds;
    `asked`: (line, amount) of it; `short`: (line, most) of what there is too little of; `woken`: by which wake it isn't full."""

    __slots__ = ("asked", "full", "news", "of", "refusals", "shape", "short", "turns", "woken")

    def __init__(self, shape: PodShape) -> None:
        self.shape = shape
        self.turns: list[Turn] = []
        self.full = self.news = False
        self.woken = -1
        self.refusals: tuple[Reason, ...] = ()
        self.of: tuple[object, ...] = ()
        self.asked: tuple[tuple[int, int], ...] = ()
        self.short: tuple[int, int] | None = None

    @property
    def is_told(self) -> bool:
        """Is none of them to be looked at, newcomers aside?"""
        return self.full and not self.news


class Waiting:
    """See the module. `shares`: of namespaces, where the order is `fair`."""

    def __init__(self, journal: Journal, order: QueueOrder = QueueOrder.TIME, shares: Shares | None = None) -> None:
        self._journal, self._order, self._shares = journal, order, shares
        self._counts_nothing = order.counts_ms(0, 0) is None
        self.line: list[Turn] = []
        self.by_shape: dict[PodShape, Alike] = {}
        self.of_namespace: dict[str, list[Turn]] = {}
        """the same by namespace, where the order is `fair`"""
        self.first = ""
        """uid of the first that found no room in the last look, where the line isn't open"""
        self.reservations: dict[str, Reservation] = {}
        """uid -> what is kept for it since the last look"""
        self.heeded: dict[str, Held] = {}
        """what was kept for gangs in the last look, where the line isn't open"""
        self.wake_ms: int | None = None
        """when a look may find something else although nothing came; None: not by itself"""

    def enter(self, pod: Pod) -> None:
        """The pod waits."""
        turn = self.turn(pod)
        self._journal.insert(self.line, turn)
        alike = self.by_shape.get(pod.shape)
        if alike is None:
            alike = Alike(pod.shape)
            self._journal.put(self.by_shape, pod.shape, alike)
        self._journal.insert(alike.turns, turn)
        if self._shares is not None:
            if pod.namespace not in self.of_namespace:
                self._journal.put(self.of_namespace, pod.namespace, [])
            self._journal.insert(self.of_namespace[pod.namespace], turn)

    def leave(self, pod: Pod) -> None:
        """It waits no longer; one that is in no line is passed over."""
        turn = self.turn(pod)
        if not self._journal.discard(self.line, turn):
            return
        alike = self.by_shape[pod.shape]
        self._journal.discard(alike.turns, turn)
        if not alike.turns:
            self._journal.drop(self.by_shape, pod.shape)
        if self._shares is not None:
            self._journal.discard(self.of_namespace[pod.namespace], turn)
            if not self.of_namespace[pod.namespace]:
                self._journal.drop(self.of_namespace, pod.namespace)

    @property
    def is_one_line(self) -> bool:
        """Does everybody keep the same place while others are named?"""
        return self._shares is None

    def that_may_fit(self, newcomers: Iterable[Pod]) -> Iterator[str]:
        """As `in_order`, where everybody keeps their place: of those of a shape that is full, and told so, newcomers alone."""
        heads = [(alike.turns[0], 1, alike) for alike in self.by_shape.values() if not alike.is_told]
        heads += [(self.turn(pod), 0, self.by_shape[pod.shape]) for pod in newcomers]
        heapify(heads)
        while heads:
            turn, in_turn, alike = heappop(heads)
            if bool(in_turn) != alike.is_told:
                yield turn[-1]
            following = _after(alike.turns, turn) if in_turn and not alike.is_told else None
            if following is not None:
                heappush(heads, (following, 1, alike))

    def has(self, pod: Pod) -> bool:
        """Is the pod in the line?"""
        turn = self.turn(pod)
        at = bisect_left(self.line, turn)
        return at < len(self.line) and self.line[at] == turn

    def turn(self, pod: Pod) -> Turn:
        """Its place in the line; where the order is `fair`, in that of its namespace."""
        counts = UNSAID_MS if self._counts_nothing else self._counts(pod)
        return (-pod.priority, counts, pod.created_ms, pod.uid)

    def in_order(self, among: Iterable[Pod] | None = None, before: Turn | None = None) -> Iterator[str]:
        """The uids of all who wait, or of those among them, the first one first. Each may leave the line when it was named, and
        nobody else. `before`: where the order is `fair`, those with an earlier turn than that alone; they are anywhere in it."""
        if self._shares is None:
            return _one_by_one(self.line) if among is None else _named(sorted(self.turn(pod) for pod in among))
        lines = self.of_namespace if among is None else self._by_namespace(among)
        return self._by_shares(lines, self._shares, before)

    def _by_namespace(self, pods: Iterable[Pod]) -> dict[str, list[Turn]]:
        lines: dict[str, list[Turn]] = {}
        for pod in pods:
            lines.setdefault(pod.namespace, []).append(self.turn(pod))
        for line in lines.values():
            line.sort()
        return lines

    def _by_shares(self, lines: dict[str, list[Turn]], shares: Shares, before: Turn | None) -> Iterator[str]:
        """The head of the namespace that holds least; its next one stands where the namespace does once this one was named."""
        share = shares.by_now()
        until = _LAST if before is None else before
        lines = {namespace: line for namespace, line in lines.items() if line[0] < until}
        heads = [(line[0][0], share(namespace), line[0], namespace) for namespace, line in lines.items()]
        heapify(heads)
        while heads:
            _, _, turn, namespace = heappop(heads)
            yield turn[-1]
            following = _after(lines.get(namespace, ()), turn)
            if following is not None and following < until:
                heappush(heads, (following[0], share(namespace), following, namespace))

    def _counts(self, pod: Pod) -> int:
        counts = self._order.counts_ms(pod.member.deadline_ms, pod.member.execution_ms)
        return UNSAID_MS if counts is None else counts


def _named(line: list[Turn]) -> Iterator[str]:
    for turn in line:
        yield turn[-1]


def _one_by_one(line: list[Turn]) -> Iterator[str]:
    turn = line[0] if line else None
    while turn is not None:
        yield turn[-1]
        turn = _after(line, turn)


def _after(line: list[Turn] | tuple[()], turn: Turn) -> Turn | None:
    """Who comes after that turn, whether it is still there or not."""
    at = bisect_right(line, turn)
    return line[at] if at < len(line) else None
