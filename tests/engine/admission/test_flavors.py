"""Flavors: which match, which is taken, and every no on the way."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given

from kumi.engine.admission.assignment import Assignment, Mode
from kumi.engine.admission.flavors import Refused, assign, options, seat, told
from kumi.engine.admission.matching import matches
from kumi.engine.model import (
    Admission,
    ClusterQueue,
    Evictable,
    PodSet,
    PodSetAssigned,
    Preemption,
    Profile,
    Put,
    ResourceGroup,
    Workload,
)
from kumi.engine.reasons import Code, Reason
from kumi.engine.state import State
from kumi.testing.builders import GPU, door, flavor, node, queue, shape, workload
from kumi.testing.strategies import ENDURES, TAINT, World, worlds

NOUNS = {"spot": flavor("spot", zone="a"), "fixed": flavor("fixed", zone="b"), "any": flavor("any")}
QUOTA_ONLY = Profile(places=False)


def tried(job: Workload, cq: ClusterQueue, *nouns: object, profile: Profile = QUOTA_ONLY) -> Admission | Refused:
    state = State(profile)
    for noun in (*NOUNS.values(), cq, door("ns/lq", cq.name), *nouns):
        state.apply(Put(noun))  # type: ignore[arg-type]
    return assign(state, job, cq)


def flavors_of(found: Admission | Refused) -> list[dict[str, str]]:
    assert isinstance(found, Admission), found
    return [dict(given_.flavors) for given_ in found.pod_sets]


def said(found: Admission | Refused) -> list[tuple[Code, str, str, int, int]]:
    assert isinstance(found, Refused)
    return [(r.code, r.flavor, r.resource, r.need, r.have) for r in found.reasons]


def test_the_first_flavor_with_quota_is_taken() -> None:
    cq = queue("cq", {"spot": {"gpu": 2}, "fixed": {"gpu": 8}})
    assert flavors_of(tried(workload("ns/a", 2, gpu=1), cq)) == [{GPU: "spot"}]
    assert flavors_of(tried(workload("ns/a", 3, gpu=1), cq)) == [{GPU: "fixed"}]


def test_the_first_flavor_whose_nodes_take_the_gang_is_taken() -> None:
    cq = queue("cq", {"spot": {"gpu": 8}, "fixed": {"gpu": 8}})
    nodes = node("n1", {"zone": "a"}, gpu=1), node("n2", {"zone": "b"}, gpu=2)
    found = tried(workload("ns/a", 2, gpu=1), cq, *nodes, profile=Profile())
    assert flavors_of(found) == [{GPU: "fixed"}]
    assert isinstance(found, Admission)
    assert found.pod_sets[0].nodes == (("n2", 2),)


def test_every_flavor_says_why_not() -> None:
    cq = queue("cq", {"spot": {"gpu": 8}, "fixed": {"gpu": 2}, "any": {"gpu": 8}})
    nodes = node("n1", {"zone": "a"}, gpu=1), node("n2", {"zone": "b"}, gpu=2)
    found = tried(workload("ns/a", 4, gpu=1), cq, *nodes, profile=Profile())
    assert said(found) == [
        (Code.CAPACITY_TOO_SMALL, "spot", GPU, 4000, 1000),
        (Code.OVER_QUOTA, "fixed", GPU, 4000, 2000),
        (Code.CAPACITY_TOO_SMALL, "any", GPU, 4000, 3000),
    ]


def test_quota_in_use_and_quota_too_small_are_told_apart() -> None:
    cq = queue("cq", {"spot": {"gpu": 2}, "fixed": {"gpu": 4}})
    state = State(QUOTA_ONLY)
    for noun in (*NOUNS.values(), cq):
        state.apply(Put(noun))
    state.quotas.add("cq", ("fixed", GPU), 3000)
    found = assign(state, workload("ns/a", 3, gpu=1), cq)
    assert said(found) == [(Code.OVER_QUOTA, "spot", GPU, 3000, 2000), (Code.QUOTA_IN_USE, "fixed", GPU, 3000, 1000)]
    assert isinstance(found, Refused)
    assert told(found.reasons)[0].code is Code.QUOTA_IN_USE
    assert [r.permanent for r in found.reasons] == [True, False]


def test_what_is_over_admitted_is_told_as_none_left() -> None:
    cq = queue("cq", {"spot": {"gpu": 2}})
    state = State(QUOTA_ONLY)
    for noun in (*NOUNS.values(), cq):
        state.apply(Put(noun))
    state.quotas.add("cq", ("spot", GPU), 5000)
    assert said(assign(state, workload("ns/a", 1, gpu=1), cq)) == [(Code.QUOTA_IN_USE, "spot", GPU, 1000, 0)]


def test_pod_sets_add_up_on_the_same_quota() -> None:
    cq = queue("cq", {"spot": {"gpu": 3}, "fixed": {"gpu": 2}})
    both = PodSet("leader", 1, shape(gpu=2)), PodSet("worker", 2, shape(gpu=1))
    assert flavors_of(tried(workload("ns/a", pod_sets=both), cq)) == [{GPU: "spot"}, {GPU: "fixed"}]
    three = (*both, PodSet("eval", 1, shape(gpu=1)))
    assert flavors_of(tried(workload("ns/a", pod_sets=three), cq)) == [{GPU: "spot"}, {GPU: "fixed"}, {GPU: "spot"}]


def test_quota_is_asked_for_all_pod_sets_that_have_no_other_flavor() -> None:
    cq = queue("cq", {"any": {"gpu": 3}})
    both = PodSet("leader", 1, shape(gpu=1)), PodSet("worker", 3, shape(gpu=1))
    found = tried(workload("ns/a", pod_sets=both), cq, node("n1", gpu=0), profile=Profile())
    assert said(found) == [(Code.OVER_QUOTA, "any", GPU, 4000, 3000)]


def test_what_nodes_lack_is_told_of_the_whole_gang() -> None:
    cq = queue("cq", {"any": {"gpu": 8}})
    both = PodSet("leader", 1, shape(gpu=1)), PodSet("worker", 3, shape(gpu=1))
    found = tried(workload("ns/a", pod_sets=both), cq, node("n1", gpu=2), profile=Profile())
    assert isinstance(found, Refused)
    [reason] = found.reasons
    assert (reason.need, reason.have, reason.pods, reason.pod_set) == (4000, 2000, 2, "")


def test_an_earlier_pod_set_gives_way_where_the_later_one_has_no_other_flavor() -> None:
    cq = queue("cq", {"spot": {"gpu": 2}, "fixed": {"gpu": 1}})
    both = PodSet("any", 1, shape(gpu=1)), PodSet("large", 1, shape(gpu=2))
    assert flavors_of(tried(workload("ns/a", pod_sets=both), cq)) == [{GPU: "fixed"}, {GPU: "spot"}]


def test_resources_of_a_group_get_one_flavor() -> None:
    cq = queue("cq", {"spot": {"cpu": 1, "gpu": 8}, "fixed": {"cpu": 8, "gpu": 8}})
    assert flavors_of(tried(workload("ns/a", cpu=2, gpu=1), cq)) == [{"cpu": "fixed", GPU: "fixed"}]


def test_groups_choose_their_flavors_apart() -> None:
    cq = queue("cq", {"spot": {"cpu": 1}, "fixed": {"cpu": 8}}, {"any": {"gpu": 8}})
    assert flavors_of(tried(workload("ns/a", cpu=2, gpu=1), cq)) == [{"cpu": "fixed", GPU: "any"}]


def test_a_resource_that_nobody_asks_for_never_blocks() -> None:
    cq = queue("cq", {"spot": {"cpu": 0, "gpu": 8}})
    assert flavors_of(tried(workload("ns/a", gpu=1), cq)) == [{GPU: "spot"}]
    assert flavors_of(tried(workload("ns/a", cpu=0, gpu=1), cq)) == [{GPU: "spot"}]


def test_a_resource_that_is_not_covered_is_a_no_unless_none_of_it_is_asked_for() -> None:
    cq = queue("cq", {"spot": {"gpu": 8}})
    assert said(tried(workload("ns/a", 2, gpu=1, memory="1Ki"), cq)) == [
        (Code.RESOURCE_NOT_COVERED, "", "memory", 2048, 0)
    ]
    assert flavors_of(tried(workload("ns/a", gpu=1, memory=0), cq)) == [{GPU: "spot"}]


def test_a_group_without_flavors_covers_nothing() -> None:
    cq = ClusterQueue("cq", (ResourceGroup((GPU,), ()),))
    assert said(tried(workload("ns/a", gpu=1), cq)) == [(Code.RESOURCE_NOT_COVERED, "", GPU, 1000, 0)]


def test_pods_are_counted_where_the_queue_covers_them() -> None:
    cq = queue("cq", {"any": {"pods": 3}})
    found = tried(workload("ns/a", 3), cq)
    assert flavors_of(found) == [{"pods": "any"}]
    assert isinstance(found, Admission)
    assert found.pod_sets[0].usage == (("pods", 3000),)
    assert said(tried(workload("ns/a", 4), cq)) == [(Code.OVER_QUOTA, "any", "pods", 4000, 3000)]


def test_amounts_past_all_bounds_do_not_wrap() -> None:
    cq = queue("cq", {"any": {"memory": 2**62}})
    assert said(tried(workload("ns/a", 1000, memory=2**61), cq)) == [
        (Code.OVER_QUOTA, "any", "memory", 2**63 - 1, 2**62)
    ]


def test_usage_and_flavors_go_by_resource() -> None:
    cq = queue("cq", {"spot": {"memory": "1Gi", "gpu": 8, "cpu": 8}})
    found = tried(workload("ns/a", 2, memory="1Mi", gpu=1, cpu=1), cq)
    assert isinstance(found, Admission)
    assert found.pod_sets[0].usage == (("cpu", 2000), ("memory", 2 * 2**20), (GPU, 2000))
    assert [r for r, _ in found.pod_sets[0].flavors] == ["cpu", "memory", GPU]


def test_a_flavor_that_does_not_match_is_passed_over_and_told() -> None:
    cq = queue("cq", {"spot": {"gpu": 8}, "fixed": {"gpu": 8}})
    asked = workload("ns/a", pod_shape=shape(selector={"zone": "b"}, gpu=1))
    assert flavors_of(tried(asked, cq)) == [{GPU: "fixed"}]
    nowhere = workload("ns/a", pod_shape=shape(selector={"zone": "c"}, gpu=1))
    found = tried(nowhere, cq)
    assert [(c, f) for c, f, _, _, _ in said(found)] == [
        (Code.FLAVOR_NOT_MATCHED, "spot"),
        (Code.FLAVOR_NOT_MATCHED, "fixed"),
    ]


def test_the_flavors_tolerations_open_its_nodes() -> None:
    cq = queue("cq", {"tolerant": {"gpu": 8}})
    tolerant = flavor("tolerant", tolerations=(ENDURES,))
    found = tried(workload("ns/a", gpu=1), cq, tolerant, node("n1", gpu=1, taints=(TAINT,)), profile=Profile())
    assert flavors_of(found) == [{GPU: "tolerant"}]


def test_flavors_of_two_groups_must_meet_on_the_nodes() -> None:
    cq = queue("cq", {"spot": {"cpu": 8}}, {"fixed": {"gpu": 8}, "any": {"gpu": 8}})
    found = tried(workload("ns/a", cpu=1, gpu=1), cq, node("n1", {"zone": "a"}, gpu=1, cpu=1), profile=Profile())
    assert flavors_of(found) == [{"cpu": "spot", GPU: "any"}]


def test_pod_sets_that_do_not_fit_together_on_one_flavors_nodes_are_spread_over_two() -> None:
    cq = queue("cq", {"spot": {"gpu": 8}, "fixed": {"gpu": 8}})
    both = PodSet("leader", 1, shape(gpu=2)), PodSet("worker", 2, shape(gpu=1))
    nodes = node("n1", {"zone": "a"}, gpu=3), node("n2", {"zone": "b"}, gpu=2)
    found = tried(workload("ns/a", pod_sets=both), cq, *nodes, profile=Profile())
    assert flavors_of(found) == [{GPU: "spot"}, {GPU: "fixed"}]


def test_a_search_without_end_is_cut_and_says_so() -> None:
    names = [f"f{n}" for n in range(9)]
    cq = queue("cq", {name: {"gpu": 8} for name in names})
    sets = tuple(PodSet(f"p{n}", 1, shape(gpu=1)) for n in range(3))
    found = tried(workload("ns/a", pod_sets=sets), cq, *map(flavor, names), node("n1", gpu=2), profile=Profile())
    assert isinstance(found, Refused)
    assert found.open_ended


def test_the_deepest_reason_that_can_change_is_the_one_to_tell() -> None:
    forever = Reason(Code.CAPACITY_TOO_SMALL, permanent=True)
    quota, nodes = Reason(Code.QUOTA_IN_USE), Reason(Code.NODES_FULL)
    assert told((forever, quota)) == (quota, (forever,))
    assert told((quota, nodes, forever)) == (nodes, (quota, forever))
    over = Reason(Code.OVER_QUOTA, permanent=True)
    assert told((over, forever)) == (forever, (over,))
    assert told((quota, Reason(Code.QUOTA_IN_USE, flavor="b")))[0] == quota


@given(worlds(most_workloads=3))
def test_an_answer_of_quota_alone_is_the_first_combination_that_fits(world: World) -> None:
    state = State(QUOTA_ONLY)
    for noun in world.nouns:
        state.apply(Put(noun))
    for job in world.workloads:
        route = state.catalog.route(job)
        if isinstance(route, str) and not state.catalog.closed(route):
            cq = state.catalog.cluster_queues[route]
            found = assign(state, job, cq)
            assert (flavors_of(found) if isinstance(found, Admission) else None) == plain(state, job, cq)


def plain(state: State, job: Workload, cq: ClusterQueue) -> list[dict[str, str]] | None:
    """Every combination in order; the first one that matches and adds up within quota."""
    by_pod_set = []
    for pods in job.pod_sets:
        asks = {r: amount * pods.count for r, amount in pods.shape.requests if amount * pods.count}
        groups = [g for g in cq.groups if any(r in asks for r in g.resources)]
        options = []
        for chosen in product(*([f.flavor for f in g.flavors] for g in groups)):
            if all(matches(state.catalog.flavors[name], pods.shape) for name in chosen):
                given_ = {r: f for g, f in zip(groups, chosen, strict=True) for r in g.resources if r in asks}
                options.append((given_, asks))
        by_pod_set.append(options)
    for combination in product(*by_pod_set):
        usage: dict[tuple[str, str], int] = {}
        for given_, asks in combination:
            for resource, name in given_.items():
                usage[name, resource] = usage.get((name, resource), 0) + asks[resource]
        if all(amount <= state.quotas.available(cq.name, fr) for fr, amount in usage.items()):
            return [given_ for given_, _ in combination]
    return None


def test_options_are_worked_out_as_they_are_asked_for_and_leave_the_state_as_it_was() -> None:
    cq = queue("cq", {"spot": {"gpu": 2}, "fixed": {"gpu": 2}})
    state = State(QUOTA_ONLY)
    for noun in (*NOUNS.values(), cq):
        state.apply(Put(noun))
    found = options(state, workload("ns/a", 1, gpu=1), cq)
    first = next(found)
    state.quotas.add("cq", ("fixed", GPU), 2000)
    assert first.mode is Mode.FIT
    assert [one.mode for one in found] == [Mode.NO_FIT]
    assert state.quotas.used("cq", ("spot", GPU)) == 0


@pytest.mark.parametrize(("name", "modes"), [("kueue", [Mode.FIT]), ("kumi", [Mode.FIT, Mode.FIT, Mode.NO_FIT])])
def test_the_profile_picks_the_way(name: str, modes: list[Mode]) -> None:
    cq = queue("cq", {"spot": {"gpu": 2}, "fixed": {"gpu": 2}})
    state = State(Profile(name=name, places=False))
    for noun in (*NOUNS.values(), cq):
        state.apply(Put(noun))
    assert [one.mode for one in options(state, workload("ns/a", 1, gpu=1), cq)] == modes


class Everybody:
    def possibility(self, fr: tuple[str, str], amount: int) -> tuple[Mode, int]:
        return Mode.PREEMPT, 0


def test_what_was_to_be_had_by_eviction_is_seated_once_quota_and_nodes_are_free() -> None:
    cq = queue("cq", {"spot": {"gpu": 2}}, preemption=Preemption(within=Evictable.LOWER_PRIORITY))
    state = State(Profile())
    for noun in (*NOUNS.values(), cq, node("n1", {"zone": "a"}, gpu=2)):
        state.apply(Put(noun))
    usage = PodSetAssigned("main", 2, ((GPU, "spot"),), ((GPU, 2000),), (("n1", 2),))
    low = replace(workload("ns/low", 2, gpu=1), admission=Admission("cq", (usage,)))
    state.apply(Put(low))
    high = workload("ns/high", 1, gpu=2)
    wanted, _ = options(state, high, cq, Everybody())
    assert wanted.mode is Mode.PREEMPT
    no = seat(state, high, cq, wanted)
    assert isinstance(no, Reason)
    assert (no.code, no.need, no.have) == (Code.QUOTA_IN_USE, 2000, 0)
    with state.trial():
        state.quotas.add("cq", ("spot", GPU), -2000)
        no = seat(state, high, cq, wanted)
        assert isinstance(no, Reason)
        assert no.code is Code.NODES_FULL
    state.apply(Put(replace(low, finished=True)))
    there = seat(state, high, cq, wanted)
    assert isinstance(there, Assignment)
    assert (there.mode, there.contended, there.pod_sets[0].nodes) == (Mode.FIT, (), (("n1", 1),))
