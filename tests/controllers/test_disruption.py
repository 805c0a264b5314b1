from __future__ import annotations

from typing import Any

import pytest

from kumi.api.wire import JsonObject
from kumi.controllers.disruption import GRANT_MS, DisruptionController
from kumi.runtime.reconcile import Outcome
from kumi.testing.view import FakeView

from .made import NOW_MS, at, body_of, condition, meta, pod

READY = {"phase": "Running", "conditions": [condition("Ready", "True")]}


def budget(status: JsonObject | None = None, **spec: Any) -> JsonObject:
    given = {"selector": {"matchLabels": {"a": "b"}}, **spec}
    made = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta("pdb", "team", generation=2)}
    return {**made, "spec": given, "status": status or {}}


def guarded(name: str, ready: bool = True, owner: JsonObject | None = None, **fields: Any) -> JsonObject:
    owners = {"ownerReferences": [owner]} if owner else {}
    return pod(name, labels={"a": "b"}, status=READY if ready else {"phase": "Running"}, **owners, **fields)


def sized(kind: str, name: str, replicas: int, **fields: Any) -> JsonObject:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": meta(name, "team", **fields),
        "spec": {"replicas": replicas},
    }


def by(kind: str, name: str) -> JsonObject:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}


def look(*manifests: JsonObject) -> Outcome:
    return DisruptionController().reconcile(FakeView(*manifests), "team/pdb", NOW_MS)


def counts(*manifests: JsonObject) -> tuple[int, int, int, int]:
    status = body_of(look(*manifests))["status"]
    names = ("expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed")
    found = [int(status.get(name, 0)) for name in names]
    return found[0], found[1], found[2], found[3]


def test_a_number_that_must_stay() -> None:
    assert counts(budget(minAvailable=1), guarded("a"), guarded("b"), guarded("c", ready=False)) == (3, 1, 2, 1)


def test_a_number_that_may_go_and_shares_are_of_what_is_wanted() -> None:
    pods = [guarded(name, owner=by("StatefulSet", "s")) for name in ("a", "b")]
    there = sized("StatefulSet", "s", 4)
    assert counts(budget(maxUnavailable=1), there, *pods) == (4, 3, 2, 0)
    assert counts(budget(minAvailable="30%"), there, *pods) == (4, 2, 2, 0)
    assert counts(budget(maxUnavailable="75%"), there, *pods) == (4, 1, 2, 1)


def test_the_size_of_a_deployment_counts_not_that_of_its_sets() -> None:
    sets = [
        sized("Deployment", "d", 3),
        sized("ReplicaSet", "new", 3, ownerReferences=[by("Deployment", "d")]),
        sized("ReplicaSet", "old", 2, ownerReferences=[by("Deployment", "d")]),
    ]
    pods = [guarded("a", owner=by("ReplicaSet", "new")), guarded("b", owner=by("ReplicaSet", "old"))]
    assert counts(budget(maxUnavailable=1), *sets, *pods)[:2] == (3, 2)


def test_what_has_ended_or_goes_is_not_well() -> None:
    ended = {**guarded("ended"), "status": {**READY, "phase": "Succeeded"}}
    going = guarded("going", deletionTimestamp=at(0))
    assert counts(budget(minAvailable=0), guarded("a"), ended, going) == (2, 0, 1, 1)


def test_a_grant_counts_until_the_pod_goes_or_time_is_up() -> None:
    granted = {"disruptedPods": {"a": at(0), "gone": at(0), "old": at(-GRANT_MS / 1000)}}
    outcome = look(budget(granted, minAvailable=1), guarded("a"), guarded("b"), guarded("old"))
    status = body_of(outcome)["status"]
    assert status["disruptedPods"] == {"gone": None, "old": None}
    assert (status["currentHealthy"], status["disruptionsAllowed"]) == (2, 1)
    assert outcome.wake_at_ms == NOW_MS + GRANT_MS


@pytest.mark.parametrize(("selector", "expected"), [({}, 1), (None, 0)])
def test_an_empty_selector_guards_all_and_none_guards_none(selector: JsonObject | None, expected: int) -> None:
    made = budget(minAvailable=1, selector=selector)
    assert counts(made, pod("any", status=READY))[0] == expected


def test_it_says_whether_it_allows_any_and_is_quiet_when_nothing_changes() -> None:
    outcome = look(budget(minAvailable=1), guarded("a"))
    status = body_of(outcome)["status"]
    [told] = status["conditions"]
    assert (told["type"], told["status"], told["reason"]) == ("DisruptionAllowed", "False", "InsufficientPods")
    assert status["observedGeneration"] == 2
    assert look(budget(status, minAvailable=1), guarded("a")).writes == ()
