"""Holdings: what is taken is given back, and who holds most is known."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.admission.quota import Quotas
from kumi.engine.decisions import Evict
from kumi.engine.holdings import Holdings, on_node, standing_of, usage_of
from kumi.engine.journal import Journal
from kumi.engine.model import Admission, PodSetAssigned, Profile, Put, Workload
from kumi.engine.pods import Pods
from kumi.engine.state import State
from kumi.testing.builders import flavor, pod, queue, workload

assigned = st.builds(
    PodSetAssigned,
    st.just("main"),
    st.integers(0, 4),
    st.sampled_from([(("cpu", "spot"), ("gpu", "spot")), (("cpu", "fixed"), ("gpu", "spot")), (("cpu", "spot"),), ()]),
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda a: (("cpu", a[0]), ("gpu", a[1]))),
)
admissions = st.builds(Admission, st.sampled_from(["q1", "q2"]), st.lists(assigned, max_size=2).map(tuple))


@given(st.lists(st.tuples(st.sampled_from("abcd"), admissions), max_size=12))
def test_usage_is_the_sum_of_what_is_held(changes: list[tuple[str, Admission]]) -> None:
    journal = Journal()
    quotas = Quotas(journal)
    holdings, held = Holdings(journal, quotas, Pods(journal)), {}
    for key, admission in changes:
        if key in held:
            assert holdings.drop(key) == held.pop(key)
        else:
            held[key] = admission
            holdings.take(key, admission, usage_of(admission), {})
        for name in ("q1", "q2"):
            for fr in (("spot", "cpu"), ("fixed", "cpu"), ("spot", "gpu")):
                amounts = {k: usage_of(a).get(fr, 0) for k, a in held.items() if a.cluster_queue == name}
                assert quotas.used(name, fr) == sum(amounts.values())
                ranked = sorted((-amount, k, "") for k, amount in amounts.items() if amount)
                assert holdings.by_quota.get((name, fr), []) == ranked
    assert holdings.admission == held


def test_a_resource_without_a_flavor_is_not_counted() -> None:
    given_ = PodSetAssigned("main", 2, (("cpu", "spot"),), (("cpu", 4), ("gpu", 2)))
    assert usage_of(Admission("q1", (given_, given_))) == {("spot", "cpu"): 8}


def test_who_holds_most_on_nodes_stands_first() -> None:
    journal = Journal()
    pods = Pods(journal)
    holdings = Holdings(journal, Quotas(journal), pods)

    def largest() -> list[str]:
        return [(key or uid) for _, key, uid in holdings.largest("nvidia.com/gpu")]

    before = replace(pod("ns/before", gpu=4), uid="before")
    pods.put(before, "n0")
    holdings.take("ns/small", Admission("q1", ()), {}, {"nvidia.com/gpu": 2000})
    with journal.trial():
        assert largest() == ["before", "ns/small"]
    assert holdings.by_resource == {}
    holdings.take("ns/large", Admission("q1", ()), {}, {"nvidia.com/gpu": 8000})
    assert largest() == ["ns/large", "before", "ns/small"]
    holdings.place("after", "", (("nvidia.com/gpu", 3000), ("cpu", 0)))
    holdings.drop("ns/large")
    assert largest() == ["before", "after", "ns/small"]
    holdings.unplace("after", "", (("nvidia.com/gpu", 3000), ("cpu", 0)))
    holdings.unplace("before", "", on_node(before))
    holdings.drop("ns/small")
    assert holdings.by_resource == {}
    assert holdings.placed == {}


jobs = st.builds(
    lambda key, priority, reserved: workload(f"ns/{key}", priority=priority, reserved_ms=reserved),
    st.sampled_from("abcd"),
    st.integers(0, 2),
    st.integers(0, 3),
)


@given(st.lists(st.tuples(jobs, st.sampled_from(["", "ns/door"]), st.booleans(), st.integers(0, 3)), max_size=12))
def test_standings_and_sums_are_those_of_who_holds(changes: list[tuple[Workload, str, bool, int]]) -> None:
    journal = Journal()
    holdings, fr = Holdings(journal, Quotas(journal), Pods(journal)), ("spot", "cpu")
    stands: dict[str, tuple[Workload, str, bool]] = {}
    for job, door, stays, what in changes:
        if job.key not in holdings.admission:
            holdings.take(job.key, Admission("q1", ()), {fr: 2}, {})
        if what == 0:
            holdings.drop(job.key)
            stands.pop(job.key, None)
        else:
            holdings.stand(job.key, standing_of(job, stays=stays), door)
            stands[job.key] = (job, door, stays)
        for of in ("", "ns/door"):
            among = [(j, stays) for j, at, stays in stands.values() if of in ("", at)]
            keyed = sorted((s, j.priority, -j.reserved_ms if j.reserved_ms else -(10**9), j.key) for j, s in among)
            assert [s.key for s in holdings.in_order.get(("q1", fr, of), [])] == [k[-1] for k in keyed]
        assert holdings.doors == ({("q1", fr): {"ns/door": None}} if any(d for _, d, _ in stands.values()) else {})
        sums: dict[int, int] = {}
        for job_, _, _ in stands.values():
            sums[job_.priority] = sums.get(job_.priority, 0) + 2
        assert holdings.by_priority.get(("q1", fr), {}) == sums


def test_an_eviction_that_is_decided_moves_its_workload_to_the_front_and_a_refusal_back() -> None:
    state = State(Profile(places=False))
    given_ = Admission("q", (PodSetAssigned("main", 1, (("cpu", "default"),), (("cpu", 1000),)),))
    for noun in (flavor(), queue("q", {"default": {"cpu": 4}})):
        state.apply(Put(noun))
    for key, priority in (("ns/low", 0), ("ns/high", 5)):
        state.apply(Put(workload(key, cpu=1, priority=priority, admission=given_)))
    line = state.holdings.in_order["q", ("default", "cpu"), ""]
    assert [s.key for s in line] == ["ns/low", "ns/high"]
    evict = Evict("ns/high", "Deactivated")
    state.assume(evict)
    assert [s.key for s in line] == ["ns/high", "ns/low"]
    state.settle(evict, False)
    assert [s.key for s in line] == ["ns/low", "ns/high"]
    state.apply(Put(workload("ns/low", cpu=1, priority=9, admission=given_)))
    assert [s.key for s in line] == ["ns/high", "ns/low"]


def test_pods_that_have_ended_count_for_nothing() -> None:
    given_ = Admission("q", (PodSetAssigned("main", 4, (("cpu", "default"),), (("cpu", 4000),)),))
    state = State(Profile(places=False))
    for noun in (flavor(), queue("q", {"default": {"cpu": 4}})):
        state.apply(Put(noun))
    job = workload("ns/w", 4, cpu=1, admission=given_)
    state.apply(Put(job))
    state.apply(Put(replace(job, pod_sets=(replace(job.pod_sets[0], reclaimed=3),))))
    assert state.holdings.usage["ns/w"] == {("default", "cpu"): 1000}
    assert state.quotas.used("q", ("default", "cpu")) == 1000
    invariants.check(state)
