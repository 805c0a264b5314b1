"""Runs of one seed must have had the same jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings

from kumi.evaluator import evaluate
from kumi.evaluator.compare import compare
from kumi.evaluator.model import Arrive, Event, Load, Policy
from kumi.evaluator.paired import first_other, paired
from kumi.evaluator.play import Limits, Played
from kumi.testing.builders import node
from tests.evaluator.loads import loads, policies
from tests.evaluator.stories import job
from tests.evaluator.told import Told, played

DRAWN = count()


def drawn() -> Iterator[Event]:
    """Other jobs each time."""
    for number in range(3):
        yield Arrive(job(f"j{number}", at_ms=number * 1000, cpu=1, runs_ms=1000 + next(DRAWN)))


def run(policy: str = "fifo", stopped: str = "", jobs: int = 3, **odd: Any) -> Played:
    """A run of so many jobs, of which the second is another."""
    told = Told()
    told.node("n")
    for number in range(jobs):
        told.job(f"j{number}", number, **(odd if number == 1 else {}))
    return Played(told.close(100), policy, 0, 0.5, stopped=stopped)


@settings(max_examples=20)
@given(loads(), policies(), policies())
def test_policies_that_are_given_one_load_have_the_same_jobs(load: Load, one: Policy, other: Policy) -> None:
    first, second = (Played(played(load, policy), policy.name, 0, 0.5) for policy in (one, other))
    assert first_other(first, second) == ""


@pytest.mark.parametrize("odd", [{"runs": 11}, {"due": 50}, {"priority": 3}, {"gpus": 2}, {"pods": 2}])
def test_whatever_is_other_of_a_job_is_noticed(odd: dict[str, Any]) -> None:
    assert first_other(run(), run(**odd)) == "default/j1"


def test_a_name_is_noticed_too_also_one_as_long_as_the_other() -> None:
    names = []
    for name in ("j1", "j2", "longer"):
        told = Told()
        told.job("a")
        told.job(name, 1)
        names.append(Played(told.close(9), "p", 0, 0.5))
    assert [first_other(names[0], other) for other in names] == ["", "default/j2", "default/longer"]


def test_a_run_that_was_cut_short_may_have_had_fewer_but_no_other_may() -> None:
    assert first_other(run(), run(jobs=2, stopped="It was stopped.")) == ""
    assert first_other(run(), run(jobs=2)) == first_other(run(jobs=2), run()) == "default/j2"


def test_only_runs_of_one_seed_and_one_set_of_parameters_are_held_against_each_other() -> None:
    odd = run("easy", runs=11)
    others = [replace(odd, seed=1), replace(odd, parameters=(("load", 0.5),)), None]
    assert [one.notes if one else None for one in paired([run(), *others])] == [(), (), (), None]
    (_, noted) = paired([run(), odd])
    assert noted is not None
    assert "not those that fifo had with seed 0 (the first that differs: default/j1)" in noted.summary["notes"][0]


def test_an_experiment_says_where_a_load_is_another_one_each_time() -> None:
    load = Load("drawn", (node("n", cpu=4),), drawn)
    fifo, easy = evaluate(load, ["fifo", "easy"], limits=Limits(virtual_ms=3_600_000))
    assert fifo.notes == ()
    assert "a load must be the same for equal seeds" in easy.notes[0]
    assert compare([one.summary for one in (fifo, easy)])
