"""Nodes that go, and come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kumi.evaluator.model import START_MS
from kumi.evaluator.scenarios.outages import outages
from kumi.evaluator.scenarios.steps import Step
from tests.evaluator.scenarios.told import faults, node, part, step

THERE = [step(node(name)) for name in ("a-0", "a-1", "b")]


def told(steps: Sequence[Step]) -> list[tuple[int, str, str]]:
    return [((s.at_ms - START_MS) // 1000, s.verb, s.object["metadata"]["name"]) for s in steps]


def played(section: str, said: Any, seed: int = 0) -> list[tuple[int, str, str]]:
    one = part(said)
    found = outages([(section, one)], THERE, START_MS, START_MS + 86_400_000)
    assert faults(one) == []
    return told(list(found.steps(seed)))  # type: ignore[arg-type]


def test_a_node_fails_and_is_back_as_it_was() -> None:
    assert played("failures", {"nodes": "b", "at": "10s", "for": "5s"}) == [(10, "delete", "b"), (15, "create", "b")]
    assert played("failures", {"nodes": "b", "at": "10s"}) == [(10, "delete", "b")], "or never"


def test_a_spot_node_has_its_notice_before() -> None:
    assert played("spot", {"nodes": "b", "at": "10m", "for": "1m"}) == [
        (480, "update", "b"),
        (600, "delete", "b"),
        (660, "create", "b"),
    ]


def test_maintenance_has_the_notice_that_it_says() -> None:
    assert played("maintenance", {"nodes": "b", "at": "10s", "for": "1s", "notice": "3s"})[0] == (7, "update", "b")
    assert played("maintenance", {"nodes": "b", "at": "10s", "for": "1s"})[0] == (10, "delete", "b")


def test_patterns_name_several_nodes() -> None:
    assert {name for _, _, name in played("failures", {"nodes": ["a-*", "b"], "at": "1s"})} == {"a-0", "a-1", "b"}


@given(st.integers(0, 20))
def test_failures_by_chance_are_the_same_for_equal_seeds_and_each_nodes_own(seed: int) -> None:
    said = {"nodes": "a-*", "every": "3h", "for": {"exponential": "10m"}}
    found = played("failures", said, seed)
    assert found == played("failures", said, seed)
    assert [at for at, _, _ in found] == sorted(at for at, _, _ in found)
    first = [(at, verb) for at, verb, name in found if name == "a-0"]
    assert [verb for _, verb in first] == ["delete", "create"] * (len(first) // 2) + ["delete"] * (len(first) % 2)
    assert first != [(at, verb) for at, verb, name in found if name == "a-1"]


def test_a_plan_is_no_chance() -> None:
    assert played("maintenance", {"nodes": "b", "every": "10h", "for": "1h"}) == [
        (36_000, "delete", "b"),
        (39_600, "create", "b"),
        (75_600, "delete", "b"),
        (79_200, "create", "b"),
    ]


def test_a_node_that_is_out_for_two_reasons_is_back_when_both_are_over() -> None:
    sections = [
        ("failures", part({"nodes": "b", "at": "10s", "for": "10s"})),
        ("maintenance", part({"nodes": "b", "at": "15s", "for": "20s", "notice": "3s"})),
    ]
    found = list(outages(sections, THERE, START_MS, None).steps(0))
    assert told(found) == [(10, "delete", "b"), (35, "create", "b")]  # type: ignore[arg-type]


def test_what_is_wrong_is_noted() -> None:
    one = part([{"at": "1s", "every": "1s"}, {"nodes": "c", "every": "1s"}])
    outages([("failures", one)], THERE, START_MS, None)
    assert faults(one) == [
        "here[0].nodes: says which nodes: names, or patterns like big-*",
        "here[0]: needs one of `at` (once) and `every` (by chance)",
        "here[0]: goes on for ever: say `until` here, or in the scenario",
        "here[1].nodes: no node of the cluster is called 'c'",
        "here[1]: goes on for ever: say `until` here, or in the scenario",
    ]
