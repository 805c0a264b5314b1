"""Ahead: pods on their own that go before gangs which wait.

The rule   a pod on its own goes before a gang where it has the higher priority; of equals where what the policy's queueOrder
           counts (../waiting.py) is less, then where it came first; in the same second the gang goes first
           before all     those that go before every gang that waits are placed, and look for room by pods that matter less,
                          before the session of gangs
           in between     in a session, those that go before a gang are placed when it gets its turn (actions/allocate.py)
           the others     come after all gangs (alone.py)
Room       now, and beside what was promised to others: a place that was cleared, or is kept for the rest of a gang, is
           nobody's but its own, also where that matters less: else somebody would have gone in vain.
Open       where the policy's line is open. Another line is of gangs, and one of pods on their own behind it: what keeps a gang
           waiting keeps its places (line/singles.py).
Why        who waits is in one order, whatever it is made of; a gang gets its turn when its queue has one, so pods go by whose
           turn it is and not by one sorted line.
Told       nothing here: why a pod finds no room is said when gangs have had their turns.
Fair       where namespaces take turns, the pods that go before a gang are anywhere in the line: the others are passed over.
Cost       nothing where no pod waits on its own, or none goes before a gang; O(log n) a gang else, besides placing; where
           namespaces take turns O(pods that go before it).
Source     Kubernetes: scheduling queue, which holds pods and pod groups by priority and time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.decisions import Bind, Decision
from kumi.engine.model import Pod, PodShape
from kumi.engine.placement import alone
from kumi.engine.placement.best import plain
from kumi.engine.placement.devices import lent_holder
from kumi.engine.placement.nodes import Ints, Mask, Nodes
from kumi.engine.placement.plugins.gang_times import deadline_ms, execution_ms
from kumi.engine.placement.seats import bind
from kumi.engine.placement.tasks import Job, Status
from kumi.engine.settings import UNSAID_MS, Discipline, QueueOrder

if TYPE_CHECKING:
    from kumi.engine.state import State
    from kumi.engine.waiting import Turn

_UNTIMED = (QueueOrder.TIME, QueueOrder.FAIR)
"""orders that count nothing which is said"""


def is_open(state: State) -> bool:
    """May there be pods on their own that go before gangs?"""
    if not state.pods.waiting.line or not state.tasks.waiting or state.profile.settings.line is not Discipline.OPEN:
        return False
    return bool(state.newcomers) or state.nodes_seen != state.nodes.changed


def before_all(state: State, stuck: list[Pod]) -> list[Decision]:
    """Places those that go before every gang that waits. `stuck`: gets those of them that found no room, and may find some by
    victims."""
    tasks = state.tasks
    jobs = [job for key in tasks.waiting if (job := tasks.jobs[key]).group is not None and not tasks.is_past(job)]
    first = min((turn(state, job) for job in jobs), default=None)
    if first is None or state.pods.waiting.line[0] >= first:
        return []
    return alone.look(state, stuck, before=first)


def turn(state: State, job: Job) -> Turn:
    """The place that the gang would have in the line of pods on their own."""
    assert job.group is not None
    tasks, order, counts = state.tasks, state.profile.settings.order, None
    if order not in _UNTIMED:
        counts = order.counts_ms(deadline_ms(tasks, job), execution_ms(tasks, job))
    return (-tasks.priority(job), UNSAID_MS if counts is None else counts, job.group.created_ms, "")


class InBetween:
    """Of one session, inside its trial: called with each gang whose turn it is. `binds`: of those that went before one."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.binds: list[Bind] = []
        self._line: Iterator[str] | None = None
        self._next: Pod | None = None
        self._seen: dict[str, None] = {}
        """who was looked at, where the order moves"""
        self._full: dict[tuple[object, ...], None] = {}
        """such pods as found no room: nobody leaves while gangs have their turns"""
        self._promised: dict[str, list[tuple[Pod, str]]] = {}
        """gang -> those that a place is kept for since an earlier session, until its turn comes"""
        for uid, node in sorted(state.answers.promised.items()):
            pod = state.pods.by_uid.get(uid)
            if pod is not None and uid not in state.pods.node_of and node in state.nodes.row_by_name:
                self._promised.setdefault(pod.member.group, []).append((pod, node))

    def __call__(self, job: Job) -> None:
        """The gang's turn: those that go before it are placed."""
        state = self._state
        if state.pods.waiting.line and state.pods.waiting.line[0] < (until := turn(state, job)):
            pods = self._before(until) if state.pods.waiting.is_one_line else self._anywhere_before(until)
            if (first := next(pods, None)) is not None:
                with self._kept():
                    self._place(chain([first], pods))
        self._promised.pop(job.key, None)

    def _before(self, until: Turn) -> Iterator[Pod]:
        """Those whose turn is before that one and hasn't been, where everybody keeps their place."""
        waiting = self._state.pods.waiting
        if self._line is None:
            self._line = alone.turns(self._state)
            self._next = self._step()
        while self._next is not None and waiting.turn(self._next) < until:
            yield self._next
            self._next = self._step()

    def _step(self) -> Pod | None:
        """The next one that looks for a place."""
        return next((pod for uid in self._line or () if (pod := self._looking(uid)) is not None), None)

    def _anywhere_before(self, until: Turn) -> Iterator[Pod]:
        """The same where namespaces take turns: whoever isn't before this gang, and may be before another, is passed over."""
        for uid in alone.turns(self._state, until):
            if uid not in self._seen and (pod := self._looking(uid)) is not None:
                self._seen[uid] = None
                yield pod

    def _looking(self, uid: str) -> Pod | None:
        """The pod, if it looks for a place."""
        state, pod = self._state, self._state.pods.by_uid[uid]
        has_one = uid in state.nominations.node_of
        return None if has_one or state.pods.waiting.by_shape[pod.shape].full else pod

    def _place(self, pods: Iterable[Pod]) -> None:
        state = self._state
        for pod in pods:
            kind = (pod.shape, state.nodes.residents.heeds(pod))
            if kind not in self._full:
                node = self._node(pod)
                if node is not None:
                    self.binds.append(bind(state, pod, node))
                elif pod.shape.neighbours is None or not pod.shape.neighbours.binds:
                    self._full[kind] = None

    def _node(self, pod: Pod) -> str | None:
        nodes = self._state.nodes
        if not nodes.pipelined[0].any():
            return self._state.best.node(pod)
        return plain(nodes, self._state.site.plugins, pod, _beside)

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Inside, what gangs were promised whose turn has not come counts as promised."""
        nodes, tasks = self._state.nodes, self._state.tasks
        kept = [(pod, node) for pods in self._promised.values() for pod, node in pods]
        kept = [(pod, node) for pod, node in kept if tasks.status.get(pod.uid) is Status.PENDING]
        for pod, node in kept:
            nodes.pipeline(node, pod.shape.requests, 1)
            nodes.devices.seat(lent_holder(pod.uid), pod.shape, nodes.row_by_name[node], promised=True)
        yield
        for pod, node in kept:
            nodes.pipeline(node, pod.shape.requests, -1)
            nodes.devices.unseat(lent_holder(pod.uid))


def _beside(nodes: Nodes, shape: PodShape, mask: Mask, rows: Ints) -> Ints:
    """How many there is room for now, and for all that is promised there as well."""
    return np.minimum(nodes.places(shape, mask, rows), nodes.places_later(shape, mask)[rows])
