from __future__ import annotations

from typing import Any

import pytest

from kumi.api.core import Taint, Toleration
from kumi.api.wire import JsonObject
from kumi.controllers.taint_eviction import TaintEviction, tolerates
from kumi.runtime.reconcile import NOTHING, Delete, Outcome, Patch
from kumi.testing.view import FakeView

from .made import NOW_MS, at, body_of, node, pod

TAINT = {"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": at(0)}


def on_node(name: str = "p", seconds: float | None = None, tolerates: bool = True, **fields: Any) -> JsonObject:
    toleration: JsonObject = {"key": "k", "operator": "Exists", "effect": "NoExecute"}
    if seconds is not None:
        toleration["tolerationSeconds"] = seconds
    spec = {"nodeName": "n1", "tolerations": [toleration] if tolerates else []}
    return pod(name, spec=spec, status={"phase": "Running"}, **fields)


def look(*manifests: JsonObject, now_ms: int = NOW_MS) -> Outcome:
    return TaintEviction().reconcile(FakeView(*manifests), "n1", now_ms)


def evicted(outcome: Outcome) -> list[str]:
    return [write.name for write in outcome.writes if isinstance(write, Delete)]


def test_who_endures_it_not_goes_at_once_and_is_marked() -> None:
    outcome = look(node(taints=[TAINT]), on_node("goes", tolerates=False), on_node("stays"))
    assert evicted(outcome) == ["goes"]
    mark = outcome.writes[0]
    assert isinstance(mark, Patch)
    [condition] = body_of(outcome)["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("DisruptionTarget", "DeletionByTaintManager")


def test_who_endures_it_for_a_while_goes_then() -> None:
    outcome = look(node(taints=[TAINT]), on_node(seconds=60))
    assert (outcome.writes, outcome.wake_at_ms) == ((), NOW_MS + 60_000)
    assert evicted(look(node(taints=[TAINT]), on_node(seconds=60), now_ms=NOW_MS + 60_000)) == ["p"]


def test_a_pod_that_came_later_has_its_time_from_then_on() -> None:
    outcome = look(node(taints=[TAINT]), on_node(seconds=60, creationTimestamp=at(30)))
    assert outcome.wake_at_ms == NOW_MS + 90_000


def test_of_several_taints_each_must_be_endured() -> None:
    other = {**TAINT, "key": "other"}
    assert evicted(look(node(taints=[TAINT, other]), on_node())) == ["p"]


def test_a_taint_without_a_time_gets_one_first() -> None:
    bare = {key: value for key, value in TAINT.items() if key != "timeAdded"}
    kept = {"key": "x", "effect": "NoSchedule"}
    outcome = look(node(taints=[bare, kept]), on_node(tolerates=False))
    assert body_of(outcome)["spec"]["taints"] == [TAINT, kept]
    assert evicted(outcome) == []


@pytest.mark.parametrize(
    "taints",
    [[], [{"key": "k", "effect": "NoSchedule"}], [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]],
)
def test_taints_that_drive_nobody_away_here(taints: list[JsonObject]) -> None:
    assert look(node(taints=taints), on_node(tolerates=False)) == NOTHING


def test_pods_that_ended_or_go_are_left_alone() -> None:
    ended = {**on_node("ended", tolerates=False), "status": {"phase": "Failed"}}
    going = on_node("going", tolerates=False, deletionTimestamp=at(0))
    assert evicted(look(node(taints=[TAINT]), ended, going)) == []


@pytest.mark.parametrize(
    ("toleration", "holds"),
    [
        (Toleration(operator="Exists"), True),
        (Toleration(key="k", operator="Exists"), True),
        (Toleration(key="k", value="v"), True),
        (Toleration(key="k", value="w"), False),
        (Toleration(key="j", operator="Exists"), False),
        (Toleration(key="k", operator="Exists", effect="NoSchedule"), False),
        (Toleration(value="v"), False),
    ],
)
def test_what_a_toleration_is_about(toleration: Toleration, holds: bool) -> None:
    assert tolerates(toleration, Taint(key="k", value="v", effect="NoExecute")) is holds
