"""Combinations: quota and nodes of all pod sets together, and what could be had by eviction."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given, settings

from kumi.engine.admission.assignment import Assignment, Mode, NoFit
from kumi.engine.admission.combinations import OPTIONS_AT_MOST
from kumi.engine.admission.flavors import options, seat
from kumi.engine.admission.fungibility import rank
from kumi.engine.admission.matching import matches
from kumi.engine.model import (
    Admission,
    ClusterQueue,
    Evictable,
    Fungibility,
    PodSet,
    PodSetAssigned,
    Preemption,
    Profile,
    Put,
)
from kumi.engine.reasons import Code
from kumi.engine.settings import Settings
from kumi.engine.state import State
from kumi.testing.builders import GPU, flavor, node, queue, shape, workload
from kumi.testing.strategies import World, worlds

from .searches import Case, Stub, cases

MAY_EVICT = Preemption(within=Evictable.LOWER_PRIORITY)


def chosen(one: Assignment) -> list[dict[str, str]]:
    return [{r: c.flavor for r, c in p.flavors.items()} for p in one.pod_sets]


def state_of(cq: ClusterQueue, *nouns: object, **profile: object) -> State:
    state = State(Profile(**profile))  # type: ignore[arg-type]
    for noun in (flavor("a", zone="a"), flavor("b", zone="b"), flavor("c"), cq, *nouns):
        state.apply(Put(noun))  # type: ignore[arg-type]
    return state


def test_options_are_distinct_and_in_order_and_none_is_without_hope() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=200, database=None, derandomize=True)
    @given(cases())
    def holds(case: Case) -> None:
        state, how = case.state("kumi"), case.queue.fungibility
        *found, last = options(state, case.job, case.queue, case.oracle())
        assert last.mode is Mode.NO_FIT
        assert all(one.mode > Mode.NO_CANDIDATES for one in found)
        if not how.stop_at_preemption:
            fitting = [one.mode is Mode.FIT for one in found]
            assert fitting == sorted(fitting, reverse=True)
            evicting = [rank(one.mode, one.level, how) for one in found if one.mode is not Mode.FIT]
            assert all(one >= other for one, other in pairwise(evicting))
        told = [tuple(tuple(sorted(p.items())) for p in chosen(one)) for one in found]
        assert len(told) == len(set(told))
        for one in found:
            _is_sound(state, case, one)
        again = list(options(case.state("kumi"), case.job, case.queue, case.oracle()))
        assert again == [*found, last]
        seen["fits"] += any(one.mode is Mode.FIT for one in found)
        seen["evicts"] += any(one.mode.evicts for one in found)
        seen["borrows"] += any(one.level > 0 for one in found)
        seen["no"] += not found

    holds()
    assert min(seen["fits"], seen["evicts"], seen["borrows"], seen["no"]) >= 10, seen


def _is_sound(state: State, case: Case, one: Assignment) -> None:
    for fr, amount in one.usage.items():
        assert amount <= state.quotas.potential("cq", fr)
    if one.mode is Mode.FIT:
        assert state.quotas.fits("cq", one.usage)
    else:
        assert one.contended
    for pods, given_ in zip(case.job.pod_sets, one.pod_sets, strict=True):
        asks = {r: amount * pods.count for r, amount in pods.shape.requests if amount * pods.count}
        assert set(given_.flavors) == set(asks)
        for group in case.queue.groups:
            assert len({c.flavor for r, c in given_.flavors.items() if r in group.resources}) <= 1
    if len(case.job.pod_sets) > 1 and case.job.pod_sets[0].group:
        shared = [r for r in one.pod_sets[0].flavors if r in one.pod_sets[1].flavors]
        assert all(one.pod_sets[0].flavors[r].flavor == one.pod_sets[1].flavors[r].flavor for r in shared)


def test_something_fits_exactly_where_a_combination_is_within_quota() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=200, database=None, derandomize=True)
    @given(cases())
    def holds(case: Case) -> None:
        state = case.state("kumi")
        fits = any(one.mode is Mode.FIT for one in options(state, case.job, case.queue, case.oracle()))
        assert fits == _something_fits(state, case)
        seen["yes"] += fits
        seen["no"] += not fits

    holds()
    assert min(seen["yes"], seen["no"]) >= 20, seen


def _something_fits(state: State, case: Case) -> bool:
    """Every choice of a flavor for each group of each pod set, plainly."""
    pod_sets, groups = case.job.pod_sets, case.queue.groups
    together = len(pod_sets) > 1 and bool(pod_sets[0].group)
    each = [[f.flavor for f in group.flavors] for _ in pod_sets for group in groups]
    for names in product(*each):
        usage: dict[tuple[str, str], int] = {}
        by_set: list[dict[str, str]] = []
        for n, pods in enumerate(pod_sets):
            by_resource = {r: names[n * len(groups) + g] for g, group in enumerate(groups) for r in group.resources}
            asks = {r: amount * pods.count for r, amount in pods.shape.requests if amount * pods.count}
            by_set.append({r: by_resource[r] for r in asks})
            for resource, amount in asks.items():
                fr = (by_resource[resource], resource)
                usage[fr] = usage.get(fr, 0) + amount
        same = all(by_set[0][r] == by_set[-1][r] for r in by_set[0] if r in by_set[-1])
        if state.quotas.fits("cq", usage) and (same or not together):
            return True
    return False


def test_where_kumi_places_an_option_that_fits_has_nodes_for_every_pod() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=150, database=None, derandomize=True)
    @given(worlds(most_workloads=3))
    def holds(world: World) -> None:
        state = State(Profile())
        for noun in world.nouns:
            state.apply(Put(noun))
        for job in world.workloads:
            route = state.catalog.route(job)
            if not isinstance(route, str) or state.catalog.closed(route):
                continue
            cq = state.catalog.cluster_queues[route]
            for one in options(state, job, cq):
                seen[one.mode.name] += 1
                if one.mode is Mode.FIT:
                    for given_, pods in zip(one.pod_sets, job.pod_sets, strict=True):
                        assert sum(n for _, n in given_.nodes) == given_.count
                        assert all(
                            matches(state.catalog.flavors[c.flavor], pods.shape) for c in given_.flavors.values()
                        )
                    assert isinstance(seat(state, job, cq, one), Assignment)

    holds()
    assert min(seen["FIT"], seen["NO_FIT"]) >= 20, seen


def test_a_combination_that_fits_goes_before_one_that_evicts() -> None:
    cq = queue("cq", {"a": {"cpu": 2}, "b": {"cpu": 2}}, preemption=MAY_EVICT)
    state = state_of(cq, places=False)
    state.quotas.add("cq", ("a", "cpu"), 2000)
    stub = Stub({("a", "cpu"): (Mode.PREEMPT, 0)})
    found = list(options(state, workload("ns/a", 1, cpu=1), cq, stub))
    assert [(chosen(one), one.mode) for one in found[:-1]] == [
        ([{"cpu": "b"}], Mode.FIT),
        ([{"cpu": "a"}], Mode.PREEMPT),
    ]
    first = replace(cq, fungibility=Fungibility(stop_at_preemption=True))
    again = list(options(state, workload("ns/a", 1, cpu=1), first, stub))
    assert [one.mode for one in again] == [Mode.PREEMPT, Mode.FIT, Mode.NO_FIT]


def test_an_earlier_pod_set_gives_way_before_anybody_is_evicted() -> None:
    cq = queue("cq", {"a": {"cpu": 4}, "b": {"cpu": 1}}, preemption=MAY_EVICT)
    state = state_of(cq, places=False)
    state.quotas.add("cq", ("a", "cpu"), 2000)
    both = PodSet("small", 1, shape(cpu=1)), PodSet("large", 1, shape(cpu=2))
    *found, _ = options(state, workload("ns/a", pod_sets=both), cq, Stub({("a", "cpu"): (Mode.PREEMPT, 0)}))
    assert [(chosen(one), one.mode) for one in found] == [
        ([{"cpu": "b"}, {"cpu": "a"}], Mode.FIT),
        ([{"cpu": "a"}, {"cpu": "a"}], Mode.PREEMPT),
    ]


def test_no_flavor_outranks_one_that_fits_because_preemption_is_preferred() -> None:
    """Issue 4, named test 6: flavor a is full of equal priority, flavor b fits by borrowing."""
    how = Fungibility(stop_at_preemption=True, stop_at_borrowing=False, prefer_preemption=True)
    cq = queue("cq", {"a": {"cpu": 2}, "b": {"cpu": 0}}, cohort="co", fungibility=how, preemption=MAY_EVICT)
    other = queue("other", {"a": {"cpu": 0}, "b": {"cpu": 2}}, cohort="co")
    state = state_of(cq, other, places=False)
    state.quotas.add("cq", ("a", "cpu"), 2000)
    found = list(options(state, workload("ns/a", 1, cpu=1), cq, Stub()))
    assert [(one.mode, one.level) for one in found] == [(Mode.FIT, 1), (Mode.NO_FIT, 0)]
    assert chosen(found[0]) == [{"cpu": "b"}]


def test_borrowing_goes_behind_where_the_queue_would_rather_try_the_next() -> None:
    cq = queue("cq", {"a": {"cpu": 0}, "b": {"cpu": 2}}, cohort="co", fungibility=Fungibility(stop_at_borrowing=False))
    other = queue("other", {"a": {"cpu": 9}}, cohort="co")
    state = state_of(cq, other, places=False)
    *found, _ = options(state, workload("ns/a", 1, cpu=1), cq)
    assert [(chosen(one), one.level) for one in found] == [([{"cpu": "b"}], 0), ([{"cpu": "a"}], 1)]


def test_full_nodes_of_a_queue_that_may_evict_are_an_option_behind_those_with_room() -> None:
    nodes = node("n1", {"zone": "a"}, gpu=1), node("n2", {"zone": "b"}, gpu=1)
    cq = queue("cq", {"a": {"gpu": 8}, "b": {"gpu": 8}}, preemption=MAY_EVICT)
    state = state_of(cq, *nodes)
    held = replace(workload("ns/low", 1, gpu=1), admission=_on("a", "n1"))
    state.apply(Put(held))
    found = list(options(state, workload("ns/a", 1, gpu=1), cq))
    assert [(chosen(one)[0], one.mode) for one in found[:-1]] == [({GPU: "b"}, Mode.FIT), ({GPU: "a"}, Mode.PREEMPT)]
    assert found[1].contended == (("a", GPU),)
    assert [(r.code, r.flavor) for r in found[1].reasons] == [(Code.NODES_FULL, "a")]
    nobody = replace(cq, preemption=Preemption())
    assert [one.mode for one in options(state, workload("ns/a", 1, gpu=1), nobody)] == [Mode.FIT, Mode.NO_FIT]


def _on(name: str, on: str) -> Admission:
    return Admission("cq", (PodSetAssigned("main", 1, ((GPU, name),), ((GPU, 1000),), ((on, 1),)),))


def test_nodes_that_could_never_hold_the_pods_are_no_option() -> None:
    cq = queue("cq", {"a": {"gpu": 8}}, preemption=MAY_EVICT)
    state = state_of(cq, node("n1", {"zone": "a"}, gpu=1))
    (no,) = options(state, workload("ns/a", 1, gpu=2), cq)
    assert [(r.code, r.permanent) for r in no.reasons] == [(Code.NODE_TOO_SMALL, True)]


def test_pod_sets_that_fit_alone_and_not_together_may_evict_for_room() -> None:
    cq = queue("cq", {"a": {"gpu": 8}}, preemption=MAY_EVICT)
    state = state_of(cq, node("n1", {"zone": "a"}, gpu=4))
    state.apply(Put(replace(workload("ns/low", 1, gpu=2), admission=_on("a", "n1"))))
    both = PodSet("leader", 1, shape(gpu=2)), PodSet("worker", 1, shape(gpu=1))
    found = list(options(state, workload("ns/a", pod_sets=both), cq))
    assert [one.mode for one in found] == [Mode.PREEMPT, Mode.NO_FIT]
    assert found[0].pod_sets[0].nodes == ()


def test_a_resource_of_which_nothing_is_asked_for_has_no_flavor() -> None:
    cq = queue("cq", {"a": {"cpu": 2}}, {"b": {"gpu": 0}})
    state = state_of(cq, places=False)
    first = next(iter(options(state, workload("ns/a", pod_shape=shape(selector={"zone": "a"}, cpu=1, gpu=0)), cq)))
    assert (chosen(first), first.mode) == ([{"cpu": "a"}], Mode.FIT)
    assert first.usage == {("a", "cpu"): 1000}


def test_what_no_queue_covers_is_not_counted_where_settings_say_so() -> None:
    cq = queue("cq", {"a": {"cpu": 2}})
    job = workload("ns/a", 1, cpu=1, memory="1Gi")
    (no,) = options(state_of(cq, places=False), job, cq)
    assert (no.no_fit, [r.code for r in no.reasons]) == (NoFit.NO_MATCHING_FLAVOR, [Code.RESOURCE_NOT_COVERED])
    state = state_of(cq, places=False, settings=Settings(block_undeclared=False))
    assert chosen(next(iter(options(state, job, cq)))) == [{"cpu": "a"}]


def test_a_new_slice_keeps_its_nodes_and_is_placed_with_what_it_has_more() -> None:
    cq = queue("cq", {"a": {"gpu": 4}})
    state = state_of(cq, node("n1", {"zone": "a"}, gpu=1), node("n2", {"zone": "a"}, gpu=2))
    state.apply(Put(replace(workload("ns/old", 1, gpu=1), admission=_on("a", "n1"))))
    job = replace(workload("ns/new", 3, gpu=1), replaces="ns/old")
    first = next(iter(options(state, job, cq)))
    assert first.pod_sets[0].nodes == (("n1", 1), ("n2", 2))
    assert first.usage == {("a", GPU): 2000}
    again = seat(state, job, cq, first)
    assert isinstance(again, Assignment)
    assert again.pod_sets[0].nodes == (("n1", 1), ("n2", 2))


def test_a_search_that_was_cut_says_so_and_offers_no_more() -> None:
    names = [f"f{n}" for n in range(9)]
    cq = queue("cq", {name: {"cpu": 9} for name in names})
    state = state_of(cq, *map(flavor, names), places=False)
    sets = tuple(PodSet(f"p{n}", 1, shape(cpu=1)) for n in range(3))
    *found, no = options(state, workload("ns/a", pod_sets=sets), cq)
    assert (len(found), no.open_ended) == (OPTIONS_AT_MOST, True)


@pytest.mark.parametrize("name", ["kumi", "volcano"])
def test_profiles_that_search_so(name: str) -> None:
    cq = queue("cq", {"a": {"cpu": 2}})
    assert len(list(options(state_of(cq, name=name, places=False), workload("ns/a", 1, cpu=1), cq))) == 2
