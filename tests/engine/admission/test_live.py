"""Live: Kumi's way with the entries of a cycle, each judged by what is when its turn comes."""

from __future__ import annotations

from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.admission.live import judge
from kumi.engine.admission.nominate import nominate
from kumi.engine.admission.verdicts import Outcome
from kumi.engine.decisions import Admit, Decision, Evict, Hold
from kumi.engine.model import Put, StopPolicy
from kumi.engine.reasons import Code
from kumi.engine.settings import PodsReady, Settings
from kumi.engine.state import State
from kumi.testing.builders import door, node, workload
from kumi.testing.diagram import Cluster
from tests.engine.admission.rivalry import LOWER, RECLAIM, job, pool, running, state_of


def decide(state: State) -> list[Decision]:
    decided = cycle.decide(state, 0)
    invariants.check(state)
    assert cycle.decide(state, 0) == []
    return decided


def outcome(state: State, name: str) -> Outcome:
    one = state.workloads[f"ns/{name}"]
    return judge(state, nominate(state, one, state.catalog.cluster_queues[one.queue.removeprefix("ns/")]))


def test_each_outcome_is_told_apart() -> None:
    state = state_of(pool("q", 2, preemption=LOWER), running("held", "q", 1, priority=1))
    for one in (job("fits", "q", 1), job("never", "q", 3), job("preempts", "q", 2, priority=2), job("same", "q", 2)):
        state.apply(Put(one))
    assert outcome(state, "fits") is Outcome.ADMITTED
    assert outcome(state, "never") is Outcome.NO_FIT
    assert outcome(state, "preempts") is Outcome.PENDING
    assert outcome(state, "same") in (Outcome.NO_CANDIDATES, Outcome.NO_FIT)


def test_two_entries_never_take_the_same_quota() -> None:
    state = state_of(pool("a", 1), pool("b", 1), pool("lender", 1))
    state.apply(Put(job("first", "a", 2, priority=1)))
    state.apply(Put(job("second", "b", 2)))
    decided = decide(state)
    assert [d.workload for d in decided if isinstance(d, Admit)] == ["ns/first"]
    (hold,) = (d for d in decided if isinstance(d, Hold))
    assert (hold.workload, hold.record.reason.code, hold.record.reason.have) == ("ns/second", Code.QUOTA_IN_USE, 1000)


def test_an_entry_whose_nodes_were_taken_meanwhile_gets_others() -> None:
    cluster = Cluster.drawn("n1 | . .\nn2 | . .")
    cluster.put(pool("cq2", 20, cohort=""), door("ns/lq2", "cq2"))
    cluster.put(node("n1", gpu=2, cpu=9, pods=2), node("n2", gpu=2, cpu=9, pods=2))
    cluster.state.apply(Put(workload("ns/a", 2, gpu=1)))
    cluster.state.apply(Put(workload("ns/b", cpu=5, queue="ns/lq2")))
    decided = cluster.decide()
    assert len([d for d in decided if isinstance(d, Admit)]) == 2


def test_no_victim_serves_two_preemptors() -> None:
    queues = [pool(name, 2, preemption=RECLAIM) for name in ("a", "b")]
    state = state_of(*queues, pool("lender", 0), running("large", "lender", 4))
    state.apply(Put(job("first", "a", 2, created_ms=1)))
    state.apply(Put(job("second", "b", 2, created_ms=2)))
    decided = decide(state)
    assert [d.workload for d in decided if isinstance(d, Evict)] == ["ns/large"]
    assert state.claims.spoken == {"ns/large": "ns/first"}
    assert state.claims.of["ns/second"].victims == ()
    assert state.records["ns/second"].reason.code is Code.PREEMPTING


def test_nobody_starts_while_the_pods_of_others_are_not_ready_and_one_does_when_they_are() -> None:
    settings = Settings(pods_ready=PodsReady(block_admission=True))
    state = state_of(pool("a", 2), pool("b", 2), settings=settings)
    first, second = job("first", "a", 1, created_ms=1), job("second", "b", 1, created_ms=2)
    state.apply(Put(first))
    state.apply(Put(second))
    assert [d.workload for d in decide(state) if isinstance(d, Admit)] == ["ns/first"]
    assert state.records["ns/second"].reason.code is Code.PODS_NOT_READY
    state.apply(Put(running("first", "a", 1, created_ms=1, pods_ready=True)))
    assert [d.workload for d in decide(state) if isinstance(d, Admit)] == ["ns/second"]


def test_claims_are_taken_up_in_the_order_of_places_before_any_head_is_tried() -> None:
    state = state_of(pool("q", 4, preemption=LOWER))
    state.apply(Put(running("low", "q", 4)))
    for name, priority in (("one", 1), ("two", 2)):
        state.apply(Put(job(name, "q", 2, priority=priority)))
    decide(state)
    state.apply(Put(job("low", "q", 4, priority=9)))
    admitted = [d.workload for d in decide(state) if isinstance(d, Admit)]
    assert admitted[0] == "ns/two"


def test_a_claim_whose_victims_are_gone_and_whose_room_is_not_there_is_given_up() -> None:
    state = state_of(pool("q", 2, preemption=LOWER), running("low", "q", 2))
    state.apply(Put(job("high", "q", 2, priority=1)))
    decide(state)
    state.apply(Put(running("forced", "q", 2, priority=5)))
    state.apply(Put(job("low", "q", 2, active=False)))
    decide(state)
    assert state.claims.of == {}
    assert state.records["ns/high"].reason.code is Code.QUOTA_IN_USE


def test_a_claim_is_not_taken_up_in_a_queue_that_is_closed() -> None:
    state = state_of(pool("q", 2, preemption=LOWER), running("low", "q", 2))
    state.apply(Put(job("high", "q", 2, priority=1)))
    decide(state)
    state.apply(Put(pool("q", 2, preemption=LOWER, stop=StopPolicy.HOLD)))
    state.apply(Put(job("low", "q", 2)))
    assert not [d for d in decide(state) if isinstance(d, Admit)]
