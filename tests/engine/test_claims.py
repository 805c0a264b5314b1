"""Claims: what was promised is kept for whom it was promised to, and for nobody longer than that."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings

from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.decisions import Admit, Decision, Evict, Hold
from kumi.engine.model import (
    Admission,
    Evictable,
    FlavorQuotas,
    Noun,
    Pod,
    PodSetAssigned,
    Preemption,
    Put,
    Quota,
    Remove,
    ResourceGroup,
    StopPolicy,
    Strategy,
    Workload,
)
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import flavor, node, pod
from kumi.testing.diagram import Cluster, picture
from kumi.testing.rivals import Rivals, rivals
from tests.engine.admission.rivalry import FR, LOWER, RECLAIM, job, pool, running, state_of


def decide(state: State) -> list[Decision]:
    decided = cycle.decide(state, 0)
    invariants.check(state)
    return decided


def write(state: State, decided: list[Decision]) -> None:
    """Acknowledged, and seen."""
    for one in decided:
        state.settle(one, True)
        if isinstance(one, Admit):
            state.apply(Put(replace(state.workloads[one.workload], admission=one.admission, evicted=False)))
        elif isinstance(one, Evict):
            state.apply(Put(replace(state.workloads[one.workload], evicted=True)))


def stop(state: State, key: str) -> None:
    state.apply(Put(replace(state.workloads[key], admission=None, evicted=False)))
    invariants.check(state)


def admitted(decided: list[Decision]) -> set[str]:
    return {d.workload for d in decided if isinstance(d, Admit)}


def evicted(decided: list[Decision]) -> set[str]:
    return {d.workload for d in decided if isinstance(d, Evict)}


def test_every_preemptor_starts_once_its_victims_are_gone() -> None:
    """The law: a preemption that was decided makes its preemptor fit, whatever else stands in line."""
    seen: Counter[str] = Counter()

    @settings(max_examples=250, database=None, derandomize=True)
    @given(rivals())
    def check(found: Rivals) -> None:
        state = State(found.profile)
        for noun in found.setup:
            state.apply(Put(noun))
        preempted: Counter[str] = Counter()
        for one in sorted(found.workloads, key=lambda w: (w.priority, w.key)):
            state.apply(Put(one))
            decided = decide(state)
            assert decide(state) == []
            preempted.update(evicted(decided))
            seen["borrows"] += bool(state.quotas.borrowers)
            promised = set(state.claims.of)
            write(state, decided)
            for victim in sorted(evicted(decided)):
                stop(state, victim)
            again = decide(state)
            assert promised <= admitted(again)
            write(state, again)
            for victim in sorted(evicted(again)):
                stop(state, victim)
        seen["examples"] += 1
        seen["preempts"] += bool(preempted)
        seen["on nodes"] += bool(preempted) and found.profile.places

    check()
    assert seen["preempts"] > seen["examples"] / 6, seen
    assert seen["borrows"] > seen["examples"], seen
    assert seen["on nodes"] > 3, seen


def waiting_for_its_victim() -> State:
    """`high` has taken the place of `low`, which still runs; the queue is full."""
    state = state_of(pool("q", 2, preemption=LOWER), pool("other", 0))
    state.apply(Put(running("low", "q", 2)))
    state.apply(Put(job("high", "q", 2, priority=1)))
    write(state, decide(state))
    assert set(state.claims.of) == {"ns/high"}
    assert state.claims.spoken == {"ns/low": "ns/high"}
    return state


def test_nobody_else_takes_what_was_freed_for_it() -> None:
    state = waiting_for_its_victim()
    state.apply(Put(job("thief", "other", 2, priority=9)))
    assert not admitted(decide(state))
    state.apply(Put(replace(state.workloads["ns/high"], job="renamed")))
    stop(state, "ns/low")
    assert admitted(decide(state)) == {"ns/high"}
    assert state.claims.of == {}


def test_a_victim_that_is_spoken_for_is_nobodys_candidate() -> None:
    state = waiting_for_its_victim()
    state.apply(Put(job("higher", "q", 2, priority=2)))
    assert evicted(decide(state)) == set()
    assert state.records["ns/higher"].reason.code is Code.QUOTA_IN_USE


def test_who_fits_beside_what_is_promised_starts_at_once() -> None:
    state = state_of(pool("q", 4, preemption=LOWER))
    state.apply(Put(running("low", "q", 3)))
    state.apply(Put(job("high", "q", 3, priority=1)))
    state.apply(Put(job("small", "q", 1)))
    assert admitted(decide(state)) == {"ns/small"}


def test_what_only_fits_once_victims_are_gone_waits_and_evicts_nobody_for_it() -> None:
    state = state_of(pool("q", 4, preemption=LOWER))
    state.apply(Put(running("low", "q", 4)))
    state.apply(Put(job("high", "q", 2, priority=1)))
    write(state, decide(state))
    state.apply(Put(job("second", "q", 2, priority=1, created_ms=1)))
    decided = decide(state)
    assert (admitted(decided), evicted(decided)) == (set(), set())
    stop(state, "ns/low")
    assert admitted(decide(state)) == {"ns/high", "ns/second"}


def test_nor_does_it_evict_for_another_flavor() -> None:
    group = ResourceGroup(
        ("cpu",), tuple(FlavorQuotas(name, (("cpu", Quota(1000 * n)),)) for name, n in (("default", 4), ("spot", 1)))
    )
    state = state_of(replace(pool("q", 0, preemption=LOWER), groups=(group,)))
    state.apply(Put(flavor("spot")))
    on_spot = PodSetAssigned("main", 1, (("cpu", "spot"),), (("cpu", 1000),))
    state.apply(Put(running("low", "q", 4)))
    state.apply(Put(job("lowest", "q", 1, priority=-1, admission=Admission("q", (on_spot,)))))
    state.apply(Put(job("high", "q", 2, priority=1)))
    assert evicted(decide(state)) == {"ns/low"}
    state.apply(Put(job("second", "q", 1, priority=1, created_ms=1)))
    assert evicted(decide(state)) == set()
    assert [no.flavor for no in state.records["ns/second"].others] == ["default"]


def test_a_claim_goes_with_its_workload_and_others_are_brought_back() -> None:
    state = waiting_for_its_victim()
    state.apply(Put(job("next", "q", 2)))
    decide(state)
    state.apply(Remove(Workload, "ns/high"))
    stop(state, "ns/low")
    assert state.claims.of == {}
    assert admitted(decide(state)) & {"ns/next", "ns/low"}


def test_an_eviction_that_is_refused_ends_the_claim() -> None:
    state = state_of(pool("q", 2, preemption=LOWER))
    state.apply(Put(running("low", "q", 2)))
    state.apply(Put(job("high", "q", 2, priority=1)))
    decided = decide(state)
    for one in decided:
        state.settle(one, isinstance(one, Hold))
    invariants.check(state)
    assert state.claims.of == {}
    assert evicted(decide(state)) == {"ns/low"}


def test_a_claim_that_quota_no_longer_bears_is_given_up() -> None:
    state = waiting_for_its_victim()
    state.apply(Put(pool("q", 1, preemption=LOWER)))
    decide(state)
    assert state.claims.of == {}
    stop(state, "ns/low")
    assert not admitted(decide(state))
    assert state.records["ns/high"].reason.code is Code.OVER_QUOTA


def test_also_of_one_that_is_not_tried_because_it_stands_behind_another() -> None:
    state = state_of(pool("q", 2, preemption=LOWER, strategy=Strategy.STRICT), running("low", "q", 2))
    state.apply(Put(job("high", "q", 2, priority=1)))
    write(state, decide(state))
    state.apply(Put(job("never", "q", 9, priority=2)))
    decide(state)
    assert set(state.claims.of) == {"ns/high"}
    state.apply(Put(pool("q", 1, preemption=LOWER, strategy=Strategy.STRICT)))
    decide(state)
    assert state.claims.of == {}


def test_a_claim_in_a_queue_that_is_stopped_is_given_up() -> None:
    state = waiting_for_its_victim()
    state.apply(Put(pool("q", 2, preemption=LOWER, stop=StopPolicy.HOLD)))
    decide(state)
    assert state.claims.of == {}


def test_after_a_restart_who_waited_gets_its_place_again_without_another_eviction() -> None:
    objects: list[Noun] = [
        pool("q", 2, preemption=RECLAIM),
        pool("thief", 0, preemption=Preemption(borrowing=Evictable.LOWER_PRIORITY, reclaim=Evictable.ANY)),
        pool("lender", 0),
        running("low", "lender", 2, evicted=True),
        job("high", "q", 2, priority=1, waiting=True),
        job("other", "thief", 2, priority=9),
    ]
    state = state_of(*objects)
    assert evicted(decide(state)) == set()
    assert set(state.claims.of) == {"ns/high"}


def test_a_look_at_what_is_promised_leaves_everything_as_it_was() -> None:
    state = waiting_for_its_victim()
    before = picture(state)
    with state.claims.promised(state):
        assert state.quotas.used("q", FR) == 2000
        assert state.claims.fits_now(state, "q", {FR: 0})
        assert not state.claims.fits_now(state, "q", {FR: 1})
    assert picture(state) == before


def contended_nodes() -> Cluster:
    """Quota is free, the only node is full of lower work; C waits for all of it."""
    cluster = Cluster.drawn("n1 | A A B B D D", gpus=99, preemption=LOWER)
    for letter in "ABD":
        cluster.start(letter)
    cluster.run()
    cluster.submit("C", 4, priority=1)
    cluster.run()
    return cluster


def going(cluster: Cluster) -> list[str]:
    return [key for key, one in sorted(cluster.workloads.items()) if one.evicted]


def gone(cluster: Cluster, key: str) -> None:
    """Its pods have stopped, and its admission is taken away."""
    for uid in [p.uid for p in cluster.pods.values() if p.workload == key]:
        cluster.remove(Pod, uid)
    cluster.put(replace(cluster.workloads[key], admission=None, evicted=False, active=False))


def test_where_nodes_are_full_lower_work_of_the_queue_goes_for_its_nodes_and_no_more_than_needed() -> None:
    cluster = contended_nodes()
    assert len(going(cluster)) == 2
    assert set(cluster.state.claims.of) == {"ns/c"}


def test_a_place_that_is_promised_is_given_to_nobody_who_comes_while_victims_are_still_there() -> None:
    cluster = contended_nodes()
    first, second = going(cluster)
    gone(cluster, first)
    cluster.put(pod("ns/thief", gpu=1, priority=9))
    cluster.submit("T", 2, created_ms=-1)
    assert admitted(cluster.run()) == set()
    assert "ns/thief" not in cluster.state.pods.node_of
    gone(cluster, second)
    assert admitted(cluster.run()) == {"ns/c"}


def test_room_on_nodes_that_is_promised_to_nobody_is_given_at_once() -> None:
    cluster = contended_nodes()
    cluster.put(node("n2", gpu=1), pod("ns/other", gpu=1))
    cluster.run()
    assert cluster.state.pods.node_of["ns/other"] == "n2"
