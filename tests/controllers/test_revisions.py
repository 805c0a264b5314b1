from __future__ import annotations

from copy import deepcopy
from typing import Any

from kumi.api.apps import Deployment, ReplicaSet
from kumi.controllers import revisions
from kumi.testing.view import decoded

from .made import meta

TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def deployment(**fields: Any) -> Deployment:
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
    made = decoded({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("d", "ns", **fields), "spec": spec})
    assert isinstance(made, Deployment)
    return made


def stored(of: Deployment, **fields: Any) -> ReplicaSet:
    manifest = revisions.made(of, 1, 3, 1)
    manifest["metadata"] |= {"uid": "u", "resourceVersion": "1", **fields}
    made = decoded(manifest)
    assert isinstance(made, ReplicaSet)
    return made


def test_a_set_that_was_made_for_a_template_is_found_by_it() -> None:
    of = deployment()
    mine = stored(of)
    assert revisions.new_set(of, [mine]) is mine
    other = deepcopy(of)
    other.spec.template["spec"]["containers"][0]["image"] = "new"
    assert revisions.new_set(other, [mine]) is None


def test_of_several_with_the_template_the_oldest_is_it() -> None:
    of = deployment()
    old = stored(of, name="b", creationTimestamp="2026-01-01T00:00:00Z")
    young = stored(of, name="a", creationTimestamp="2026-01-02T00:00:00Z")
    assert revisions.new_set(of, [young, old]) is old


def test_a_set_has_the_hash_in_name_labels_and_selector() -> None:
    made = revisions.made(deployment(), 2, 3, 4)
    hash_ = made["metadata"]["name"].removeprefix("d-")
    assert made["metadata"]["labels"] == {"a": "b", "pod-template-hash": hash_}
    assert made["spec"]["selector"]["matchLabels"] == made["spec"]["template"]["metadata"]["labels"]
    assert made["metadata"]["annotations"][revisions.REVISION] == "4"


def test_a_collision_makes_another_hash() -> None:
    assert revisions.template_hash(TEMPLATE, 0) != revisions.template_hash(TEMPLATE, 1)


def test_annotations_are_taken_over_but_for_the_bookkeeping() -> None:
    of = deployment(
        annotations={"note": "x", revisions.REVISION: "9", "kubectl.kubernetes.io/last-applied-configuration": "y"}
    )
    assert revisions.inherited(of) == {"note": "x"}


def test_one_that_becomes_new_again_remembers_its_number() -> None:
    of = deployment()
    mine = stored(of)
    assert revisions.renumbered(of, mine, 1) == {}
    again = revisions.renumbered(of, mine, 3)
    assert again == {revisions.REVISION: "3", revisions.HISTORY: "1"}
