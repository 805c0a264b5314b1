from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import KumiError
from kumi.bridge.into.neighbours import HARD, SOFT, neighbours, requirement, selector
from kumi.engine.model import Neighbours, PodTerm, Requirement, SpreadTerm

A = {"matchLabels": {"app": "a"}}
IS_A = (Requirement("app", "In", ("a",)),)


def read(
    affinity: dict[str, Any] | None = None, spread: list[dict[str, Any]] | None = None, **labels: str
) -> Neighbours:
    return neighbours(affinity, spread or [], labels) or Neighbours()


def test_a_selector_is_requirements_and_none_selects_nothing() -> None:
    written = {"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]}
    assert selector(written) == (
        Requirement("a", "In", ("1",)),
        Requirement("b", "In", ("2",)),
        Requirement("c", "Exists"),
    )
    assert selector(None) is None
    assert selector({}) == ()
    assert requirement({"key": "k", "operator": "In", "values": [1]}) == Requirement("k", "In", ("1",))


@pytest.mark.parametrize("bad", [{"operator": "Exists"}, {"key": "a"}, {"key": "", "operator": "In"}, {}])
def test_one_without_a_key_or_an_operator_cannot_be_read(bad: dict[str, Any]) -> None:
    with pytest.raises(KumiError, match="needs a key and an operator"):
        selector({"matchExpressions": [bad]})


def test_terms_are_kept_by_whether_they_must_hold_and_which_way() -> None:
    term = {"labelSelector": A, "topologyKey": "zone"}
    weighted = {"weight": 3, "podAffinityTerm": term}
    said = read({"podAffinity": {HARD: [term], SOFT: [weighted]}, "podAntiAffinity": {HARD: [term], SOFT: [weighted]}})
    one = PodTerm("zone", IS_A)
    assert said == Neighbours((one,), (one,), ((3, one),), ((3, one),))


def test_namespaces_are_named_or_selected() -> None:
    term = {"topologyKey": "zone", "namespaces": ["b", "a"], "namespaceSelector": {}}
    assert read({"podAffinity": {HARD: [term]}}).near == (PodTerm("zone", None, ("a", "b"), ()),)


def test_label_keys_ask_for_the_pods_own_values() -> None:
    term = {
        "labelSelector": A,
        "topologyKey": "z",
        "matchLabelKeys": ["rev", "app", "none"],
        "mismatchLabelKeys": ["ten"],
    }
    (one,) = read({"podAffinity": {HARD: [term]}}, rev="1", app="a", ten="x").near
    assert one.selector == (*IS_A, Requirement("rev", "In", ("1",)), Requirement("ten", "NotIn", ("x",)))


def test_a_constraint_is_hard_where_it_says_nothing_else() -> None:
    plain = {"topologyKey": "zone", "labelSelector": A, "maxSkew": 2}
    told = {
        **plain,
        "whenUnsatisfiable": "ScheduleAnyway",
        "minDomains": 3,
        "nodeAffinityPolicy": "Ignore",
        "nodeTaintsPolicy": "Honor",
    }
    assert read(spread=[plain, told]).spread == (
        SpreadTerm("zone", IS_A, 2),
        SpreadTerm("zone", IS_A, 2, False, 3, False, True),
    )


def test_who_says_nothing_of_others_has_no_neighbours() -> None:
    assert neighbours(None, [], {}) is None
    assert neighbours({"nodeAffinity": {}, "podAffinity": {HARD: []}}, [], {}) is None
