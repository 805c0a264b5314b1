"""Conf: the scheduler's file."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import FieldError
from kumi.engine.placement.actions import ACTIONS
from kumi.engine.placement.conf import DEFAULT, OFF_BY_DEFAULT, SWITCHES, VOLCANO, Arguments, Conf, parse, wrong_names
from kumi.engine.placement.plugins.registry import PLUGINS


def parsed(raw: Any, *, unsaid: bool = True) -> Conf:
    errors: list[FieldError] = []
    found = parse(raw, errors, unsaid=unsaid)
    assert errors == []
    return found


def wrong(raw: Any) -> list[str]:
    errors: list[FieldError] = []
    parse(raw, errors)
    return [e.path for e in errors]


def plugin(**said: Any) -> dict[str, Any]:
    return {"actions": "allocate", "tiers": [{"plugins": [{"name": "gang", **said}]}]}


def test_actions_and_tiers_keep_their_order() -> None:
    conf = parsed(
        {
            "actions": "enqueue, allocate ,backfill,",
            "tiers": [{"plugins": [{"name": "b"}, {"name": "a"}]}, {"plugins": [{"name": "c"}]}],
        }
    )
    assert conf.actions == ("enqueue", "allocate", "backfill")
    assert [[o.name for o in tier] for tier in conf.tiers] == [["b", "a"], ["c"]]


def test_switches_are_on_where_nothing_is_said_but_two() -> None:
    (((option,),)) = parsed(plugin()).tiers
    assert option.switches == set(SWITCHES) - set(OFF_BY_DEFAULT)


def test_a_switch_is_what_is_written() -> None:
    ((option,),) = parsed(plugin(enableJobOrder=False, enableHierarchy=True)).tiers
    assert "enableJobOrder" not in option.switches
    assert "enableHierarchy" in option.switches


def test_switches_that_are_not_written_can_be_off() -> None:
    ((option,),) = parsed(plugin(enableJobOrder=True), unsaid=False).tiers
    assert option.switches == {"enableJobOrder"}


def test_arguments_belong_to_a_plugin_or_an_action() -> None:
    conf = parsed(plugin(arguments={"x": 1}) | {"configurations": [{"name": "preempt", "arguments": {"y": 2}}]})
    ((option,),) = conf.tiers
    assert option.arguments.whole("x", 0) == 1
    assert conf.of_action("preempt").whole("y", 0) == 2
    assert conf.of_action("reclaim").raw == {}


def test_every_mistake_is_named_by_its_path() -> None:
    raw = {
        "actions": 5,
        "tiers": [{"plugins": [{"name": "a", "enabelJobOrder": True}, {"enableJobOrder": True}]}, "x"],
        "configurations": [{"arguments": {}}, {"name": "preempt", "arguments": "x"}],
    }
    assert wrong(raw) == [
        "actions",
        "tiers[0].plugins[0].enabelJobOrder",
        "tiers[0].plugins[1].name",
        "tiers[1]",
        "configurations[0].name",
        "configurations[1].arguments",
    ]
    assert wrong([]) == [""]
    assert wrong({"tiers": {}}) == ["tiers"]
    assert wrong(plugin(enableJobOrder="yes")) == ["tiers[0].plugins[0].enableJobOrder"]
    assert wrong(plugin(arguments=[1])) == ["tiers[0].plugins[0].arguments"]


def test_a_word_that_nobody_knows_is_a_mistake_wherever_it_is() -> None:
    assert wrong({"tiers": [{"plugin": [{"name": "gang"}]}]}) == ["tiers[0].plugin"]
    assert wrong({"configurations": [{"name": "preempt", "argument": {}}]}) == ["configurations[0].argument"]


def test_what_is_understood_keeps_its_place_beside_mistakes() -> None:
    errors: list[FieldError] = []
    conf = parse({"tiers": ["x", {"plugins": [{}, {"name": "gong"}]}]}, errors)
    assert [e.path for e in errors + wrong_names(conf, [], ["gang"])] == [
        "tiers[0]",
        "tiers[1].plugins[0].name",
        "tiers[1].plugins[1].name",
    ]


@pytest.mark.parametrize(("value", "whole"), [(3, 3), ("3", 3), (3.0, 9), ("x", 9), (True, 9), (None, 9)])
def test_a_whole_number_must_be_one(value: object, whole: int) -> None:
    assert Arguments({"n": value}).whole("n", 9) == whole


@pytest.mark.parametrize(("value", "number"), [(3, 3.0), (1.5, 1.5), ("1.5", 1.5), ("x", 9.0), (True, 9.0)])
def test_a_number_may_be_whole(value: object, number: float) -> None:
    assert Arguments({"n": value}).number("n", 9.0) == number


@pytest.mark.parametrize(("value", "on"), [(True, True), ("False", False), (" true ", True), ("yes", True), (0, True)])
def test_what_is_no_switch_counts_as_not_said(value: object, on: bool) -> None:
    assert Arguments({"n": value}).switch("n", default=True) is on


def test_a_word_is_text() -> None:
    assert Arguments({"n": "x"}).text("n") == "x"
    assert Arguments({"n": 1}).text("n", "y") == "y"


def test_names_that_nobody_knows_are_named_by_their_path() -> None:
    conf = parsed(
        {
            "actions": "allocate, dance",
            "tiers": [{"plugins": [{"name": "gang"}, {"name": "gong"}]}],
            "configurations": [{"name": "preempt"}, {"name": "sing"}],
        }
    )
    found = wrong_names(conf, ["allocate", "preempt"], ["gang"])
    assert [(e.path, e.value) for e in found] == [
        ("actions", "dance"),
        ("tiers[0].plugins[1].name", "gong"),
        ("configurations[1].name", "sing"),
    ]
    assert 'supported values: "allocate", "preempt"' in found[0].text()


@pytest.mark.parametrize(
    ("hierarchy", "tiers", "paths"), [(True, 1, ["tiers[0].plugins"]), (True, 2, []), (False, 1, [])]
)
def test_two_plugins_that_share_out_the_same_are_not_in_a_tier(hierarchy: bool, tiers: int, paths: list[str]) -> None:
    both = [{"name": "drf", "enableHierarchy": hierarchy}, {"name": "proportion"}]
    parted = [{"plugins": both}] if tiers == 1 else [{"plugins": [one]} for one in both]
    conf = parsed({"actions": "allocate", "tiers": parted})
    assert [e.path for e in wrong_names(conf, ["allocate"], ["drf", "proportion"])] == paths


@pytest.mark.parametrize("conf", [VOLCANO, DEFAULT], ids=["volcano", "default"])
def test_what_counts_where_nothing_is_said_names_what_is_there(conf: Conf) -> None:
    assert wrong_names(conf, list(ACTIONS), list(PLUGINS)) == []
