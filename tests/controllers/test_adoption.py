from __future__ import annotations

from typing import Any

from kumi.api.apps import ReplicaSet
from kumi.api.core import Pod
from kumi.api.meta import LabelSelector, LabelSelectorRequirement
from kumi.controllers.adoption import claim, is_selected
from kumi.testing.view import decoded

from .made import meta, pod

MINE = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "uid-rs", "controller": True}
THEIRS = {**MINE, "name": "other", "uid": "uid-other"}
SELECTOR = LabelSelector(match_labels={"a": "b"})


def owner(**fields: Any) -> ReplicaSet:
    made = decoded({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta("rs", "team", **fields)})
    assert isinstance(made, ReplicaSet)
    return made


def candidate(name: str = "p", labels: dict[str, str] | None = None, **fields: Any) -> Pod:
    made = decoded(pod(name, labels={"a": "b"} if labels is None else labels, **fields))
    assert isinstance(made, Pod)
    return made


def bodies(found: Any) -> list[Any]:
    return [patch.body["metadata"] for patch in found.writes]


def test_ours_are_managed_by_us_and_selected() -> None:
    mine, theirs = candidate(ownerReferences=[MINE]), candidate("q", ownerReferences=[THEIRS])
    found = claim(owner(), SELECTOR, [mine, theirs])
    assert (found.ours, found.writes) == ([mine], [])


def test_an_orphan_is_adopted_and_keeps_its_other_owners() -> None:
    guest = {**THEIRS, "controller": False}
    found = claim(owner(), SELECTOR, [candidate(ownerReferences=[guest])])
    [body] = bodies(found)
    assert [o["uid"] for o in body["ownerReferences"]] == ["uid-other", "uid-rs"]
    assert body["ownerReferences"][1] == {**MINE, "blockOwnerDeletion": True}
    assert body["resourceVersion"] == "1"
    assert found.ours == []


def test_what_is_selected_no_more_is_let_go() -> None:
    [body] = bodies(claim(owner(), SELECTOR, [candidate(labels={}, ownerReferences=[MINE])]))
    assert body["ownerReferences"] is None


def test_who_goes_adopts_nothing_and_lets_nothing_go() -> None:
    going = owner(deletionTimestamp="2026-01-01T00:00:00Z")
    assert claim(going, SELECTOR, [candidate(), candidate("q", labels={}, ownerReferences=[MINE])]).writes == []


def test_what_goes_is_not_adopted() -> None:
    assert claim(owner(), SELECTOR, [candidate(deletionTimestamp="2026-01-01T00:00:00Z")]).writes == []


def test_an_empty_selector_selects_nothing_and_terms_must_all_hold() -> None:
    assert not is_selected(LabelSelector(), {"a": "b"})
    terms = [
        LabelSelectorRequirement(key="a", operator="In", values=["b"]),
        LabelSelectorRequirement(key="x", operator="DoesNotExist"),
        LabelSelectorRequirement(key="y", operator="NotIn", values=["z"]),
        LabelSelectorRequirement(key="a", operator="Exists"),
    ]
    assert is_selected(LabelSelector(match_expressions=terms), {"a": "b"})
    assert not is_selected(LabelSelector(match_expressions=terms), {"a": "b", "x": "1"})
    assert not is_selected(LabelSelector(match_labels={"a": "c"}), {"a": "b"})
