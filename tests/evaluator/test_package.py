"""The door for notebooks and scripts."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.evaluator import evaluate, trace
from kumi.evaluator.model import Arrive, Policy
from kumi.evaluator.play import Limits
from kumi.evaluator.result import Result
from kumi.evaluator.sources import ScenarioFile
from tests.evaluator import tiny

SCENARIO = """
name: two
seeds: 2
cluster: {nodes: [{name: n, offers: {nvidia.com/gpu: 2}}]}
maintenance: [{nodes: n, at: 1h, for: 1m}]
policies: [shortest, {name: mine, policy: {scoring: spread}}]
"""


def test_a_trace_is_played_by_each_policy_with_each_seed(tmp_path: Path) -> None:
    made = tiny.write(tmp_path)
    load = trace("openb", made.jobs, made.nodes, inflate=4, runs_from="scheduled")
    found = evaluate(load, ["fifo", "easy"], range(2))
    assert [(one.policy, one.seed) for one in found] == [("fifo", 0), ("fifo", 1), ("easy", 0), ("easy", 1)]
    assert all(isinstance(one, Result) for one in found)
    assert len(found[0].jobs["wait_ms"]) == found[0].summary["jobs"]


def test_who_names_nothing_gets_the_default_policy_and_seed_0(tmp_path: Path) -> None:
    (found,) = evaluate(tiny.write(tmp_path))
    assert (found.policy, found.seed) == ("default", 0)


def test_a_scenario_has_its_own_policies_and_seeds_unless_others_are_named(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(SCENARIO)
    own = [("shortest", 0), ("shortest", 1), ("mine", 0), ("mine", 1)]
    assert [(one.policy, one.seed) for one in evaluate(path)] == own
    assert [(one.policy, one.seed) for one in evaluate(str(path), ["fifo"], [7])] == [("fifo", 7)]


def test_a_load_and_a_policy_that_are_there_are_played(tmp_path: Path) -> None:
    load = tiny.write(tmp_path).load(0)
    (found,) = evaluate(load, [Policy("mine")], limits=Limits(virtual_ms=50_000), explain="task-1")
    assert found.policy == "mine"
    assert found.stopped
    assert found.explained[0].what == "arrived"


def test_a_result_shows_itself_and_writes_a_report(tmp_path: Path) -> None:
    fifo, easy = evaluate(tiny.write(tmp_path), ["fifo", "easy"])
    assert "<caption>fifo, seed 0</caption>" in fifo._repr_html_()
    assert b"<h1>easy against fifo</h1>" in easy.report(tmp_path / "both.html", fifo).read_bytes()


def test_workers_give_the_same(tmp_path: Path) -> None:
    made = tiny.write(tmp_path)
    alone, two = (evaluate(made, ["fifo", "easy"], workers=workers) for workers in (1, 2))
    assert [one.summary["wait_s"] for one in alone] == [one.summary["wait_s"] for one in two]


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    made = tiny.write(tmp_path)
    with pytest.raises(KumiError, match="no policy nobody"):
        evaluate(made, ["nobody"])
    with pytest.raises(KumiError, match="no speed 'warp': it may be engine, stack, external"):
        evaluate(made, ["fifo"], speed="warp")
    with pytest.raises(KumiError, match="which scheduler"):
        evaluate(made, ["fifo"], speed="external")
    with pytest.raises(KumiError, match="colour"):
        evaluate(trace("openb", made.jobs, made.nodes, colour="red"))


def test_one_policy_need_not_be_in_a_list(tmp_path: Path) -> None:
    made = tiny.write(tmp_path)
    assert [one.policy for policy in ("easy", Policy("mine")) for one in evaluate(made, policy)] == ["easy", "mine"]


@pytest.mark.parametrize(
    ("seeds", "says"),
    [
        ([-1], "a seed is a whole number from 0 to 9223372036854775807, not -1"),
        ([2**63], "a seed is a whole number"),
        (["1"], "a seed is a whole number from 0 to 9223372036854775807, not '1'"),
        ([1, 2, 1], "the seed 1 is there 2 times"),
        (range(100_001), "100,000 seeds at most, not 100,001"),
    ],
)
def test_seeds_that_are_none_are_told(tmp_path: Path, seeds: list[int], says: str) -> None:
    with pytest.raises(KumiError, match=says):
        evaluate(tiny.write(tmp_path), ["fifo"], seeds)


def test_importing_the_package_imports_nothing_else() -> None:
    script = "import sys, kumi.evaluator; assert not {'numpy', 'joblib', 'pyarrow', 'kumi.engine'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_the_scenario_that_the_page_shows_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "evaluate.md").read_text()
    shown = re.search(r"```yaml\n(name: .*?)```", page, re.DOTALL)
    assert shown is not None
    (tmp_path / "shown.yaml").write_text(shown[1])
    data = Path(__file__).parent / "data"
    for name in ("queues.yaml", "job.yaml"):
        (tmp_path / name).write_text((data / name).read_text())
    (tmp_path / "log.swf.gz").write_bytes(gzip.compress((data / "small.swf").read_bytes()))
    (tmp_path / "mine.yaml").write_text("scoring: spread\n")
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}}
    (tmp_path / "generator.py").write_text(f"def events(seed):\n    yield 'create', {node}, 0\n")
    (tmp_path / "nodes.yaml").write_text(json.dumps({**node, "metadata": {"name": "spot-1"}}))
    found = ScenarioFile(str(tmp_path / "shown.yaml"))
    assert found.scenario.seeds == tuple(range(10))
    assert [one if isinstance(one, str) else one.name for one in found.policies] == [
        "fifo",
        str(tmp_path / "mine.yaml"),
        "packed",
    ]
    assert sum(isinstance(event, Arrive) for event in found.load(0).events()) > 100
