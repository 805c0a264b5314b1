"""Question: how one flavor would do for what is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings

from kumi.api.quantity import MAX
from kumi.engine.admission.assignment import Mode, NoFit
from kumi.engine.admission.question import ALL, Aim, Question
from kumi.engine.model import (
    Admission,
    ClusterQueue,
    Cohort,
    Evictable,
    FlavorQuotas,
    PodSet,
    PodSetAssigned,
    Preemption,
    Profile,
    Put,
    Quota,
    ResourceGroup,
    Workload,
)
from kumi.engine.reasons import Code
from kumi.engine.settings import FairSharing, Settings
from kumi.engine.state import State
from kumi.testing.builders import flavor, queue, shape, workload

from .searches import Case, Stub, cases

A = ("a", "cpu")
UNIT = (0,)


def state_of(*queues: ClusterQueue, chosen: Settings | None = None) -> State:
    state = State(Profile(name="kueue", places=False, settings=chosen or Settings()))
    for noun in (flavor("a"), flavor("b"), Cohort("co"), *queues):
        state.apply(Put(noun))
    return state


def judged(
    state: State, cq: ClusterQueue, cpu: int, stub: Stub | None = None, used: int = 0
) -> tuple[Mode, int, NoFit]:
    question = Question(state, workload("ns/a", 1, cpu=cpu), cq, stub or Stub())
    found = question.judge(UNIT, "a", question.together(UNIT), {A: 1000 * used}).attempt
    return found.mode, found.level, found.no_fit


def test_a_flavor_fits_exactly_within_what_is_available_and_is_borrowed_from_the_level_of_the_tree() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=300, database=None, derandomize=True)
    @given(cases())
    def holds(case: Case) -> None:
        state, stub = case.state(), case.oracle()
        question = Question(state, case.job, case.queue, stub)
        for unit in question.units:
            for resource, amount in question.together(unit).items():
                for quotas in case.queue.groups[0].flavors:
                    fr = (quotas.flavor, resource)
                    judged = question.judge(unit, quotas.flavor, {resource: amount}, {})
                    available, potential = (q("cq", fr) for q in (state.quotas.available, state.quotas.potential))
                    mode = judged.attempt.mode
                    assert (mode is Mode.FIT) == (amount <= potential and amount <= max(0, available))
                    assert (judged.attempt.no_fit is NoFit.EXCEEDS_MAX_QUOTA) == (amount > potential)
                    if mode is Mode.FIT:
                        assert judged.attempt.level == state.quotas.level("cq", fr, amount)[0]
                        assert not judged.attempt.reasons
                    elif mode is not Mode.NO_FIT:
                        assert (mode, judged.attempt.level) == stub.said[fr]
                    assert mode is Mode.NO_FIT or amount <= potential
                    seen["borrows"] += mode is Mode.FIT and judged.attempt.level > 0
                    seen["evicts"] += mode.evicts
                    seen["waits"] += judged.attempt.no_fit is NoFit.WAITING_FOR_QUOTA

    holds()
    assert min(seen["borrows"], seen["evicts"], seen["waits"]) >= 10, seen


def test_more_than_could_ever_be_had_is_told_apart_from_what_is_in_use() -> None:
    cq = queue("cq", {"a": {"cpu": 4}})
    state = state_of(cq)
    state.quotas.add("cq", A, 2000)
    assert judged(state, cq, 5) == (Mode.NO_FIT, 0, NoFit.EXCEEDS_MAX_QUOTA)
    assert judged(state, cq, 2) == (Mode.FIT, 0, NoFit.NONE)
    assert judged(state, cq, 3, Stub({A: (Mode.PREEMPT, 0)})) == (Mode.PREEMPT, 0, NoFit.NONE)
    assert judged(state, cq, 3) == (Mode.NO_CANDIDATES, 0, NoFit.NONE)


def test_what_earlier_pod_sets_got_counts() -> None:
    cq = queue("cq", {"a": {"cpu": 4}})
    assert judged(state_of(cq), cq, 2, used=2)[0] is Mode.FIT
    assert judged(state_of(cq), cq, 2, used=3)[2] is NoFit.EXCEEDS_MAX_QUOTA


@pytest.mark.parametrize(
    ("preemption", "fair", "mode"),
    [
        (Preemption(), None, Mode.NO_FIT),
        (Preemption(borrowing=Evictable.LOWER_PRIORITY), None, Mode.PREEMPT),
        (Preemption(reclaim=Evictable.ANY), None, Mode.NO_FIT),
        (Preemption(reclaim=Evictable.ANY), FairSharing(), Mode.PREEMPT),
        (Preemption(), FairSharing(), Mode.NO_FIT),
    ],
)
def test_past_nominal_quota_only_those_may_evict_whose_policy_says_so(
    preemption: Preemption, fair: FairSharing | None, mode: Mode
) -> None:
    mine = queue("cq", {"a": {"cpu": 0}}, cohort="co", preemption=preemption)
    other = queue("other", {"a": {"cpu": 4}}, cohort="co")
    state = state_of(mine, other, chosen=Settings(fair=fair))
    state.quotas.add("other", A, 4000)
    expected = NoFit.WAITING_FOR_QUOTA if mode is Mode.NO_FIT else NoFit.NONE
    assert judged(state, mine, 2, Stub({A: (Mode.PREEMPT, 1)})) == (mode, 1, expected)


def test_within_nominal_quota_the_oracle_is_asked() -> None:
    mine, other = (queue(n, {"a": {"cpu": 4}}, cohort="co") for n in ("cq", "other"))
    state = state_of(mine, other)
    state.quotas.add("other", A, 8000)
    stub = Stub({A: (Mode.RECLAIM, 0)})
    assert judged(state, mine, 2, stub) == (Mode.RECLAIM, 0, NoFit.NONE)
    assert stub.asked == [(A, 2000)]


def test_what_the_oracle_said_is_remembered_for_one_search() -> None:
    cq = queue("cq", {"a": {"cpu": 4}})
    state, stub = state_of(cq), Stub({A: (Mode.PREEMPT, 0)})
    state.quotas.add("cq", A, 4000)
    question = Question(state, workload("ns/a", 1, cpu=2), cq, stub)
    for _ in range(3):
        question.judge(UNIT, "a", {"cpu": 2000}, {})
    assert stub.asked == [(A, 2000)]


def test_a_flavor_is_as_good_as_its_worst_resource() -> None:
    cq = queue("cq", {"a": {"cpu": 4, "gpu": 4}})
    state = state_of(cq)
    state.quotas.add("cq", ("a", "nvidia.com/gpu"), 4000)
    question = Question(state, workload("ns/a", 1, cpu=1, gpu=1), cq, Stub())
    found = question.judge(UNIT, "a", question.together(UNIT), {})
    assert found.attempt.mode is Mode.NO_CANDIDATES
    assert {r: mode for r, (mode, _) in found.parts.items()} == {"cpu": Mode.FIT, "nvidia.com/gpu": Mode.NO_CANDIDATES}
    assert [r.resource for r in found.attempt.reasons] == ["nvidia.com/gpu"]


def test_unlimited_quota_takes_everything() -> None:
    group = ResourceGroup(("memory",), (FlavorQuotas("a", (("memory", Quota(MAX)),)),))
    cq = ClusterQueue("cq", (group,))
    state = state_of(cq)
    state.quotas.add("cq", ("a", "memory"), 2**62)
    question = Question(state, workload("ns/a", 9, memory=2**62), cq, Stub())
    assert question.together(UNIT) == {"memory": MAX}
    assert question.judge(UNIT, "a", {"memory": MAX}, {("a", "memory"): MAX}).attempt.mode is Mode.FIT


def test_pod_sets_of_one_group_ask_together() -> None:
    sets = tuple(PodSet(name, 2, shape(cpu=1), group=group) for name, group in (("a", "g"), ("b", ""), ("c", "g")))
    question = Question(state_of(), workload("ns/a", pod_sets=sets), queue("cq", {"a": {"cpu": 9}}))
    assert question.units == [(0, 2), (1,)]
    assert question.together((0, 2)) == {"cpu": 4000}
    assert question.unit_of == {0: 0, 2: 0, 1: 1}


def test_only_allowed_and_nominated_flavors_are_looked_at() -> None:
    from kumi.engine.admission.flavors import options

    cq = queue("cq", {"a": {"cpu": 9}, "b": {"cpu": 9}})
    state, job = state_of(cq), replace(workload("ns/a", 1, cpu=1), allowed_flavors=("b",))
    assert not Question(state, job, cq).allowed(UNIT, "a", "cpu")
    (found,) = options(state, job, cq)
    assert found.pod_sets[0].flavors["cpu"].flavor == "b"
    again = Question(state, workload("ns/a", 1, cpu=1), cq, aim=Aim(nominated=found))
    assert [again.allowed(UNIT, name, "cpu") for name in "ab"] == [False, True]
    assert not again.allowed(UNIT, "b", "memory")


def test_counts_are_of_pods_that_have_not_ended() -> None:
    job = workload("ns/a", pod_sets=(PodSet("main", 5, shape(cpu=1), reclaimed=2),))
    cq = queue("cq", {"a": {"cpu": 9}})
    assert Question(state_of(), job, cq, aim=ALL).counts == (3,)
    assert Question(state_of(), job, cq, aim=Aim(counts=(4,))).counts == (3,)
    assert Question(state_of(), job, cq, aim=Aim(counts=(2,))).counts == (2,)
    assert Question(state_of(chosen=Settings(reclaimable=False)), job, cq).counts == (5,)


def slice_of(cpu: int, name: str = "a") -> tuple[State, ClusterQueue, Workload]:
    cq = queue("cq", {"a": {"cpu": 5}, "b": {"cpu": 9}})
    state = state_of(cq)
    given_ = PodSetAssigned("main", cpu, (("cpu", name),), (("cpu", 1000 * cpu),))
    state.apply(Put(replace(workload("ns/old", cpu, cpu=1), admission=Admission("cq", (given_,)))))
    return state, cq, replace(workload("ns/new", 4, cpu=1), replaces="ns/old")


def test_a_new_slice_asks_for_what_it_needs_more() -> None:
    state, cq, job = slice_of(3)
    question = Question(state, job, cq, Stub())
    assert question.more(0, "cpu") == 1000
    assert question.judge(UNIT, "a", {"cpu": question.more(0, "cpu")}, {}).attempt.mode is Mode.FIT


def test_a_new_slice_keeps_the_flavor_of_the_one_that_it_replaces() -> None:
    state, cq, job = slice_of(3)
    question = Question(state, job, cq, Stub())
    found = question.judge(UNIT, "b", {"cpu": 1000}, {}).attempt
    assert (found.mode, found.no_fit) == (Mode.NO_FIT, NoFit.NO_MATCHING_FLAVOR)
    assert [r.code for r in found.reasons] == [Code.FLAVOR_NOT_MATCHED]


def test_a_flavor_that_is_not_there_is_no_match() -> None:
    cq = queue("cq", {"gone": {"cpu": 5}})
    reason = Question(state_of(cq), workload("ns/a", 1, cpu=1), cq).mismatch(UNIT, cq.groups[0], "gone")
    assert reason is not None
    assert (reason.code, reason.flavor) == (Code.FLAVOR_NOT_FOUND, "gone")
