"""Task mix: a policy that wants to know what tasks are like is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kumi.engine.model import PodShape
from kumi.engine.placement.plugins.typical import Typical
from kumi.engine.policy import parse
from kumi.evaluator.engine import Run
from kumi.evaluator.model import Arrive, Job, Load, Policy, Role
from kumi.evaluator.policies import built_in
from kumi.evaluator.reshape import packing
from kumi.evaluator.task_mix import mix_of, profile_for
from kumi.evaluator.traces import openb
from kumi.testing.builders import GPU

TRACES = Path(__file__).parents[2].parent / "shared" / "traces"
SHARED = PodShape((("cpu", 2000), (GPU, 460)), share=460)
PLAIN = PodShape((("cpu", 1000),))


def load() -> Load:
    jobs = [
        Job("ns/a", 0, (Role("main", 3, SHARED), Role("side", 1, PLAIN)), 10),
        Job("ns/b", 5, (Role("main", 2, PLAIN),), 10),
    ]
    return Load("two jobs", (), lambda: iter([Arrive(job) for job in jobs]), start_ms=0)


def fragmentation(arguments: dict[str, object] | None = None) -> Policy:
    raw = {"scoring": "fragmentation"} | ({"scoringArguments": arguments} if arguments else {})
    return Policy("fragmentation", parse(raw))


def test_it_is_all_pods_of_all_jobs() -> None:
    assert mix_of(load()) == (Typical(1000, 0, 0, (), 3), Typical(2000, 460, 0, (), 3))


def test_a_policy_that_names_none_gets_that_of_the_load_for_pods_and_for_gangs() -> None:
    profile = profile_for(fragmentation(), load(), 7)
    rows = [{"cpu": "1", "weight": 3}, {"cpu": "2", "weight": 3, "share": 460}]
    assert json.loads(profile.arguments["typical"]) == rows
    (option,) = [o for tier in profile.conf.tiers for o in tier if o.name == "fragmentation"]
    assert option.arguments.raw["fragmentation.typical"] == rows
    assert profile.arguments["seed"] == "7"


def test_a_policy_that_names_its_own_keeps_it() -> None:
    own = [{"cpu": "4", "gpus": 1, "weight": 1}]
    profile = profile_for(fragmentation({"typical": own}), load(), 0)
    assert json.loads(profile.arguments["typical"]) == [{"cpu": "4", "weight": 1, "gpus": 1}]
    (option,) = [o for tier in profile.conf.tiers for o in tier if o.name == "fragmentation"]
    assert option.arguments.raw["fragmentation.typical"] == own


def test_other_policies_are_told_nothing_and_the_load_is_not_looked_at() -> None:
    def never() -> None:
        raise AssertionError("looked at")

    policy = Policy("binpack", parse({"scoring": "binpack"}))
    assert profile_for(policy, replace(load(), events=never), 0) == policy.seeded(0)  # type: ignore[arg-type]


def allocated(name: str, trace: Load, seed: int) -> float:
    """Thousandths of GPUs in percent, when all have come."""
    run = Run(packing(trace, 1.3, seed), built_in(name), seed)
    while run.advance(100_000):
        pass
    nodes, line = run.state.nodes, run.state.nodes.line_by_resource[GPU]
    return float(100 * nodes.used[line].sum() / nodes.allocatable[line].sum())


@pytest.mark.skipif(not TRACES.is_dir(), reason="not run: the shared trace is not here")
def test_the_packing_run_of_the_paper_allocates_what_its_authors_publish() -> None:
    trace = openb.read(TRACES / "openb_node_list_all_node.csv", TRACES / "openb_pod_list_default.csv")
    published = {"random": 87.3, "best-fit": 93.1, "fragmentation": 95.3}
    found = {name: allocated(name, trace, 0) for name in published}
    assert found == pytest.approx(published, abs=1.0)
    assert found["random"] + 4 < found["best-fit"] < found["fragmentation"] - 1.5
