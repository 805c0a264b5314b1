"""Words: what a policy's words mean for gangs."""

from __future__ import annotations

import pytest

from kumi.engine.placement.conf import SWITCHES
from kumi.engine.policy import parse


def order(raw: dict[str, object]) -> list[str]:
    """The plug-ins that order gangs, in their order."""
    named = [option for tier in parse(raw).conf.tiers for option in tier]
    orders = ("priority", "least_slack", "shortest", "deadline", "drf")
    return [o.name for o in named if o.name in orders and "enableJobOrder" in o.switches]


@pytest.mark.parametrize(
    ("word", "plugins"),
    [
        (None, ["priority", "least_slack"]),
        ("time", ["priority"]),
        ("leastSlack", ["priority", "least_slack"]),
        ("shortest", ["priority", "shortest"]),
        ("deadline", ["priority", "deadline"]),
        ("fair", ["priority", "drf"]),
    ],
)
def test_the_order_of_the_queue_is_a_plug_in_behind_priority(word: str | None, plugins: list[str]) -> None:
    assert order({} if word is None else {"queueOrder": word}) == plugins


def test_volcanos_plug_ins_that_have_more_to_say_say_it_still() -> None:
    tiers = parse({"profile": "volcano", "queueOrder": "shortest"}).conf.tiers
    assert [o.name for o in tiers[0]][:2] == ["priority", "shortest"]
    (drf,) = [o for tier in tiers for o in tier if o.name == "drf"]
    assert (drf.switches & {"enableJobOrder"}, "enablePreemptable" in drf.switches) == (frozenset(), True)
    assert order({"profile": "volcano", "queueOrder": "fair"}) == ["priority", "drf"]


def test_tiers_that_are_written_are_what_counts() -> None:
    assert order({"queueOrder": "shortest", "tiers": [{"plugins": [{"name": "drf"}]}]}) == ["drf"]


def test_an_order_only_orders() -> None:
    (option,) = [o for tier in parse({"queueOrder": "deadline"}).conf.tiers for o in tier if o.name == "deadline"]
    assert set(SWITCHES) - option.switches >= {"enablePreemptable"}


@pytest.mark.parametrize("line", ["strict", "easy", "conservative"])
def test_the_line_is_the_action_in_the_place_of_allocate(line: str) -> None:
    conf = parse({"line": line, "lineDepth": 7}).conf
    assert (conf.actions[0], "allocate" in conf.actions, conf.of_action(line).whole("depth", 0)) == (line, False, 7)
    assert parse({"line": "open"}).conf == parse({}).conf


def test_actions_and_a_depth_that_are_written_are_what_counts() -> None:
    given = {"actions": "allocate", "configurations": [{"name": "easy", "arguments": {"depth": 3}}], "line": "easy"}
    conf = parse(given).conf
    assert (conf.actions, conf.of_action("easy").whole("depth", 0)) == (("allocate",), 3)
