"""Arguments that can't be read, and those that nobody asks for."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import FieldError
from kumi.engine.placement.asked import look
from kumi.engine.placement.conf import DEFAULT, NOT_SERVED, VOLCANO, Conf, parse
from kumi.engine.placement.plugins.gang import Gang
from kumi.engine.placement.plugins.registry import PLUGINS

AT = "tiers[0].plugins[0]"


def looked(raw: Any, others: dict[str, Any] | None = None) -> tuple[list[str], list[str]]:
    """The paths of what is wrong and of what is odd, below the first plug-in's arguments."""
    errors: list[FieldError] = []
    conf = parse(raw, errors)
    assert errors == []
    wrong, odd = look(conf, others or {})
    return [e.path.removeprefix(f"{AT}.arguments.") for e in wrong], [
        e.path.removeprefix(f"{AT}.arguments.") for e in odd
    ]


def plugin(name: str, **arguments: Any) -> tuple[list[str], list[str]]:
    written = {key.replace("__", "."): value for key, value in arguments.items()}
    return looked({"tiers": [{"plugins": [{"name": name, "arguments": written}]}]})


def action(name: str, **arguments: Any) -> tuple[list[str], list[str]]:
    wrong, odd = looked({"configurations": [{"name": "shuffle"}, {"name": name, "arguments": arguments}]})
    at = "configurations[1].arguments."
    return [path.removeprefix(at) for path in wrong], [path.removeprefix(at) for path in odd]


@pytest.mark.parametrize("name", sorted(PLUGINS))
def test_no_plug_in_reads_an_argument_that_is_not_asked_for(name: str) -> None:
    assert plugin(name) == ([], [])
    assert plugin(name, nonsense=1) == ([], ["nonsense"])


@pytest.mark.parametrize("conf", [DEFAULT, VOLCANO], ids=["kumi", "volcano"])
def test_what_counts_where_nothing_is_said_is_right(conf: Conf) -> None:
    assert look(conf, {}) == ([], [])


@pytest.mark.parametrize(
    ("name", "arguments", "path"),
    [
        ("binpack", {"binpack__weight": "heavy"}, "binpack.weight"),
        ("binpack", {"binpack__resources": 3}, "binpack.resources"),
        ("binpack", {"binpack__resources": "a/b", "binpack.resources.a/b": "x"}, "binpack.resources.a/b"),
        ("capacity", {"ancestorReclaimLevel": 1.5}, "ancestorReclaimLevel"),
        ("fragmentation", {"fragmentation__typical": [{"cpu": "x"}]}, "fragmentation.typical"),
        ("nodegroup", {"strict": "maybe"}, "strict"),
        ("nodeorder", {"podaffinity__weight": True}, "podaffinity.weight"),
        ("overcommit", {"overcommit-factor": "abc"}, "overcommit-factor"),
        ("sla", {"sla-waiting-time": "junk"}, "sla-waiting-time"),
        ("sla", {"sla-waiting-time": 10}, "sla-waiting-time"),
        ("tdm", {"tdm.revocable-zone.rz1": "25:00-26:00"}, "tdm.revocable-zone.rz1"),
        ("tdm", {"tdm__evict__period": "xx"}, "tdm.evict.period"),
        ("usage", {"thresholds": 80}, "thresholds"),
        ("usage", {"thresholds": {"cpu": "80"}}, "thresholds.cpu"),
        ("resource-strategy-fit", {"resources": {"a/b": {"type": "Bogus"}}}, "resources.a/b.type"),
        ("resource-strategy-fit", {"resources": {"cpu": {"weight": "x"}}}, "resources.cpu.weight"),
        ("resource-strategy-fit", {"resources": {"cpu": 1}}, "resources.cpu"),
        ("resource-strategy-fit", {"sra": {"enable": "x"}}, "sra.enable"),
        (
            "resource-strategy-fit",
            {"proportional": {"resources": "a", "resourceProportion": {"a.cpu": -1}}},
            "proportional.resourceProportion.a.cpu",
        ),
    ],
)
def test_a_value_that_can_not_be_read_is_wrong(name: str, arguments: dict[str, Any], path: str) -> None:
    assert plugin(name, **arguments) == ([path], [])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (
            "binpack",
            {"binpack__weight": "5", "binpack__cpu": -5, "binpack__resources": "a/b", "binpack.resources.a/b": 2},
        ),
        ("predicates", {"predicate__NodePortsEnable": "true", "predicate__CacheEnable": True}),
        (
            "resource-strategy-fit",
            {"sra": {"enable": False, "resources": "a", "weight": 1, "resourceWeight": {"a": 2}}},
        ),
        ("tdm", {"tdm.revocable-zone.rz1": "22:00-6:00", "tdm__evict__period": "1m30s"}),
        ("usage", {"thresholds": {"cpu": 80, "mem": 70}}),
    ],
)
def test_what_can_be_read_is_neither_wrong_nor_odd(name: str, arguments: dict[str, Any]) -> None:
    assert plugin(name, **arguments) == ([], [])


@pytest.mark.parametrize(
    ("name", "arguments", "path"),
    [
        ("binpack", {"binpack__wieght": 3}, "binpack.wieght"),
        ("binpack", {"binpack.resources.a/b": 3}, "binpack.resources.a/b"),
        ("usage", {"thresholds": {"disk": 1}}, "thresholds.disk"),
        ("resource-strategy-fit", {"resources": {"a*b": {}}}, "resources.a*b"),
    ],
)
def test_a_name_that_nobody_knows_is_odd(name: str, arguments: dict[str, Any], path: str) -> None:
    assert plugin(name, **arguments) == ([], [path])


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "preempt",
            {"enableTopologyAwarePreemption": "true", "minCandidateNodesAbsolute": 3},
            "enableTopologyAwarePreemption",
        ),
        ("gangpreempt", {"maxDomains": 3, "equalPriority": True}, "equalPriority"),
        ("gangreclaim", {"allowWholeBundle": False}, "maxDomains"),
        ("easy", {"depth": 7}, "depth"),
        ("allocate", {"predicateErrorCacheEnable": True}, ""),
    ],
)
def test_actions_have_arguments_too(name: str, good: dict[str, Any], bad: str) -> None:
    assert action(name, **good) == ([], [])
    assert action(name, nonsense=1) == ([], ["nonsense"])
    if bad:
        assert action(name, **{bad: "maybe"}) == ([bad], [])


@pytest.mark.parametrize("name", NOT_SERVED)
def test_a_plug_in_of_volcanos_that_is_not_served_is_odd(name: str) -> None:
    assert plugin(name, anything=1) == ([], [f"{AT}.name"])


def test_plug_ins_of_others_read_their_arguments_as_they_like() -> None:
    raw = {"tiers": [{"plugins": [{"name": name, "arguments": {"x": 1}} for name in ("mine", "extender")]}]}
    assert looked(raw, {"mine": Gang, "extender": Gang}) == ([], [])
