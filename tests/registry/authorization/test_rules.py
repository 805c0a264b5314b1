from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.registry.authorization.rules import EVERYTHING, Asked, Rule, allows, merged, rule_of, singles, uncovered
from tests.registry.authorization.strategies import asked, rules


@given(st.lists(rules, max_size=3), rules, asked)
def test_whoever_covers_a_rule_may_do_what_it_allows(owner: list[Rule], rule: Rule, question: Asked) -> None:
    if not uncovered(owner, [rule]) and allows(rule, question):
        assert any(allows(one, question) for one in owner)


@given(rules)
def test_every_rule_covers_itself_and_everything_covers_every_rule(rule: Rule) -> None:
    assert uncovered([rule], [rule]) == []
    assert uncovered(EVERYTHING, [rule]) == []


@given(rules, asked)
def test_a_rule_allows_what_its_single_parts_allow(rule: Rule, question: Asked) -> None:
    assert allows(rule, question) == any(allows(single, question) for single in singles(rule))


@given(st.lists(rules, max_size=4), asked)
def test_merging_changes_nothing_that_is_allowed(several: list[Rule], question: Asked) -> None:
    assert any(allows(r, question) for r in several) == any(allows(r, question) for r in merged(several))


@given(asked)
def test_everything_allows_everything(question: Asked) -> None:
    assert any(allows(rule, question) for rule in EVERYTHING)


@given(rules)
def test_a_rule_is_written_as_it_is_read(rule: Rule) -> None:
    assert rule_of(rule.wire()) == rule


PODS = Rule(("get",), ("",), ("pods",))


@pytest.mark.parametrize(
    ("rule", "question", "allowed"),
    [
        (PODS, Asked("get", "", "pods", "ns", "p"), True),
        (PODS, Asked("list", "", "pods", "ns"), False),
        (PODS, Asked("get", "apps", "pods", "ns", "p"), False),
        (PODS, Asked("get", "", "pods/log", "ns", "p"), False),
        (Rule(("get",), ("",), ("pods/log",)), Asked("get", "", "pods/log", "ns", "p"), True),
        (Rule(("get",), ("",), ("pods/log",)), Asked("get", "", "pods", "ns", "p"), False),
        (Rule(("update",), ("*",), ("*/scale",)), Asked("update", "apps", "deployments/scale", "ns", "d"), True),
        (Rule(("update",), ("*",), ("*/scale",)), Asked("update", "apps", "deployments", "ns", "d"), False),
        (Rule(("*",), ("*",), ("*",)), Asked("impersonate", "", "users", name="ann"), True),
        (Rule(("*",), ("*",), ("*",)), Asked("get", path="/metrics"), False),
        (Rule(("get",), ("",), ("pods",), ("p",)), Asked("get", "", "pods", "ns", "p"), True),
        (Rule(("get",), ("",), ("pods",), ("p",)), Asked("get", "", "pods", "ns", "q"), False),
        (Rule(("list",), ("",), ("pods",), ("p",)), Asked("list", "", "pods", "ns"), False),
        (Rule(("get",), urls=("/api/*",)), Asked("get", path="/api/v1"), True),
        (Rule(("get",), urls=("/api/*",)), Asked("get", path="/api"), False),
        (Rule(("get",), urls=("/api",)), Asked("get", path="/api/"), False),
        (Rule(("get",), urls=("/api",)), Asked("post", path="/api"), False),
        (Rule(), Asked("get", "", "pods"), False),
    ],
)
def test_what_a_rule_allows(rule: Rule, question: Asked, allowed: bool) -> None:
    assert allows(rule, question) is allowed


def test_two_rules_of_the_owner_cover_one() -> None:
    owner = [Rule(("get",), ("",), ("pods",)), Rule(("list",), ("",), ("pods",))]
    assert uncovered(owner, [Rule(("get", "list"), ("",), ("pods",))]) == []


def test_a_name_does_not_cover_all_names() -> None:
    named = Rule(("get",), ("",), ("pods",), ("p",))
    assert uncovered([named], [PODS]) == [PODS]
    assert uncovered([PODS], [named]) == []


def test_what_is_lacking_is_told_thing_by_thing() -> None:
    lacking = uncovered([PODS], [Rule(("get", "list"), ("",), ("pods", "secrets"))])
    assert [(r.verbs[0], r.resources[0]) for r in lacking] == [
        ("list", "pods"), ("get", "secrets"), ("list", "secrets"),
    ]  # fmt: skip


def test_what_is_lacking_is_merged_for_people() -> None:
    lacking = merged(uncovered([], [Rule(("get", "list"), ("",), ("secrets",))]))
    assert [rule.text() for rule in lacking] == ['{APIGroups:[""], Resources:["secrets"], Verbs:["get", "list"]}']
