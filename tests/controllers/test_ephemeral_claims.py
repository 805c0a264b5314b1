"""Claims that are made with their pod."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.controllers.ephemeral_claims import EphemeralClaims
from kumi.runtime.reconcile import NOTHING, Create, Outcome
from kumi.testing.view import FakeView
from tests.controllers.storage import claim, pod

SPEC = claim()["spec"]


def owner(**status: Any) -> dict[str, Any]:
    made = pod("p", ())
    template = {"metadata": {"labels": {"a": "b"}}, "spec": SPEC}
    made["metadata"]["uid"] = "u"
    made["spec"]["volumes"] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
    return {**made, "status": status}


def look(*manifests: dict[str, Any]) -> Outcome:
    return EphemeralClaims().reconcile(FakeView(*manifests), "ns/p", 0)


def test_each_template_becomes_a_claim_of_the_pod() -> None:
    (write,) = look(owner()).writes
    assert isinstance(write, Create)
    assert write.object["spec"] == SPEC
    assert write.object["metadata"] == {
        "name": "p-scratch",
        "namespace": "ns",
        "labels": {"a": "b"},
        "ownerReferences": [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": "p",
                "uid": "u",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }


def test_one_that_is_there_is_enough() -> None:
    made = claim("p-scratch")
    made["metadata"]["ownerReferences"] = [{"kind": "Pod", "name": "p", "uid": "u", "controller": True}]
    assert look(owner(), made) == NOTHING


def test_one_of_another_is_left_alone_and_told_of() -> None:
    outcome = look(owner(), claim("p-scratch"))
    assert outcome.writes == ()
    assert [note.reason for note in outcome.notes] == ["FailedBinding"]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_for_a_pod_that_is_over_nothing_is_made(phase: str) -> None:
    assert look(owner(phase=phase)) == NOTHING


def test_a_pod_without_templates_is_nobodys_business() -> None:
    keys = EphemeralClaims().watches.keys
    made = FakeView(pod(), owner())
    pods = made.list(next(iter(keys)))
    assert [key for p in pods for key in keys[type(p)](p)] == ["ns/p"]
