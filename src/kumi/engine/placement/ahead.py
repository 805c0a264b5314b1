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
Cost       nothing where no pod waits on its own, or none goes before a gang; O(log n) a gang else, besides placing.
Source     Kubernetes: scheduling queue, which holds pods and pod groups by priority and time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.decisions import Bind, Decision
from kumi.engine.model import Pod
from kumi.engine.placement import alone
from kumi.engine.placement.devices import lent_holder
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
            if self._line is None:
                self._line = alone.turns(state)
                self._step()
            if self._next is not None and state.pods.waiting.turn(self._next) < until:
                with self._kept():
                    self._place(until)
        self._promised.pop(job.key, None)

    def _place(self, until: Turn) -> None:
        state = self._state
        while self._next is not None and state.pods.waiting.turn(self._next) < until:
            pod = self._next
            kind = (pod.shape, state.nodes.residents.heeds(pod))
            if kind not in self._full:
                node = self._node(pod)
                if node is not None:
                    self.binds.append(bind(state, pod, node))
                elif pod.shape.neighbours is None or not pod.shape.neighbours.binds:
                    self._full[kind] = None
            self._step()

    def _step(self) -> None:
        """On to the next one that looks for a place."""
        state = self._state
        self._next = None
        for uid in self._line or ():
            pod = state.pods.by_uid[uid]
            if uid not in state.nominations.node_of and not state.pods.waiting.by_shape[pod.shape].full:
                self._next = pod
                return

    def _node(self, pod: Pod) -> str | None:
        nodes = self._state.nodes
        if not nodes.pipelined[0].any():
            return self._state.best.node(pod)
        return _beside(self._state, pod)

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


def _beside(state: State, pod: Pod) -> str | None:
    """The best node where there is room for the pod now, and for all that is promised there as well."""
    nodes, plugins = state.nodes, state.site.plugins
    mask, rows = plugins.filter.mask(nodes, pod), nodes.by_name()
    room = np.minimum(nodes.places(pod.shape, mask), nodes.places_later(pod.shape, mask))
    rows = rows[room[rows] > 0]
    if not rows.size:
        return None
    scores = plugins.score.score(nodes, pod, rows, np.zeros(rows.size, dtype=np.int64))
    return nodes.name_by_row()[int(rows[np.argmax(scores)])]
