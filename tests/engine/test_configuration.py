"""Configuration: Kueue's sections as settings."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import FieldError
from kumi.engine.configuration import NEW, OLD, OTHERS, is_configuration, settings
from kumi.engine.settings import (
    FairSharing,
    FairStrategy,
    PodsReady,
    RequeueTime,
    Settings,
    Transformation,
    UsageSharing,
)


def read(**raw: Any) -> Settings:
    errors: list[FieldError] = []
    found = settings(raw, errors)
    assert errors == []
    return found


def wrong(**raw: Any) -> list[tuple[str, str]]:
    errors: list[FieldError] = []
    settings(raw, errors)
    return [(error.path, error.type) for error in errors]


def test_nothing_said_is_the_default() -> None:
    assert read() == Settings()
    assert read(**dict.fromkeys(OTHERS), apiVersion=NEW) == Settings()


def test_a_file_of_kueue_is_known_by_its_group() -> None:
    assert is_configuration({"apiVersion": NEW})
    assert is_configuration({"apiVersion": OLD})
    assert not is_configuration({"apiVersion": "v1"})
    assert not is_configuration({})


def test_dominant_shares() -> None:
    assert read(fairSharing={}).fair == FairSharing()
    only = read(fairSharing={"preemptionStrategies": ["LessThanInitialShare"]}).fair
    assert only == FairSharing(strategies=(FairStrategy.INITIAL_SHARE,))
    gates = {"FairSharingPreemptWithinNominal": False, "FairSharingPrioritizeNonBorrowing": False}
    assert read(fairSharing={}, featureGates=gates).fair == FairSharing(within_nominal=False, non_borrowing_first=False)
    assert read(featureGates=gates).fair is None


@pytest.mark.parametrize("section", ["fairSharing", "waitForPodsReady"])
def test_what_the_old_version_has_to_switch_on(section: str) -> None:
    field = {"fairSharing": "fair", "waitForPodsReady": "pods_ready"}[section]
    assert getattr(read(apiVersion=OLD, **{section: {}}), field) is None
    assert getattr(read(apiVersion=OLD, **{section: {"enable": True}}), field) is not None
    assert wrong(**{section: {"enable": True}}) == [(f"{section}.enable", "FieldValueForbidden")]


def test_past_usage() -> None:
    said = {"usageHalfLifeTime": "168h", "usageSamplingInterval": "10m", "resourceWeights": {"cpu": 2, "memory": 0.5}}
    expected = UsageSharing(604_800_000, 600_000, (("cpu", 2.0), ("memory", 0.5)))
    assert read(admissionFairSharing=said).by_usage == expected
    assert read(admissionFairSharing={}).by_usage == UsageSharing()
    assert read(admissionFairSharing=said, featureGates={"AdmissionFairSharing": False}).by_usage is None


def test_ready_pods() -> None:
    assert read(waitForPodsReady={}).pods_ready == PodsReady()
    again = {"timestamp": "Creation", "backoffLimitCount": 3, "backoffBaseSeconds": 10, "backoffMaxSeconds": 0}
    said = {"timeout": "10m", "recoveryTimeout": "3m", "blockAdmission": True, "requeuingStrategy": again}
    found = read(waitForPodsReady=said)
    assert found.pods_ready == PodsReady(600_000, 180_000, True, 10_000, 0, limit=3)
    assert found.requeue_time is RequeueTime.CREATION
    assert read(waitForPodsReady={"timeout": "10m"}).pods_ready == PodsReady(600_000, 600_000)
    old = read(apiVersion=OLD, waitForPodsReady={"enable": True}).pods_ready
    assert old == PodsReady(300_000, 0, block_admission=True)


def test_what_resources_count_for() -> None:
    rules = [
        {"input": "cpu", "strategy": "Replace", "outputs": {"credits": "3k"}},
        {"input": "gpu", "multiplyBy": "cpu", "outputs": {"b": 1, "a": "2m"}},
    ]
    found = read(
        resources={
            "excludeResourcePrefixes": ["example.com/"],
            "transformations": rules,
            "quotaCheckStrategy": "IgnoreUndeclared",
            "deviceClassMappings": [],
        }
    )
    assert found.excluded_prefixes == ("example.com/",)
    assert found.transformations == (
        Transformation("cpu", (("credits", 3000 * 10**9),), replace=True),
        Transformation("gpu", (("a", 2 * 10**6), ("b", 10**9)), multiply_by="cpu"),
    )
    assert not found.block_undeclared
    gated = read(resources={"quotaCheckStrategy": "IgnoreUndeclared"}, featureGates={"QuotaCheckStrategy": False})
    assert gated.block_undeclared


@pytest.mark.parametrize(
    ("gate", "field"),
    [
        ("PartialAdmission", "partial_admission"),
        ("ReclaimablePods", "reclaimable"),
        ("PrioritySortingWithinCohort", "priority_in_cohort"),
        ("RecomputeAssignmentUponPreemptionTargetsOverlap", "recompute_overlap"),
        ("PriorityBoost", "priority_boost"),
    ],
)
def test_gates_that_count(gate: str, field: str) -> None:
    assert getattr(read(featureGates={gate: True}), field) is True
    assert getattr(read(featureGates={gate: False}), field) is False
    assert read(featureGates={"SomethingElse": True}) == Settings()


def test_how_long_what_is_over_is_kept() -> None:
    said = {"workloads": {"afterFinished": "1h", "afterDeactivatedByKueue": "1m"}}
    assert read(objectRetentionPolicies=said).keep_finished_ms == 3_600_000
    assert read(objectRetentionPolicies={"workloads": {"afterFinished": "0s"}}).keep_finished_ms == 0
    assert read(objectRetentionPolicies={}).keep_finished_ms is None


def test_every_wrong_field_is_told_at_once() -> None:
    assert wrong(
        fairSharing={"preemptionStrategies": ["Most"], "strict": True},
        admissionFairSharing={
            "usageHalfLifeTime": "long",
            "usageSamplingInterval": "0s",
            "resourceWeights": {"cpu": -1},
        },
        waitForPodsReady={"timeout": 5, "requeuingStrategy": {"timestamp": "Never", "backoffLimitCount": -1}},
        resources={
            "transformations": [{"outputs": {"a": "x"}}, {"input": "cpu"}, {"input": "cpu", "strategy": "Drop"}]
        },
        objectRetentionPolicies=[],
        featureGates={"PartialAdmission": "yes"},
    ) == [
        ("fairSharing.preemptionStrategies[0]", "FieldValueNotSupported"),
        ("fairSharing.strict", "FieldValueForbidden"),
        ("admissionFairSharing.usageHalfLifeTime", "FieldValueInvalid"),
        ("admissionFairSharing.usageSamplingInterval", "FieldValueInvalid"),
        ("admissionFairSharing.resourceWeights[cpu]", "FieldValueInvalid"),
        ("waitForPodsReady.timeout", "FieldValueInvalid"),
        ("waitForPodsReady.requeuingStrategy.timestamp", "FieldValueNotSupported"),
        ("waitForPodsReady.requeuingStrategy.backoffLimitCount", "FieldValueInvalid"),
        ("resources.transformations[0].input", "FieldValueRequired"),
        ("resources.transformations[0].outputs[a]", "FieldValueInvalid"),
        ("resources.transformations[2].input", "FieldValueDuplicate"),
        ("resources.transformations[2].strategy", "FieldValueNotSupported"),
        ("objectRetentionPolicies", "FieldValueTypeInvalid"),
        ("featureGates.PartialAdmission", "FieldValueTypeInvalid"),
    ]
