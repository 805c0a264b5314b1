"""Claims: what was promised to workloads that wait for those they evict, until these are gone.

The rule       a preemptor claims what it will get: quota, and places on nodes where Kumi places. Until its victims have given
               everything back nobody else may have it.
Promised view  while admission decides (`promised`), quota is seen as it will be: what victims that are spoken for hold is taken
               out, what is claimed is in. On each node the part of the claims that victims don't hold there any more counts
               as used (`kept`): who fits beside that fits now and later.
Now            what fits in the promised view is admitted only if it fits as things are as well (`fits_now`): victims still use
               their quota.
Ends           a claim goes when its workload is admitted, leaves its line or is another kind of workload than it was; when a
               victim doesn't go after all (its eviction was refused); or when it isn't good any more (admission/live.py).
Why            otherwise a third one takes what was freed, and the eviction was for nothing, or is done again.
Units          base units.
Cost           O(claims) a view.
Source         Kumi's own; Kueue lets preemptors compete again once their victims are gone.
Not here       who is evicted: admission/victims.py; when a claim is made and taken up: admission/live.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from kumi.engine.admission.quota import FlavorResource
from kumi.engine.journal import Journal
from kumi.engine.model import Admission
from kumi.engine.placement.devices import place_holder
from kumi.engine.placement.nodes import ONE_POD, PODS, Requests
from kumi.engine.reasons import Code, Reason

if TYPE_CHECKING:
    from kumi.engine.admission.assignment import Assignment
    from kumi.engine.state import State

Cell: TypeAlias = tuple[str, str]
"""(node, resource)"""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a preemptor will get (`plan` as it was worked out), and who goes for it."""

    admission: Admission
    plan: Assignment
    victims: tuple[str, ...] = ()


