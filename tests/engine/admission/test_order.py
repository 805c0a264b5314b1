"""Order: a total order, and what makes workloads of one kind."""

from __future__ import annotations

import pickle
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.admission.order import kind, place, stamp_ms
from kumi.engine.model import Workload
from kumi.testing.builders import workload
from kumi.testing.strategies import workloads

BASE = workload("ns/a", priority=1, created_ms=10, uid="m")


def goes_first(one: Workload, other: Workload) -> bool:
    return place(one) < place(other)


def test_higher_priority_goes_first() -> None:
    assert goes_first(replace(BASE, priority=2, created_ms=99), BASE)


def test_then_the_earlier_one() -> None:
    assert goes_first(replace(BASE, created_ms=9, uid="z"), BASE)


def test_a_time_of_its_own_in_the_queue_takes_the_place_of_creation() -> None:
    assert goes_first(BASE, replace(BASE, created_ms=1, queued_ms=11))


def test_then_the_smaller_uid_then_the_smaller_key() -> None:
    assert goes_first(replace(BASE, uid="l", key="ns/z"), BASE)
    assert goes_first(BASE, replace(BASE, key="ns/b"))


@given(st.lists(st.integers(0, 30).flatmap(workloads), min_size=2, max_size=6, unique_by=lambda w: w.key))
def test_two_workloads_never_share_a_place(found: list[Workload]) -> None:
    assert len({place(w) for w in found}) == len(found)


def test_kinds_are_equal_by_priority_and_pod_sets_alone() -> None:
    assert kind(BASE) == kind(replace(BASE, key="ns/b", uid="n", created_ms=99, queue="ns/other"))
    assert hash(kind(BASE)) == hash(kind(replace(BASE, key="ns/b")))
    assert kind(BASE) != kind(replace(BASE, priority=2))
    assert kind(BASE) != kind(replace(BASE, pod_sets=workload("ns/a", 2).pod_sets))
    assert kind(BASE) != "a kind"


def test_a_kind_that_was_written_by_a_process_with_other_hashes_is_read_with_those_of_this_one() -> None:
    other = kind(BASE)
    other._hash += 1
    assert pickle.loads(pickle.dumps(other)) == kind(BASE)
    assert hash(pickle.loads(pickle.dumps(other))) == hash(kind(BASE))


def test_what_may_have_other_flavors_or_takes_a_slices_place_is_another_kind() -> None:
    assert kind(BASE) != kind(replace(BASE, allowed_flavors=("spot",)))
    assert kind(BASE) != kind(replace(BASE, replaces="ns/old"))
    assert stamp_ms(BASE) == 10
    assert stamp_ms(replace(BASE, queued_ms=11)) == 11


def test_labels_that_only_one_job_has_make_no_kind_of_its_own() -> None:
    def labelled(*labels: tuple[str, str]) -> Workload:
        return replace(BASE, pod_sets=tuple(replace(pods, labels=labels) for pods in BASE.pod_sets))

    own = [labelled(("app", "x"), ("batch.kubernetes.io/job-name", name), ("controller-uid", name)) for name in "ab"]
    assert kind(own[0]) == kind(own[1]) == kind(labelled(("app", "x")))
    assert kind(own[0]) != kind(labelled(("app", "y"), ("batch.kubernetes.io/job-name", "a")))
