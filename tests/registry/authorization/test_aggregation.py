from __future__ import annotations

from typing import Any

from kumi.api.wire import JsonObject
from kumi.registry.authorization.aggregation import aggregated, filled
from tests.registry.authorization.made import role, rule

PODS, JOBS = rule("get", "pods"), rule("get", "jobs", "batch")


def labelled(name: str, *rules: JsonObject, **more: Any) -> JsonObject:
    made = role(*rules, name=name, **more)
    made["metadata"]["labels"] = {"to": name[0]}
    return made


def of(*values: str) -> JsonObject:
    return {"clusterRoleSelectors": [{"matchLabels": {"to": value}} for value in values]}


def test_the_rules_are_those_of_the_selected_by_selector_then_name_each_once() -> None:
    roles = [labelled("a2", PODS), labelled("b1", JOBS), labelled("a1", JOBS, PODS), labelled("c1", rule("*", "*"))]
    assert aggregated(role(name="all", aggregationRule=of("b", "a")), roles) == [JOBS, PODS]


def test_an_empty_selector_selects_all_others() -> None:
    own = labelled("x", rule("*", "*"), aggregationRule={"clusterRoleSelectors": [{}]})
    assert aggregated(own, [own, labelled("a", PODS)]) == [PODS]


def test_aggregates_of_aggregates_are_filled_whatever_the_order() -> None:
    whole = role(name="whole", aggregationRule=of("m"))
    middle = labelled("middle", aggregationRule=of("a"))
    for order in ([whole, middle, labelled("a", PODS)], [labelled("a", PODS), middle, whole]):
        assert {r["metadata"]["name"]: r["rules"] for r in filled(order)} == {
            "whole": [PODS], "middle": [PODS], "a": [PODS],
        }  # fmt: skip


def test_two_that_are_made_of_each_other_end() -> None:
    one, two = labelled("one", aggregationRule=of("t", "a")), labelled("two", aggregationRule=of("o"))
    found = filled([one, two, labelled("a", PODS)])
    assert [r["rules"] for r in found] == [[PODS], [PODS], [PODS]]


def test_what_has_its_rules_already_is_the_same_object() -> None:
    roles = filled([role(name="whole", aggregationRule=of("a")), labelled("a", PODS)])
    assert [new is old for new, old in zip(filled(roles), roles, strict=True)] == [True, True]
