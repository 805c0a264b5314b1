"""Scoring words: arguments as a profile has them, and what the word means for gangs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kumi.engine.placement.conf import DEFAULT, Conf
from kumi.engine.placement.plugins import looks_at_mix
from kumi.engine.policy import PolicyError, parse


def scoring(conf: Conf) -> dict[str, dict[str, Any]]:
    """The plug-ins that score, and their arguments."""
    named = ("nodeorder", "binpack", "bestFit", "random", "fragmentation", "utilization", "fewestFree")
    return {option.name: dict(option.arguments.raw) for tier in conf.tiers for option in tier if option.name in named}


LOADS_OFF = {"leastrequested.weight": 0, "mostrequested.weight": 0, "balancedresource.weight": 0}


@pytest.mark.parametrize("raw", [{}, {"scoring": "binpack"}, {"scoring": "nodeorder"}])
def test_the_words_of_pods_on_their_own_leave_gangs_as_they_are(raw: dict[str, Any]) -> None:
    assert parse(raw).conf == DEFAULT


def test_another_word_takes_the_place_of_what_looks_at_how_full_nodes_are() -> None:
    assert scoring(parse({"scoring": "bestFit"}).conf) == {"nodeorder": LOADS_OFF, "bestFit": {}}
    assert scoring(parse({"scoring": "spread"}).conf) == {"nodeorder": {}}


def test_arguments_go_to_pods_and_gangs() -> None:
    profile = parse({"scoring": "random", "scoringArguments": {"seed": 4}})
    assert profile.arguments == {"scoring": "random", "seed": "4"}
    assert scoring(profile.conf)["random"] == {"random.seed": 4}
    written = [{"cpu": "2", "share": 300, "weight": 5}]
    profile = parse({"scoring": "fragmentation", "scoringArguments": {"typical": written}})
    assert json.loads(profile.arguments["typical"]) == written
    assert scoring(profile.conf)["fragmentation"] == {"fragmentation.typical": written}
    assert not looks_at_mix(profile)
    assert looks_at_mix(parse({"scoring": "fragmentation"}))


def test_who_writes_tiers_has_said_it_already() -> None:
    tiers = [{"plugins": [{"name": "gang"}, {"name": "binpack"}]}]
    assert list(scoring(parse({"scoring": "bestFit", "tiers": tiers}).conf)) == ["binpack"]


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ({"scoring": "bestFit", "scoringArguments": {"seed": 1}}, "scoringArguments.seed"),
        ({"scoring": "random", "scoringArguments": {"seed": "x"}}, "scoringArguments.seed"),
        ({"scoring": "random", "scoringArguments": [1]}, "scoringArguments"),
        (
            {"scoring": "fragmentation", "scoringArguments": {"typical": [{"gpus": -1}]}},
            "scoringArguments.typical[0].gpus",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_path(raw: dict[str, Any], path: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse(raw)
    assert [error.path for error in caught.value.errors] == [path]
