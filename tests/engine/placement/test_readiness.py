"""Readiness: all of them there, or none is bound."""

from __future__ import annotations

from dataclasses import replace

from kumi.engine.model import Admission, PodSet, PodSetAssigned
from kumi.engine.placement.readiness import Readiness
from kumi.engine.reasons import Code, Reason
from kumi.testing.builders import pods_of, shape, workload

JOB = workload("ns/a", pod_sets=(PodSet("leader", 1, shape(cpu=1)), PodSet("worker", 3, shape(gpu=1))))
PODS = tuple(pods_of(JOB))


def test_a_gang_that_is_all_there_waits_no_more() -> None:
    assert Readiness().waits(JOB, PODS) is None


def test_missing_pods_are_counted_over_all_pod_sets_and_the_first_is_named() -> None:
    assert Readiness().waits(JOB, PODS[1:3]) == Reason(Code.GANG_INCOMPLETE, pod_set="leader", need=1, have=0, pods=2)
    assert Readiness().waits(JOB, PODS[:3]) == Reason(Code.GANG_INCOMPLETE, pod_set="worker", need=3, have=2, pods=1)


def test_a_pod_that_is_gated_or_goes_is_not_there() -> None:
    for field in ("gated", "terminating"):
        assert Readiness().waits(JOB, (*PODS[:3], replace(PODS[3], **{field: True}))) is not None


def test_once_one_was_bound_or_has_ended_the_others_come_singly() -> None:
    assert Readiness().waits(JOB, (replace(PODS[0], node="n1"),)) is None
    assert Readiness().waits(JOB, (replace(PODS[0], finished=True),)) is None


def test_more_pods_than_it_counts_do_no_harm() -> None:
    assert Readiness().waits(JOB, (*PODS, replace(PODS[3], uid="extra"))) is None


def test_a_gang_that_was_admitted_with_fewer_waits_for_no_more_than_these() -> None:
    given = (PodSetAssigned("leader", 1, (), ()), PodSetAssigned("worker", 2, (), ()))
    admitted = replace(JOB, admission=Admission("cq", given))
    assert Readiness().waits(admitted, PODS[:3]) is None
    assert Readiness().waits(admitted, PODS[:2]) == Reason(
        Code.GANG_INCOMPLETE, pod_set="worker", need=2, have=1, pods=1
    )