class Claims:
    """All claims, by preemptor, and who is spoken for."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.of: dict[str, Claim] = {}
        self.spoken: dict[str, str] = {}
        """victim that still holds something -> its preemptor"""
        self.due: dict[str, None] = {}
        """claims that may be taken up, or may not be good any more"""
        self.shown = False
        """quota is seen as promised"""
        self.charged: dict[Cell, int] = {}
        """what is counted as used on nodes for claims, while that is seen"""

    def make(self, state: State, preemptor: str, claim: Claim) -> None:
        """Promised from now on, in place of what was promised before."""
        self.drop(state, preemptor)
        self._journal.put(self.of, preemptor, claim)
        for victim in claim.victims:
            self._journal.put(self.spoken, victim, preemptor)
        if self.shown:
            self._shift(state, {preemptor: claim}, claim.victims, 1)
            self._recharge(state)

    def drop(self, state: State, preemptor: str) -> None:
        """Not promised any more: others may have it."""
        claim = self.take_up(state, preemptor)
        if claim is None:
            return
        self._journal.put(state.queues.freed, claim.admission.cluster_queue, None)
        for given in claim.admission.pod_sets:
            for node, _ in given.nodes:
                state.nodes.gain(node)

    def take_up(self, state: State, preemptor: str) -> Claim | None:
        """Its claim ends: it gets what it was promised. What victims hold is theirs again until they are gone."""
        claim = self.of.get(preemptor)
        if claim is None:
            return None
        held = [v for v in claim.victims if self.spoken.get(v) == preemptor]
        if self.shown:
            self._shift(state, {preemptor: claim}, held, -1)
        self._journal.drop_all(preemptor, self.of, self.due)
        for victim in held:
            self._journal.drop(self.spoken, victim)
        if self.shown:
            self._recharge(state)
        return claim

    def gone(self, victim: str) -> None:
        """The victim holds nothing any more. Quota that is given back makes claims of its tree due (admission/requeue.py)."""
        self._journal.drop(self.spoken, victim)

    def doubt(self, state: State, queue: str) -> None:
        """The queue, or quota that it may use, is other than it was: claims there may not be good any more."""
        for preemptor, claim in self.of.items():
            if claim.plan.queue == queue:
                self._journal.put(self.due, preemptor, None)

    def stays(self, state: State, victim: str) -> None:
        """The victim doesn't go after all: what was promised for it can't be kept."""
        preemptor = self.spoken.get(victim)
        if preemptor is not None:
            self.drop(state, preemptor)
            state.queues.wake_alone(preemptor)

    @contextmanager
    def promised(self, state: State) -> Iterator[None]:
        """Inside, quota and nodes are seen as promised."""
        assert not self.shown, "claims: the promised view is open"
        self._shift(state, self.of, self.spoken, 1)
        self.shown = True
        try:
            with self._kept(state):  # claims may be made inside
                yield
        finally:
            self.shown = False
            self._shift(state, self.of, self.spoken, -1)

    def kept(self, state: State) -> AbstractContextManager[None]:
        """Inside, where no claim is made, places that are claimed and that no victim holds any more count as used."""
        return self._kept(state) if self.of or self.charged else nullcontext()

    @contextmanager
    def _kept(self, state: State) -> Iterator[None]:
        self._recharge(state)
        try:
            yield
        finally:
            self._charge(state, {})

    def fits_now(self, state: State, queue: str, usage: Mapping[FlavorResource, int]) -> bool:
        """Would so much more fit while the victims are still there? For the promised view."""
        return self.lacking_now(state, queue, usage) is None

    def lacking_now(self, state: State, queue: str, usage: Mapping[FlavorResource, int]) -> Reason | None:
        """Why so much more would not fit while the victims are still there; None: it would."""
        if not self.of:
            return None
        with state.trial():
            self._shift(state, self.of, self.spoken, -1)
            for (flavor, resource), need in usage.items():
                have = max(0, state.quotas.available(queue, (flavor, resource)))
                if need > have:
                    return Reason(Code.QUOTA_IN_USE, resource, flavor, queue, need=need, have=have)
        return None

    def _shift(self, state: State, claims: Mapping[str, Claim], victims: Iterable[str], times: int) -> None:
        for claim in claims.values():
            for fr, amount in claim.plan.usage.items():
                state.quotas.add(claim.plan.queue, fr, amount * times)
        for victim in victims:
            queue = state.holdings.admission[victim].cluster_queue
            for fr, amount in state.holdings.usage[victim].items():
                state.quotas.add(queue, fr, -amount * times)

    def _recharge(self, state: State) -> None:
        wanted: dict[Cell, int] = {}
        for preemptor, claim in self.of.items():
            shapes = {s.name: s.shape.requests for s in state.workloads[preemptor].pod_sets}
            for given in claim.admission.pod_sets:
                for node, pods in given.nodes:
                    _count(wanted, node, shapes.get(given.name, ()), pods)
        leaving: dict[Cell, int] = {}
        for victim in self.spoken if wanted else ():
            for node, requests, pods in room_of(state, victim):
                _count(leaving, node, requests, pods)
        self._charge(state, {cell: n for cell, v in wanted.items() if (n := v - leaving.get(cell, 0)) > 0})

    def _charge(self, state: State, wanted: dict[Cell, int]) -> None:
        for cell in {**self.charged, **wanted}:
            amount = wanted.get(cell, 0) - self.charged.get(cell, 0)
            row = state.nodes.row_by_name.get(cell[0])
            if amount and row is not None:
                line = state.nodes.line(cell[1])  # first: it may replace the array
                state.nodes.stir(row)
                self._journal.add(state.nodes.used, (line, row), amount)
        self._journal.swap(self, "charged", wanted)


def room_of(state: State, workload: str) -> list[tuple[str, Requests, int]]:
    """What a workload holds on nodes: (node, requests of a pod, pods), open places and pods that sit there."""
    found: list[tuple[str, Requests, int]] = []
    for given in state.holdings.admission[workload].pod_sets:
        slots = (workload, given.name)
        requests = state.reservations.requests.get(slots, ())
        found += [(node, requests, n) for node, n in state.reservations.open_places(slots)]
    for uid in sorted(state.pods.of_workload.get(workload, ())):
        node = state.pods.node_of.get(uid)
        if node:
            found.append((node, state.pods.by_uid[uid].shape.requests, 1))
    return found


def leave_nodes(state: State, workload: str) -> None:
    """Inside a trial that is taken back: nothing of what the workload holds on nodes is there any more."""
    for node, requests, pods in room_of(state, workload):
        state.nodes.use(node, requests, -pods)
    devices = state.nodes.devices
    for uid in sorted(state.pods.of_workload.get(workload, ())):
        devices.unseat_pod(state.pods.by_uid[uid])
    for given in state.holdings.admission[workload].pod_sets:
        slots = (workload, given.name)
        for node, count in state.reservations.open_places(slots):
            for number in range(count):
                devices.unseat(place_holder(slots, node, number))


def _count(table: dict[Cell, int], node: str, requests: Requests, pods: int) -> None:
    for resource, amount in ((PODS, ONE_POD), *(pair for pair in requests if pair[0] != PODS)):
        table[node, resource] = table.get((node, resource), 0) + amount * pods
