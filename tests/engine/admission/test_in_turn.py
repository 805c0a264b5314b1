"""In turn: one pod set after the other, no choice taken back."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.quantity import MAX
from kumi.engine.admission.assignment import LAST, Assignment, Mode, NoFit
from kumi.engine.admission.flavors import options
from kumi.engine.admission.fungibility import better, stops
from kumi.engine.admission.in_turn import in_order
from kumi.engine.admission.question import Aim, Question
from kumi.engine.model import (
    ClusterQueue,
    FlavorQuotas,
    Fungibility,
    PodSet,
    Profile,
    Put,
    Quota,
    ResourceGroup,
    Workload,
)
from kumi.engine.reasons import Code
from kumi.engine.settings import Settings
from kumi.engine.state import State
from kumi.testing.builders import GPU, flavor, queue, shape, workload

from .searches import FLAVORS, Case, Stub, cases


def found(
    state: State, job: Workload, cq: ClusterQueue, stub: Stub | None = None, aim: Aim | None = None
) -> Assignment:
    (one,) = options(state, job, cq, stub or Stub(), aim or Aim())
    return one


def state_of(cq: ClusterQueue, chosen: Settings | None = None, **labels: str) -> State:
    state = State(Profile(name="kueue", places=False, settings=chosen or Settings()))
    for noun in (*(flavor(name, zone=labels.get(name, "any")) for name in FLAVORS), cq):
        state.apply(Put(noun))
    return state


def flavors_of(one: Assignment) -> list[dict[str, str]]:
    return [{r: chosen.flavor for r, chosen in p.flavors.items()} for p in one.pod_sets]


def test_what_is_given_is_within_quota_and_says_truly_what_it_needs() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=300, database=None, derandomize=True)
    @given(cases())
    def holds(case: Case) -> None:
        state = case.state()
        one = found(state, case.job, case.queue, case.oracle())
        for fr, amount in one.usage.items():
            assert amount <= state.quotas.potential("cq", fr)
        if one.mode is Mode.FIT:
            assert state.quotas.fits("cq", one.usage)
            assert not one.contended
        assert one.mode == min(p.mode for p in one.pod_sets)
        assert (one.no_fit is NoFit.NONE) == (one.mode is not Mode.NO_FIT)
        whole = len(one.pod_sets) == len(case.job.pod_sets)
        assert whole or one.mode is Mode.NO_FIT
        assert found(case.state(), case.job, case.queue, case.oracle()) == one
        seen["borrows"] += one.mode is Mode.FIT and one.level > 0
        seen["evicts"] += one.mode.evicts
        seen["no"] += one.mode is Mode.NO_FIT

    holds()
    assert min(seen["borrows"], seen["evicts"], seen["no"]) >= 10, seen


def test_of_one_groups_flavors_the_first_at_which_the_search_may_stop_is_taken_else_the_best() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=300, database=None, derandomize=True)
    @given(cases())
    def holds(case: Case) -> None:
        state, how = case.state(), case.queue.fungibility
        group = case.queue.groups[0]
        asked = {r: amount for r, amount in case.job.pod_sets[0].shape.requests if r in group.resources}
        job = workload("ns/a", pod_sets=(PodSet("main", 1, replace(shape(), requests=tuple(asked.items()))),))
        one = found(state, job, case.queue, case.oracle())
        question = Question(state, job, case.queue, case.oracle())
        judged = [question.judge((0,), q.flavor, question.asks[0], {}) for q in group.flavors]
        expected = next((j for j in judged if stops(*j.worst, how)), None)
        if expected is None:
            for other in judged:
                if better(other.worst, expected.worst if expected else (Mode.NO_FIT, 0), how):
                    expected = other
        if not asked:
            assert one.mode is Mode.FIT
        elif expected is None:
            assert one.mode is Mode.NO_FIT
        else:
            assert {c.flavor for c in one.pod_sets[0].flavors.values()} == {expected.attempt.flavor}
            seen["later"] += expected is not judged[0]
            seen["stopped"] += stops(*expected.worst, how) and expected is not judged[-1]

    holds()
    assert min(seen["later"], seen["stopped"]) >= 10, seen


@given(cases())
def test_with_quota_without_end_the_first_flavor_always_fits(case: Case) -> None:
    groups = tuple(
        ResourceGroup(
            g.resources, tuple(FlavorQuotas(f.flavor, tuple((r, Quota(MAX)) for r in g.resources)) for f in g.flavors)
        )
        for g in case.queue.groups
    )
    endless = replace(case, queue=replace(case.queue, groups=groups, cohort=""), used=())
    one = found(endless.state(), case.job, endless.queue)
    assert (one.mode, one.level, one.reasons) == (Mode.FIT, 0, ())
    for pods in one.pod_sets:
        for resource, chosen in pods.flavors.items():
            group = next(g for g in groups if resource in g.resources)
            assert chosen.flavor == group.flavors[0].flavor


@given(st.permutations(FLAVORS), st.sampled_from([Mode.FIT, Mode.PREEMPT]))
def test_searches_that_resume_look_at_every_flavor_once_before_they_begin_again(order: list[str], mode: Mode) -> None:
    how = Fungibility(stop_at_preemption=True)
    cq = queue("cq", {name: {"cpu": 4} for name in order}, fungibility=how)
    state = state_of(cq)
    if mode is Mode.PREEMPT:
        for name in order:
            state.quotas.add("cq", (name, "cpu"), 4000)
    stub = Stub({(name, "cpu"): (Mode.PREEMPT, 0) for name in order})
    taken, resume = [], None
    for _ in order:
        one = found(state, workload("ns/a", 1, cpu=1), cq, stub, Aim(resume=resume))
        taken.append(one.pod_sets[0].flavors["cpu"].flavor)
        resume = one.resume
        assert one.pending_flavors == (taken[-1] != order[-1])
    assert taken == list(order)
    assert (
        found(state, workload("ns/a", 1, cpu=1), cq, stub, Aim(resume=resume)).pod_sets[0].flavors["cpu"].flavor
        == order[0]
    )


def test_a_search_does_not_resume_where_that_is_switched_off() -> None:
    cq = queue("cq", {"a": {"cpu": 4}, "b": {"cpu": 4}})
    resume = found(state_of(cq), workload("ns/a", 1, cpu=1), cq).resume
    state = state_of(cq, Settings(resume_scan=False))
    assert flavors_of(found(state, workload("ns/a", 1, cpu=1), cq, aim=Aim(resume=resume))) == [{"cpu": "a"}]
    assert flavors_of(found(state_of(cq), workload("ns/a", 1, cpu=1), cq, aim=Aim(resume=resume))) == [{"cpu": "b"}]


def test_preemption_waits_for_a_later_flavor_that_fits() -> None:
    cq = queue("cq", {"a": {"cpu": 2}, "b": {"cpu": 2}})
    state = state_of(cq)
    state.quotas.add("cq", ("a", "cpu"), 2000)
    one = found(state, workload("ns/a", 1, cpu=1), cq, Stub({("a", "cpu"): (Mode.PREEMPT, 0)}))
    assert (flavors_of(one), one.mode) == ([{"cpu": "b"}], Mode.FIT)
    assert [(a.flavor, a.mode) for a in one.pod_sets[0].attempts] == [("a", Mode.PREEMPT), ("b", Mode.FIT)]


@pytest.mark.parametrize("mode", [Mode.NO_CANDIDATES, Mode.PREEMPT, Mode.RECLAIM])
def test_of_equal_flavors_the_first_is_taken(mode: Mode) -> None:
    cq = queue("cq", {"a": {"cpu": 2}, "b": {"cpu": 2}, "c": {"cpu": 2}})
    state, stub = state_of(cq), Stub({(name, "cpu"): (mode, 0) for name in "bc"})
    for name in "abc":
        state.quotas.add("cq", (name, "cpu"), 2000)
    one = found(state, workload("ns/a", 1, cpu=1), cq, stub)
    assert (flavors_of(one), one.mode) == ([{"cpu": "a" if mode is Mode.NO_CANDIDATES else "b"}], mode)


def test_a_flavor_without_candidates_never_keeps_one_that_fits_out() -> None:
    """Issue 4, named test 6: flavor a is full of equal priority and may not borrow, flavor b fits."""
    how = Fungibility(stop_at_preemption=True, stop_at_borrowing=False, prefer_preemption=True)
    full = ResourceGroup(
        ("cpu",), (FlavorQuotas("a", (("cpu", Quota(2000, 0)),)), FlavorQuotas("b", (("cpu", Quota(0)),)))
    )
    cq = ClusterQueue("cq", (full,), cohort="co", fungibility=how)
    state = state_of(cq)
    state.apply(Put(queue("other", {"a": {"cpu": 0}, "b": {"cpu": 2}}, cohort="co")))
    state.quotas.add("cq", ("a", "cpu"), 2000)
    one = found(state, workload("ns/a", 1, cpu=1), cq, Stub({("a", "cpu"): (Mode.NO_CANDIDATES, 0)}))
    assert (flavors_of(one), one.mode, one.level) == ([{"cpu": "b"}], Mode.FIT, 1)


def test_pod_sets_add_up_and_the_first_that_gets_nothing_ends_the_search() -> None:
    cq = queue("cq", {"a": {"cpu": 3}})
    sets = tuple(PodSet(name, 2, shape(cpu=1)) for name in ("one", "two", "three"))
    one = found(state_of(cq), workload("ns/a", pod_sets=sets), cq)
    assert [(p.name, p.mode, p.no_fit) for p in one.pod_sets] == [
        ("one", Mode.FIT, NoFit.NONE),
        ("two", Mode.NO_FIT, NoFit.EXCEEDS_MAX_QUOTA),
    ]
    assert one.usage == {("a", "cpu"): 2000}
    assert one.no_fit is NoFit.EXCEEDS_MAX_QUOTA


def test_pod_sets_of_one_group_get_one_flavor_that_has_room_for_all() -> None:
    cq = queue("cq", {"a": {"cpu": 3}, "b": {"cpu": 4}})
    sets = tuple(PodSet(name, 2, shape(cpu=1), group="g") for name in ("one", "two"))
    one = found(state_of(cq), workload("ns/a", pod_sets=sets), cq)
    assert flavors_of(one) == [{"cpu": "b"}, {"cpu": "b"}]
    assert one.usage == {("b", "cpu"): 4000}
    apart = tuple(replace(pods, group="") for pods in sets)
    assert flavors_of(found(state_of(cq), workload("ns/a", pod_sets=apart), cq)) == [{"cpu": "a"}, {"cpu": "b"}]


def test_a_pod_set_of_a_group_only_gets_flavors_of_what_it_asks_for() -> None:
    cq = queue("cq", {"a": {"cpu": 4}}, {"b": {"gpu": 4}})
    sets = (PodSet("leader", 1, shape(cpu=1), group="g"), PodSet("worker", 2, shape(gpu=1), group="g"))
    assert flavors_of(found(state_of(cq), workload("ns/a", pod_sets=sets), cq)) == [{"cpu": "a"}, {GPU: "b"}]


def test_what_no_group_covers_is_a_no_or_is_not_counted() -> None:
    cq = queue("cq", {"a": {"cpu": 4}})
    job = workload("ns/a", 1, cpu=1, memory="1Gi")
    one = found(state_of(cq), job, cq)
    assert (one.mode, one.no_fit) == (Mode.NO_FIT, NoFit.NO_MATCHING_FLAVOR)
    assert [(r.code, r.resource) for r in one.reasons] == [(Code.RESOURCE_NOT_COVERED, "memory")]
    assert flavors_of(found(state_of(cq, Settings(block_undeclared=False)), job, cq)) == [{"cpu": "a"}]
    assert found(state_of(cq), workload("ns/a", 1, cpu=1, memory=0), cq).mode is Mode.FIT


def test_the_reason_is_the_mildest_flavor_of_a_group_and_the_worst_group() -> None:
    cq = queue("cq", {"a": {"cpu": 1}, "b": {"cpu": 1}}, {"c": {"gpu": 1}})
    state = state_of(cq, a="x", b="y", c="y")
    asked = shape(selector={"zone": "y"}, cpu=2, gpu=1)
    one = found(state, workload("ns/a", pod_shape=asked), cq)
    assert one.no_fit is NoFit.EXCEEDS_MAX_QUOTA
    assert [(a.flavor, a.no_fit) for a in one.pod_sets[0].attempts if a.mode is Mode.NO_FIT] == [
        ("a", NoFit.NO_MATCHING_FLAVOR),
        ("b", NoFit.EXCEEDS_MAX_QUOTA),
    ]
    nowhere = found(state, workload("ns/a", pod_shape=shape(selector={"zone": "z"}, cpu=1)), cq)
    assert nowhere.no_fit is NoFit.NO_MATCHING_FLAVOR


def test_a_flavor_of_two_groups_is_told_once_with_the_worse_of_both() -> None:
    cq = queue("cq", {"a": {"cpu": 1}}, {"a": {"gpu": 4}})
    one = found(state_of(cq), workload("ns/a", 1, cpu=2, gpu=1), cq)
    (attempt,) = one.pod_sets[0].attempts
    assert (attempt.mode, attempt.no_fit) == (Mode.NO_FIT, NoFit.EXCEEDS_MAX_QUOTA)


def test_the_last_flavor_of_the_list_leaves_none_to_resume() -> None:
    cq = queue("cq", {"a": {"cpu": 1}, "b": {"cpu": 4}})
    one = found(state_of(cq), workload("ns/a", 1, cpu=2), cq)
    assert one.pod_sets[0].flavors["cpu"].tried == LAST
    assert not one.pending_flavors


def test_a_job_that_asks_for_nothing_fits() -> None:
    cq = queue("cq", {"a": {"cpu": 1}})
    assert found(state_of(cq), workload("ns/a", 3), cq).mode is Mode.FIT
    assert found(state_of(cq), workload("ns/a", pod_sets=()), cq).mode is Mode.FIT


def test_resources_go_by_the_hash_of_their_names() -> None:
    assert in_order(("cpu", "pods", GPU, "memory")) == ("memory", GPU, "pods", "cpu")
