"""Holdings: what is taken is given back, and who holds most is known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.admission.quota import Quotas
from kumi.engine.holdings import Holdings, usage_of
from kumi.engine.journal import Journal
from kumi.engine.model import Admission, PodSetAssigned

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
    holdings, held = Holdings(journal, quotas), {}
    for key, admission in changes:
        if key in held:
            assert holdings.drop(key) == held.pop(key)
        else:
            held[key] = admission
            holdings.take(key, admission, {})
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
    holdings = Holdings(journal, Quotas(journal))
    holdings.take("ns/small", Admission("q1", ()), {"gpu": 2})
    holdings.take("ns/large", Admission("q1", ()), {"gpu": 8})
    holdings.place("uid", "", (("gpu", 4), ("cpu", 0)))
    assert [(key or uid) for _, key, uid in holdings.by_resource["gpu"]] == ["ns/large", "uid", "ns/small"]
    holdings.drop("ns/large")
    holdings.unplace("uid", "", (("gpu", 4), ("cpu", 0)))
    holdings.drop("ns/small")
    assert holdings.by_resource == {}
    assert holdings.placed == {}
