"""The machine: an API server with its controllers, users and accidents around one engine whose view is late.

What happens on the server reaches the engine later, in order; what the engine decides is written later, in any order, and is
refused where the object changed meanwhile, or by chance; a write may also be done and its answer lost; the engine may be
started anew from the objects at any time. After every step the invariants hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.decisions import Admit, Bind, Decision, Evict, EvictPod, Hold, Nominate, Unplaced
from kumi.engine.foresight.explain import explain
from kumi.engine.model import (
    ClusterQueue,
    Cohort,
    Delta,
    Flavor,
    LocalQueue,
    Node,
    Noun,
    Pod,
    Profile,
    Put,
    Remove,
    StopPolicy,
    Workload,
)
from kumi.engine.placement import session
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import GPU, pod, pods_of
from kumi.testing.diagram import picture
from kumi.testing.rivals import Rivals, rivals
from kumi.testing.strategies import World, worlds

number = st.integers(0, 40)


class Base(RuleBasedStateMachine):
    """See the module. `seen` counts what happened, over all runs."""

    seen: Counter[str] = Counter()
    least_quota = 2000

    def begin(self, profile: Profile, setup: Iterable[Noun], workloads: Iterable[Workload]) -> None:
        self.profile = profile
        self.state = State(profile)
        self.server: dict[tuple[type, str], Noun] = {}
        self.versions: Counter[tuple[type, str]] = Counter()
        self.delivered: Counter[tuple[type, str]] = Counter()
        self.inbox: list[tuple[Delta, tuple[type, str], int]] = []
        self.flying: list[Decision] = []
        self.runs: Counter[str] = Counter()
        self.revision = 0
        self.now_ms = 0
        self.unborn = list(workloads)
        for _ in range(len(self.unborn) // 2):
            self.write(self.unborn.pop())
        for noun in setup:
            self.write(noun)
        self.deliver(1000)

    # the server

    def write(self, noun: Noun) -> None:
        key = (type(noun), noun.uid if isinstance(noun, Pod) else getattr(noun, "key", None) or noun.name)  # type: ignore[union-attr]
        self.revision += 1
        if isinstance(noun, Workload):
            noun = replace(noun, revision=self.revision)
        self.server[key] = noun
        self.versions[key] += 1
        self.inbox.append((Put(noun), key, self.versions[key]))

    def delete(self, type_: Any, key: str) -> None:
        if self.server.pop((type_, key), None) is not None:
            self.revision += 1
            self.versions[type_, key] += 1
            self.inbox.append((Remove(type_, key), (type_, key), self.versions[type_, key]))

    def all(self, type_: Any) -> list[Any]:
        return [
            noun
            for (kind, _), noun in sorted(self.server.items(), key=lambda i: (i[0][0].__name__, i[0][1]))
            if kind is type_
        ]

    def pick(self, type_: Any, which: int) -> Any:
        found = self.all(type_)
        return found[which % len(found)] if found else None

    def deliver(self, many: int) -> None:
        for delta, key, version in self.inbox[:many]:
            self.state.apply(delta)
            self.delivered[key] = version
            invariants.check(self.state)
        del self.inbox[:many]

    def jobs(self, state: str) -> list[Workload]:
        """Workloads as the server has them: waiting, startable, running, or being evicted."""
        started = {p.workload for p in self.all(Pod)}
        states = {
            "startable": lambda j: j.admission and not j.evicted and not j.finished and j.key not in started,
            "running": lambda j: j.admission and not j.finished,
            "evicted": lambda j: j.admission and j.evicted,
        }
        return [j for j in self.all(Workload) if states[state](j)]

    # the engine's loop

    @rule(many=st.integers(1, 6))
    def the_view_catches_up(self, many: int) -> None:
        self.deliver(many)

    @rule()
    def the_engine_decides(self) -> None:
        self.deliver(2)
        first = self.decide()
        self.flying += first
        again = self.decide()
        assert again == [], again
        evicted = [d.workload for d in first if isinstance(d, Evict)]
        assert len(evicted) == len(set(evicted)), "evicted twice between two inputs"

    def decide(self) -> list[Decision]:
        decided = cycle.decide(self.state, self.now_ms)
        invariants.check(self.state)
        decided += session.decide(self.state, self.now_ms)
        invariants.check(self.state)
        self.seen.update(type(d).__name__ for d in decided)
        self.seen["preempted"] += sum(isinstance(d, Evict) and d.why == "Preempted" for d in decided)
        self.seen["borrows"] += bool(self.state.quotas.borrowers)
        self.seen["claims"] += len(self.state.claims.of)
        with self.state.claims.promised(self.state):
            for claim in self.state.claims.of.values():
                for fr in claim.plan.usage:
                    assert self.state.quotas.available(claim.plan.queue, fr) >= 0, "more is promised than there is"
        self.all_of_a_gang_or_none(decided)
        return decided

    def all_of_a_gang_or_none(self, decided: list[Decision]) -> None:
        """The first pods of a gang that are ever bound are all of its pods."""
        bound = {d.pod for d in decided if isinstance(d, Bind)}
        for key in {self.state.pods.by_uid[uid].workload for uid in bound} - {""}:
            pods = self.state.pods.of(key)
            if all(p.uid in bound for p in pods if p.uid in self.state.pods.node_of or p.finished):
                count = sum(given.count for given in self.state.holdings.admission[key].pod_sets)
                assert len([p for p in pods if p.uid in bound]) >= count
                self.seen["gang bound"] += 1

    @precondition(lambda self: self.flying)
    @rule(which=number, luck=st.sampled_from(["ok", "refused", "lost"]))
    def a_decision_is_written(self, which: int, luck: str) -> None:
        self.settle(self.flying.pop(which % len(self.flying)), luck)

    @precondition(lambda self: self.flying)
    @rule(lucks=st.lists(st.sampled_from(["ok", "refused", "lost"]), min_size=1, max_size=3))
    def all_decisions_are_written(self, lucks: list[str]) -> None:
        for number in range(len(self.flying)):
            self.settle(self.flying.pop(0), lucks[number % len(lucks)])

    def settle(self, decision: Decision, luck: str) -> None:
        of_pod = isinstance(decision, Bind | Unplaced | EvictPod | Nominate)
        key = (Pod, decision.pod) if of_pod else (Workload, decision.workload)
        stands = key in self.server and self.versions[key] == self.delivered[key]
        if stands and luck != "refused" and isinstance(decision, Hold):
            waiting = decision.record.reason.code is Code.PREEMPTING
            noun = self.server[key]
            if noun.waiting != waiting:
                self.write(replace(noun, waiting=waiting))
        done = stands and luck != "refused"
        revision = 0
        if done and not isinstance(decision, Hold | Unplaced):
            noun: Any = self.server[key]
            if isinstance(decision, Admit):
                self.write(
                    replace(noun, admission=decision.admission, evicted=False, reserved_ms=self.now_ms, waiting=False)
                )
            elif isinstance(decision, Evict):
                self.write(replace(noun, evicted=True))
            elif isinstance(decision, EvictPod):
                self.write(replace(noun, terminating=True))
            elif isinstance(decision, Nominate):
                self.write(replace(noun, member=replace(noun.member, nominated=decision.node)))
            else:
                self.write(replace(noun, node=decision.node))
            revision = 0 if of_pod else self.revision
        ok = done and luck == "ok"
        self.seen["settled" if ok else "refused"] += 1
        self.state.settle(decision, ok, revision if ok else 0)
        invariants.check(self.state)

    @rule(evictions=st.booleans())
    def all_goes_well(self, evictions: bool) -> None:
        self.deliver(10_000)
        self.flying += self.decide()
        while self.flying:
            self.settle(self.flying.pop(0), "ok")
        for job in self.jobs("evicted") if evictions else []:
            self.unadmit(job, 0)

    @rule()
    def the_engine_starts_anew(self) -> None:
        self.state = State(self.profile)
        self.inbox, self.flying = [], []
        for key, noun in sorted(self.server.items(), key=lambda i: (i[0][0].__name__, i[0][1]), reverse=True):
            self.state.apply(Put(noun))
            self.delivered[key] = self.versions[key]
            invariants.check(self.state)

    @rule(ms=st.sampled_from([100, 1000]))
    def time_goes_by(self, ms: int) -> None:
        self.now_ms += ms

    @rule(which=number)
    def somebody_asks(self, which: int) -> None:
        known = sorted(self.state.workloads)
        if known:
            before = picture(self.state)
            explain(self.state, known[which % len(known)], self.now_ms)
            assert picture(self.state) == before

    # users

    @precondition(lambda self: self.unborn)
    @rule()
    def a_workload_comes(self) -> None:
        self.write(self.unborn.pop())

    @rule(which=number, what=st.sampled_from(["active", "priority", "goes"]))
    def a_user_changes_a_workload(self, which: int, what: str) -> None:
        job = self.pick(Workload, which)
        if job is None or (what == "goes" and which > 5):
            return
        if what == "active":
            self.write(replace(job, active=not job.active))
        elif what == "priority":
            self.write(replace(job, priority=which % 3))
        else:
            self.delete(Workload, job.key)
            for each in [p for p in self.all(Pod) if p.workload == job.key]:
                self.delete(Pod, each.uid)

    @precondition(lambda self: self.jobs("running"))
    @rule(which=number)
    def a_user_holds_a_job_that_was_admitted(self, which: int) -> None:
        running = self.jobs("running")
        self.write(replace(running[which % len(running)], active=False))

    @rule(which=number, gpus=st.integers(0, 2))
    def a_pod_of_nobody_comes(self, which: int, gpus: int) -> None:
        self.write(pod(f"ns/p{which}", gpu=gpus, priority=which % 2, node="n0" if which % 5 == 0 else ""))

    @precondition(lambda self: any(p.terminating for p in self.all(Pod)))
    @rule()
    def those_who_leave_are_gone(self) -> None:
        for each in [p for p in self.all(Pod) if p.terminating]:
            self.delete(Pod, each.uid)

    # controllers

    @precondition(lambda self: self.jobs("startable"))
    @rule()
    def jobs_start(self) -> None:
        for job in self.jobs("startable"):
            self.runs[job.key] += 1
            counts = {given.name: given.count for given in job.admission.pod_sets}
            for each in pods_of(job, self.runs[job.key]):
                if each.index < counts[each.pod_set]:
                    self.write(each)

    @precondition(lambda self: any(p.node and not p.finished for p in self.all(Pod)))
    @rule(which=number, again=st.booleans())
    def a_pod_ends(self, which: int, again: bool) -> None:
        pods = [p for p in self.all(Pod) if p.node and not p.finished]
        was = pods[which % len(pods)]
        self.seen["pod ended"] += 1
        if not again or not was.workload:
            self.write(replace(was, finished=True))
            return
        self.runs["pods"] += 1
        if which % 2:
            self.write(replace(was, finished=True))
        else:
            self.delete(Pod, was.uid)
        self.write(replace(was, uid=f"{was.uid}-{self.runs['pods']}", node=""))

    @precondition(lambda self: self.jobs("running"))
    @rule(which=number)
    def a_job_ends(self, which: int) -> None:
        running = self.jobs("running")
        job = running[which % len(running)]
        self.write(replace(job, finished=True))
        for each in [p for p in self.all(Pod) if p.workload == job.key and not p.finished]:
            self.write(replace(each, finished=True))
        self.seen["job ended"] += 1

    @precondition(lambda self: self.jobs("evicted"))
    @rule(which=number, back_off=st.sampled_from([0, 0, 500]))
    def an_eviction_is_carried_out(self, which: int, back_off: int) -> None:
        evicted = self.jobs("evicted")
        job = evicted[which % len(evicted)]
        self.unadmit(job, self.now_ms + back_off if back_off else 0)

    def unadmit(self, job: Workload, requeue_at_ms: int) -> None:
        for each in [p for p in self.all(Pod) if p.workload == job.key]:
            self.delete(Pod, each.uid)
        self.write(replace(job, admission=None, requeue_at_ms=requeue_at_ms))
        self.seen["evicted"] += 1

    # administrators and accidents

    @rule(which=number, stop=st.sampled_from([StopPolicy.NONE, StopPolicy.NONE, *StopPolicy]))
    def a_queue_is_stopped_or_opened(self, which: int, stop: StopPolicy) -> None:
        queue = self.pick(ClusterQueue if which % 2 else LocalQueue, which)
        if queue is not None:
            self.write(replace(queue, stop=stop))

    @rule(which=number, percent=st.sampled_from([0, 50, 200]))
    def quota_changes(self, which: int, percent: int) -> None:
        queue = self.pick(ClusterQueue, which)
        if queue is not None:
            groups = []
            for group in queue.groups:
                flavors = []
                for f in group.flavors:
                    scaled = tuple(
                        (r, replace(q, nominal=q.nominal * percent // 100 + self.least_quota)) for r, q in f.quotas
                    )
                    flavors.append(replace(f, quotas=scaled))
                groups.append(replace(group, flavors=tuple(flavors)))
            self.write(replace(queue, groups=tuple(groups)))

    @precondition(lambda self: self.all(Node))
    @rule(which=st.integers(0, 9))
    def a_node_goes(self, which: int) -> None:
        node = self.pick(Node, which)
        if which < 4:
            self.delete(Node, node.name)
            self.seen["node lost"] += 1

    @rule(which=number, ready=st.booleans(), cordoned=st.booleans(), gpus=st.sampled_from([1, 4, 8, 8]))
    def a_node_changes_or_joins(self, which: int, ready: bool, cordoned: bool, gpus: int) -> None:
        name = f"n{which % 4}"
        was = self.server.get((Node, name)) or Node(name, (("zone", "ab"[which % 2]),), ())
        assert isinstance(was, Node)
        has = (("cpu", 8000), (GPU, 1000 * gpus), ("pods", 110_000))
        self.write(
            replace(was, allocatable=has, ready=ready or which % 3 > 0, unschedulable=cordoned and which % 2 == 0)
        )

    @precondition(lambda self: self.all(Cohort))
    @rule(which=number, parent=st.sampled_from(["", "top", "left", "right"]))
    def a_cohort_moves(self, which: int, parent: str) -> None:
        self.write(replace(self.pick(Cohort, which), parent=parent))

    def teardown(self) -> None:
        """Everything is delivered and written: the engine comes to rest, and a new one says the same of the objects."""
        if not hasattr(self, "server"):
            return
        for _ in range(60):
            self.deliver(10_000)
            self.flying += self.decide()
            if not self.flying and not self.inbox:
                break
            while self.flying:
                self.settle(self.flying.pop(0), "ok")
        else:
            raise AssertionError("no fixed point")
        rested, told = self.state, aggregates(self.state)
        self.the_engine_starts_anew()
        self.state.bring_back(self.now_ms)
        assert aggregates(self.state) == told
        assert not rested.assumed or not any(a.settled for a in rested.assumed.values())


class Machine(Base):
    """On clusters of nodes."""

    seen: Counter[str] = Counter()

    @initialize(world=worlds(most_workloads=6), kind=st.sampled_from([True, True, False]))
    def made(self, world: World, kind: bool) -> None:
        self.begin(Profile(), [kinder(noun) if kind else noun for noun in world.setup], world.workloads)


class Rivalry(Base):
    """Among queues that borrow from one another and take back."""

    seen: Counter[str] = Counter()

    least_quota = 0

    @initialize(found=rivals(most_workloads=10))
    def made(self, found: Rivals) -> None:
        self.begin(found.profile, found.setup, sorted(found.workloads, key=lambda w: (-w.priority, w.key)))
        self.all_goes_well(evictions=True)

    @precondition(lambda self: self.unborn)
    @rule()
    def a_rival_comes_late(self) -> None:
        self.write(self.unborn.pop(0))
        self.deliver(10_000)
        self.flying += self.decide()


def kinder(noun: Noun) -> Noun:
    """The same without what keeps everybody out."""
    match noun:
        case Node():
            return replace(noun, ready=True, unschedulable=False, taints=())
        case ClusterQueue():
            return replace(noun, stop=StopPolicy.NONE, selector=())
        case Flavor():
            return replace(noun, taints=())
    return noun


def aggregates(state: State) -> dict[str, object]:
    """What an engine knows of its objects, decisions and their records aside."""
    nodes = state.nodes
    next(state.holdings.largest("cpu"), None)  # kept from the first question on
    used = {
        name: {r: int(nodes.used[line, row]) for r, line in nodes.line_by_resource.items() if nodes.used[line, row]}
        for name, row in nodes.row_by_name.items()
    }
    return {
        "held": dict(sorted(state.holdings.admission.items())),
        "usage": state.quotas.usage,
        "holders": state.holdings.by_quota,
        "on nodes": state.holdings.by_resource,
        "used": dict(sorted(used.items())),
        "open": state.reservations.open,
        "bound": state.reservations.bound,
        "ended": state.reservations.ended,
        "lines": state.queues.line,
        "alone": state.pods.alone,
        "seats": dict(sorted(state.pods.node_of.items())),
    }
