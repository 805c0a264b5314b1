from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.errors import KumiError
from kumi.api.kueue import ClusterQueue
from kumi.bridge.into.clusterqueue import clusterqueue, stop_policy
from kumi.engine import model


def queue(spec: dict[str, Any], **metadata: str) -> model.ClusterQueue:
    return clusterqueue(msgspec.convert({"metadata": {"name": "q", **metadata}, "spec": spec}, ClusterQueue))


def test_quotas_are_in_base_units_and_in_order() -> None:
    gpu = {"name": "nvidia.com/gpu", "nominalQuota": 8, "borrowingLimit": "2", "lendingLimit": 0}
    memory = {"name": "memory", "nominalQuota": "1Ki"}
    group = {"coveredResources": ["nvidia.com/gpu", "memory"], "flavors": [{"name": "f", "resources": [gpu, memory]}]}
    (made,) = queue({"resourceGroups": [group]}).groups
    assert made.resources == ("nvidia.com/gpu", "memory")
    assert made.flavors == (
        model.FlavorQuotas("f", (("nvidia.com/gpu", model.Quota(8000, 2000, 0)), ("memory", model.Quota(1024)))),
    )


def test_an_absent_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert queue({}).selector is None
    assert queue({"namespaceSelector": {}}).selector == ()


def test_labels_and_expressions_of_a_selector_all_hold() -> None:
    selector = {"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["2"]}]}
    assert queue({"namespaceSelector": selector}).selector == (
        model.Requirement("a", "In", ("1",)),
        model.Requirement("b", "NotIn", ("2",)),
    )


def test_strategy_stop_and_cohort() -> None:
    made = queue({"queueingStrategy": "StrictFIFO", "stopPolicy": "HoldAndDrain", "cohortName": "all"})
    assert (made.strategy, made.stop, made.cohort) == (model.Strategy.STRICT, model.StopPolicy.HOLD_AND_DRAIN, "all")


def test_a_queue_that_is_being_deleted_holds() -> None:
    assert queue({}, deletionTimestamp="2026-01-01T00:00:00Z").stop is model.StopPolicy.HOLD
    assert stop_policy("HoldAndDrain", deleting=True) is model.StopPolicy.HOLD_AND_DRAIN
    assert stop_policy("None", deleting=False) is model.StopPolicy.NONE


def test_by_default_nobody_is_preempted_and_the_search_stops_at_borrowing() -> None:
    made = queue({})
    assert (made.preemption, made.fungibility) == (model.Preemption(), model.Fungibility(True, False, False))
    assert (made.weight, made.checks, made.by_usage) == (1.0, (), False)


def test_whom_it_may_preempt() -> None:
    policies = {
        "withinClusterQueue": "LowerOrNewerEqualPriority",
        "reclaimWithinCohort": "Any",
        "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 7},
    }
    assert queue({"preemption": policies}).preemption == model.Preemption(
        model.Evictable.LOWER_OR_NEWER_EQUAL, model.Evictable.ANY, model.Evictable.LOWER_PRIORITY, 7
    )


@pytest.mark.parametrize(("word", "stops"), [("Borrow", True), ("MayStopSearch", True), ("TryNextFlavor", False)])
def test_when_the_search_for_flavors_stops(word: str, stops: bool) -> None:
    assert queue({"flavorFungibility": {"whenCanBorrow": word}}).fungibility.stop_at_borrowing is stops
    policy = {"whenCanPreempt": word.replace("Borrow", "Preempt"), "preference": "PreemptionOverBorrowing"}
    made = queue({"flavorFungibility": policy}).fungibility
    assert (made.stop_at_preemption, made.prefer_preemption) == (stops, True)


def test_checks_share_and_whether_past_usage_counts() -> None:
    made = queue(
        {
            "admissionChecksStrategy": {"admissionChecks": [{"name": "a", "onFlavors": ["f"]}, {"name": "b"}]},
            "fairSharing": {"weight": "2"},
            "admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"},
        }
    )
    assert made.checks == (model.CheckRule("a", ("f",)), model.CheckRule("b"))
    assert (made.weight, made.by_usage) == (2.0, True)


def test_a_quota_that_is_no_quantity_is_an_error() -> None:
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "x"}]}],
    }
    with pytest.raises(KumiError):
        queue({"resourceGroups": [group]})
