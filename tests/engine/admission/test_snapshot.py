"""Snapshot: Kueue's way with the entries of a cycle."""

from __future__ import annotations

from hypothesis import given

from kumi.engine.admission import cycle, snapshot
from kumi.engine.admission.nominate import nominate
from kumi.engine.admission.verdicts import Outcome, Verdict
from kumi.engine.decisions import Admit, Evict
from kumi.engine.model import Evictable, Preemption, Put, Strategy, Workload
from kumi.engine.settings import PodsReady, Settings
from kumi.engine.state import State
from kumi.testing.diagram import picture
from kumi.testing.rivals import Rivals, rivals
from tests.engine.admission.rivalry import LOWER, RECLAIM, job, pool, running, state_of


def verdicts(state: State, *heads: Workload) -> dict[str, Verdict]:
    for one in heads:
        state.apply(Put(one))
    queues = [state.catalog.cluster_queues[one.queue.removeprefix("ns/")] for one in heads]
    entries = [nominate(state, one, queue) for one, queue in zip(heads, queues, strict=True)]
    return {v.entry.key.removeprefix("ns/"): v for v in snapshot.process(state, entries)}


def outcomes(found: dict[str, Verdict]) -> dict[str, Outcome]:
    return {name: verdict.outcome for name, verdict in found.items()}


@given(rivals(name="kueue"))
def test_judging_changes_nothing_and_every_entry_is_judged_once(found: Rivals) -> None:
    state = State(found.profile)
    for noun in (*found.setup, *found.workloads):
        state.apply(Put(noun))
    heads = {one.queue: one for one in found.workloads if state.queues.spot.get(one.key)}
    before = picture(state)
    judged = verdicts(state, *heads.values())
    assert picture(state) == before
    assert sorted(judged) == sorted(one.key.removeprefix("ns/") for one in heads.values())


def test_who_comes_later_is_outrun_where_the_earlier_one_took_the_room() -> None:
    state = state_of(pool("a", 1), pool("b", 1), pool("lender", 1), profile="kueue")
    found = verdicts(state, job("first", "a", 2, priority=1), job("second", "b", 2))
    assert outcomes(found) == {"first": Outcome.ADMITTED, "second": Outcome.OUTRUN}
    assert not found["second"].skipped


def test_two_that_count_on_one_victim_the_later_fits_once_it_is_gone_and_is_deferred() -> None:
    queues = [pool(name, 2, preemption=RECLAIM) for name in ("a", "b")]
    state = state_of(*queues, pool("lender", 0), running("large", "lender", 4), profile="kueue")
    found = verdicts(state, job("first", "a", 2, created_ms=1), job("second", "b", 2, created_ms=2))
    assert outcomes(found) == {"first": Outcome.PENDING, "second": Outcome.PENDING}
    assert (found["second"].recomputed, found["second"].entry.targets) == ("deferred_fit", ())


def test_without_that_setting_it_is_outrun() -> None:
    queues = [pool(name, 2, preemption=RECLAIM) for name in ("a", "b")]
    state = state_of(
        *queues,
        pool("lender", 0),
        running("large", "lender", 4),
        profile="kueue",
        settings=Settings(recompute_overlap=False),
    )
    found = verdicts(state, job("first", "a", 2, created_ms=1), job("second", "b", 2, created_ms=2))
    assert (found["second"].outcome, found["second"].skipped) == (Outcome.OUTRUN, True)


def test_the_later_goes_on_with_other_victims_where_there_are_some() -> None:
    queues = [pool(name, 2, preemption=RECLAIM) for name in ("a", "b", "c")]
    held = [running("one", "a", 3, created_ms=1), running("two", "a", 3, created_ms=2)]
    state = state_of(*queues, *held, profile="kueue")
    found = verdicts(state, job("b", "b", 2, created_ms=3), job("c", "c", 2, created_ms=4))
    targets = {name: {t.workload for t in verdict.entry.targets} for name, verdict in found.items()}
    assert outcomes(found) == {"b": Outcome.PENDING, "c": Outcome.PENDING}
    assert set.union(*targets.values()) == {"ns/one", "ns/two"}


def test_who_finds_nobody_to_evict_keeps_its_own_from_others_of_the_cohort() -> None:
    owner = pool("owner", 2, preemption=LOWER)
    state = state_of(owner, pool("borrower", 0), running("same", "owner", 1), profile="kueue")
    found = verdicts(state, job("waits", "owner", 2, priority=0), job("borrows", "borrower", 1, priority=-1))
    assert outcomes(found) == {"waits": Outcome.NO_CANDIDATES, "borrows": Outcome.OUTRUN}


def test_unless_it_may_take_it_back_from_anybody() -> None:
    policy = Preemption(within=Evictable.LOWER_PRIORITY, reclaim=Evictable.ANY)
    owner = pool("owner", 2, preemption=policy)
    state = state_of(owner, pool("borrower", 0), running("same", "owner", 1), profile="kueue")
    found = verdicts(state, job("waits", "owner", 2), job("borrows", "borrower", 1, priority=-1))
    assert outcomes(found) == {"waits": Outcome.NO_CANDIDATES, "borrows": Outcome.ADMITTED}


def test_nobody_starts_while_the_pods_of_others_are_not_ready() -> None:
    settings = Settings(pods_ready=PodsReady(block_admission=True))
    state = state_of(pool("a", 2), pool("b", 2), profile="kueue", settings=settings)
    found = verdicts(state, job("first", "a", 1, created_ms=1), job("second", "b", 1, created_ms=2))
    assert outcomes(found) == {"first": Outcome.ADMITTED, "second": Outcome.HELD}


def test_a_whole_cycle_takes_one_head_a_queue_and_decide_goes_on_until_nothing_changes() -> None:
    def filled() -> State:
        state = state_of(pool("q", 2, strategy=Strategy.STRICT), profile="kueue")
        for n in range(3):
            state.apply(Put(job(f"w{n}", "q", 1, created_ms=n)))
        return state

    assert [d.workload for d in cycle.once(filled(), 0).decided] == ["ns/w0"]
    state = filled()
    decided = cycle.decide(state, 0)
    assert [d.workload for d in decided if isinstance(d, Admit)] == ["ns/w0", "ns/w1"]
    assert cycle.decide(state, 0) == []


def test_in_kueue_a_preemptor_competes_again_once_its_victims_are_gone() -> None:
    state = state_of(pool("q", 2, preemption=LOWER), running("low", "q", 2), profile="kueue")
    state.apply(Put(job("high", "q", 2, priority=1)))
    decided = cycle.decide(state, 0)
    assert [(d.workload, d.cause, d.by) for d in decided if isinstance(d, Evict)] == [
        ("ns/low", "InClusterQueue", "ns/high")
    ]
    assert state.claims.of == {}
    assert state.queues.sticky == {"q": "ns/high"}
    state.apply(Put(job("low", "q", 2)))
    assert [d.workload for d in cycle.decide(state, 0) if isinstance(d, Admit)] == ["ns/high"]
