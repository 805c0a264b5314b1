from __future__ import annotations

import pytest

from kumi.api.apps import ReplicaSet
from kumi.controllers.owners import owner_keys, reference, takers
from kumi.testing.view import FakeView, decoded

from .made import meta, pod


def owned_by(kind: str, api_version: str, *, controller: bool = True) -> dict[str, object]:
    owner = {"apiVersion": api_version, "kind": kind, "name": "o", "uid": "u", "controller": controller}
    return pod("p", ownerReferences=[owner])


def test_an_object_concerns_the_owner_that_manages_it_in_any_version_of_its_group() -> None:
    keys = owner_keys("apps", "ReplicaSet")
    assert keys(decoded(owned_by("ReplicaSet", "apps/v1"))) == ("team/o",)
    assert keys(decoded(owned_by("ReplicaSet", "apps/v1beta2"))) == ("team/o",)


@pytest.mark.parametrize(
    "other",
    [
        owned_by("Deployment", "apps/v1"),
        owned_by("ReplicaSet", "example.com/v1"),
        owned_by("ReplicaSet", "apps/v1", controller=False),
        pod("p"),
    ],
)
def test_and_no_other(other: dict[str, object]) -> None:
    assert owner_keys("apps", "ReplicaSet")(decoded(other)) == ()


def test_an_object_that_nobody_manages_concerns_all_that_select_it() -> None:
    def replica_set(name: str, namespace: str, **labels: str) -> dict[str, object]:
        spec = {"selector": {"matchLabels": labels}, "template": {}}
        return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta(name, namespace), "spec": spec}

    view = FakeView(
        *map(
            decoded, (replica_set("a", "team", x="1"), replica_set("b", "team", x="2"), replica_set("c", "else", x="1"))
        )
    )
    assert takers(ReplicaSet)(decoded(pod("p", labels={"x": "1"})), view) == ["team/a"]
    managed = {**owned_by("ReplicaSet", "apps/v1")}
    managed["metadata"]["labels"] = {"x": "1"}  # type: ignore[index]
    assert takers(ReplicaSet)(decoded(managed), view) == []


def test_a_reference_says_which_version_was_seen() -> None:
    found = reference(decoded(pod("p")))
    wanted = {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": "team",
        "name": "p",
        "uid": "uid-p",
        "resourceVersion": "1",
    }
    assert found == wanted
