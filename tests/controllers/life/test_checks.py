from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.kueue import Admission, ClusterQueue
from kumi.api.wire import JsonObject
from kumi.controllers.life.checks import admitted, answered, listed, needed
from tests.controllers.made import GPU, admission, at, cluster_queue, condition
from tests.controllers.made import admitted as admitted_status

from .made import look, said, status_of

RESERVED = [condition("QuotaReserved", "True")]


def queue(*rules: tuple[str, list[str]]) -> ClusterQueue:
    checks = [{"name": name, "onFlavors": flavors} for name, flavors in rules]
    flavors = [{"name": f, "resources": [{"name": GPU, "nominalQuota": 1}]} for f in ("a", "b")]
    groups = [{"coveredResources": [GPU], "flavors": flavors}]
    made = cluster_queue(admissionChecksStrategy={"admissionChecks": checks}, resourceGroups=groups)
    return msgspec.convert(made, ClusterQueue)


def got(flavor: str) -> Admission:
    return msgspec.convert(admission(flavor=flavor), Admission)


def test_checks_are_for_all_flavors_or_for_those_that_it_got() -> None:
    asks = queue(("all", []), ("of-a", ["a"]), ("both", ["a", "b"]))
    assert needed(asks, got("a")) == ["all", "both", "of-a"]
    assert needed(asks, got("b")) == ["all", "both"]
    assert needed(asks, None) == ["all", "both"]
    assert needed(queue(), got("a")) == []
    assert needed(msgspec.convert(cluster_queue(), ClusterQueue), None) == []


def asking(*names: str) -> dict[str, Any]:
    return {"cluster": {"admissionChecksStrategy": {"admissionChecks": [{"name": n} for n in names]}}}


def state(name: str, says: str = "Ready", **more: Any) -> JsonObject:
    return {"name": name, "state": says, **more}


def test_the_needed_ones_are_listed_and_no_others() -> None:
    made = status_of(listed(look({"admissionChecks": [state("old"), state("b")]}, **asking("b", "a"))))
    assert made["admissionChecks"] == [
        {"name": "a", "state": "Pending", "message": "", "lastTransitionTime": at(0)},
        state("b"),
    ]
    assert listed(look({"admissionChecks": [state("b"), state("a")]}, **asking("b", "a"))) is None


@pytest.mark.parametrize(
    ("checks", "topology", "says"),
    [
        ([state("a")], None, ("True", "Admitted")),
        ([], None, ("True", "Admitted")),
        ([state("a"), state("b", "Pending")], None, ("False", "UnsatisfiedAdmissionChecks")),
        ([state("a")], "Pending", ("False", "PendingDelayedTopologyRequests")),
        ([state("a")], "Ready", ("True", "Admitted")),
    ],
)
def test_it_is_admitted_when_all_are_ready(
    checks: list[JsonObject], topology: str | None, says: tuple[str, str]
) -> None:
    given = admission()
    if topology:
        given["podSetAssignments"][0]["delayedTopologyRequest"] = topology
    wanted = admitted(look({"admission": given, "admissionChecks": checks, "conditions": RESERVED}))
    assert wanted is not None
    assert (wanted.status, wanted.reason) == says


def test_one_that_is_admitted_stays_so_and_one_without_quota_is_not() -> None:
    assert admitted(look({**admitted_status(), "admissionChecks": [state("a", "Retry")]})) is None
    assert admitted(look({"admissionChecks": [state("a")]})) is None


def test_a_rejection_beats_a_retry() -> None:
    outcome = answered(look({"admissionChecks": [state("a", "Retry"), state("b", "Rejected", message="no room")]}))
    assert said(outcome) == {"DeactivationTarget": ("True", "AdmissionCheck")}
    assert outcome is not None
    assert [(n.reason, n.type) for n in outcome.notes] == [("AdmissionCheckRejected", "Warning")]
    assert "b (no room)" in outcome.notes[0].message


def test_a_retry_evicts_and_all_are_asked_again() -> None:
    outcome = answered(look({**admitted_status(), "admissionChecks": [state("a", "Retry"), state("b")]}))
    assert said(outcome)["Evicted"] == ("True", "AdmissionCheck")
    assert [c["state"] for c in status_of(outcome)["admissionChecks"]] == ["Pending", "Pending"]


def test_nothing_is_heard_while_it_goes_or_while_nobody_answers() -> None:
    evicted = admitted_status(conditions=[condition("Evicted", "True")])
    assert answered(look({**evicted, "admissionChecks": [state("a", "Rejected")]})) is None
    assert answered(look({"admissionChecks": [state("a", "Pending"), state("b")]})) is None
