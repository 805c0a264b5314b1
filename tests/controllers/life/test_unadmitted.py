from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kumi.api.wire import JsonObject
from kumi.controllers.life.look import Look, Policy
from kumi.controllers.life.unadmitted import FROM_THE_SCHEDULER, gated, waiting
from tests.controllers.made import admitted, condition

from .made import look, said

GATES = {"annotations": {"kueue.x-k8s.io/admission-gated-by": "a.b/c"}}


def open_look(status: JsonObject | None = None, **fields: Any) -> Look:
    seen = look(status, **fields)
    assert seen.cluster_queue is not None
    seen.cluster_queue.status.conditions = look({"conditions": [condition("Active", "True")]}).conditions
    return seen


def why(seen: Look) -> str | None:
    wanted = waiting(seen)
    return wanted.reason if wanted is not None else None


def test_a_gate_is_told_when_it_comes_and_when_the_last_one_goes() -> None:
    outcome = gated(look(**GATES))
    assert said(outcome) == {"QuotaReserved": ("False", "AdmissionGated"), "Admitted": ("False", "NoReservation")}
    told = {"conditions": [condition("QuotaReserved", "False", "AdmissionGated")]}
    assert gated(look(told, **GATES)) is None
    cleared = gated(look(told))
    assert said(cleared)["QuotaReserved"] == ("False", "PendingEvaluation")
    assert outcome is not None
    assert cleared is not None
    assert [n.reason for n in (*outcome.notes, *cleared.notes)] == ["AdmissionGated", "AdmissionGateCleared"]
    assert gated(look(admitted(), **GATES)) is None


def test_the_first_thing_in_the_way_is_told() -> None:
    assert why(open_look(spec={"active": False})) == "Deactivated"
    assert why(replace(open_look(**GATES), queue=None)) == "Misconfigured"
    assert why(open_look(queue={"stopPolicy": "Hold"}, **GATES)) == "Suspended"
    assert why(replace(open_look(**GATES), cluster_queue=None)) == "Misconfigured"
    assert why(look(**GATES)) == "Suspended"
    assert why(open_look(**GATES)) == "AdmissionGated"


def test_what_no_attempt_could_ever_admit_is_told() -> None:
    teams = {"namespaceSelector": {"matchLabels": {"team": "a"}}}
    assert why(open_look(cluster=teams, **GATES)) == "Misconfigured"
    assert why(replace(open_look(cluster=teams), labels={"team": "a"})) is None
    assert why(open_look(cluster={"namespaceSelector": None})) == "Misconfigured"
    greedy = {"name": "c", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [greedy]}}}
    assert why(open_look(spec={"podSets": [pod_set]})) == "Misconfigured"


@pytest.mark.parametrize("reason", FROM_THE_SCHEDULER)
def test_what_an_attempt_found_stays(reason: str) -> None:
    assert why(open_look({"conditions": [condition("QuotaReserved", "False", reason)]})) is None


def test_what_is_over_makes_way_for_the_next_attempt() -> None:
    assert why(open_look({"conditions": [condition("QuotaReserved", "False", "Suspended")]})) == "PendingEvaluation"


def test_a_hold_stays() -> None:
    assert why(look({"conditions": [condition("QuotaReserved", "False", "OnHold")]})) is None


def test_nothing_is_said_before_anything_happened_unless_all_must_speak() -> None:
    assert why(open_look()) is None
    assert why(open_look(policy=Policy(explicit=True))) == "PendingEvaluation"
