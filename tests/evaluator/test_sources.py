"""Where the jobs of a run come from."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kumi.api.errors import KumiError
from kumi.engine.model import Node
from kumi.evaluator.model import Arrive, Load
from kumi.evaluator.sources import Given, ScenarioFile, Shape, Source, absolute
from tests.evaluator import tiny


def keys(load: Load) -> list[str]:
    return [event.job.key for event in load.events() if isinstance(event, Arrive)]


def test_a_source_gives_the_same_load_in_another_process(tmp_path: Path) -> None:
    trace = replace(tiny.write(tmp_path), shape=Shape(inflate=1.5))
    there = pickle.loads(pickle.dumps(trace))
    assert there == trace
    assert keys(there.load(3)) == keys(trace.load(3))


def test_what_is_drawn_is_drawn_by_the_runs_seed_unless_a_sample_has_its_own(tmp_path: Path) -> None:
    trace = replace(tiny.write(tmp_path), shape=Shape(inflate=2.0))
    assert keys(trace.load(1)) != keys(trace.load(2))
    fixed = replace(trace, sample_seed=1)
    assert keys(fixed.load(2)) == keys(fixed.load(7)) == keys(trace.load(1))


def test_a_trace_of_which_nothing_is_drawn_is_read_once_for_all_seeds(tmp_path: Path) -> None:
    trace = tiny.write(tmp_path)
    assert trace.load(1) is trace.load(2)


def test_a_trace_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    assert len(keys(tiny.write(tmp_path, tasks=3).load(0))) == 3
    assert len(keys(tiny.write(tmp_path, tasks=40).load(0))) == 40


def test_a_shape_does_all_of_it(tmp_path: Path) -> None:
    shape = Shape(gpu_nodes=True, scale_nodes=1, sample=5, compress_time=10, no_departures=True, drop_waiting=True)
    load = replace(tiny.write(tmp_path), shape=shape).load(0)
    assert sum(isinstance(noun, Node) for noun in load.setting) == 1
    jobs = [event.job for event in load.events() if isinstance(event, Arrive)]
    assert len(jobs) == 5
    assert all(job.runs_ms is None for job in jobs)
    assert max(job.arrives_ms for job in jobs) - load.start_ms <= 11_000


def test_parameters_take_the_place_of_its_own(tmp_path: Path) -> None:
    trace = tiny.write(tmp_path)
    found = trace.with_parameters((("inflate", 1.3), ("scale_nodes", "50%"), ("no_departures", True)))
    assert found == replace(trace, shape=Shape(inflate=1.3, scale_nodes=0.5, no_departures=True))
    assert found.endless
    assert not trace.endless


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("size", 3, "no parameter 'size'"),
        ("inflate", "much", "must be a number"),
        ("inflate", True, "must be a number"),
        ("sample", 1.5, "must be a whole number"),
        ("no_departures", 1, "must be true or false"),
        ("scale_nodes", "many", "says nothing of nodes"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(tmp_path: Path, name: str, value: Any, said: str) -> None:
    with pytest.raises(KumiError, match=said):
        tiny.write(tmp_path).with_parameters(((name, value),))


def test_a_load_that_is_there_is_itself(tmp_path: Path) -> None:
    load = tiny.write(tmp_path).load(0)
    given: Source = Given(load)
    assert given.load(5) is load
    assert (given.files(), given.words, given.endless) == ((), "", False)
    assert given.with_parameters(()) is given
    with pytest.raises(KumiError, match="reshape it first"):
        given.with_parameters((("inflate", 1.3),))


def test_a_trace_names_its_files(tmp_path: Path) -> None:
    assert tiny.write(tmp_path).files() == (str(tmp_path / "nodes.csv"), str(tmp_path / "tasks.csv"))


POD = """
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: %d}}}]}}
"""
SCENARIO = """
cluster: {nodes: [{name: n, offers: {cpu: 8}}]}
arrivals: [{manifests: [pod.yaml]}, {python: more.py}]
policies: [mine.yaml]
"""


@pytest.fixture
def scenario(tmp_path: Path) -> ScenarioFile:
    (tmp_path / "pod.yaml").write_text(POD % 1)
    (tmp_path / "more.py").write_text("def events(seed):\n    return []\n")
    (tmp_path / "mine.yaml").write_text("scoring: spread\n")
    (tmp_path / "s.yaml").write_text(SCENARIO)
    return ScenarioFile(str(tmp_path / "s.yaml"))


def test_a_scenario_names_all_its_files(scenario: ScenarioFile, tmp_path: Path) -> None:
    names = ("s.yaml", "pod.yaml", "more.py", "mine.yaml")
    assert sorted(scenario.files()) == sorted(str(tmp_path / name) for name in names)


def test_a_scenario_is_read_anew_when_one_of_its_files_was_written_anew(scenario: ScenarioFile, tmp_path: Path) -> None:
    def asked() -> int:
        (job,) = (event.job for event in scenario.load(0).events() if isinstance(event, Arrive))
        return dict(job.roles[0].shape.requests)["cpu"]

    assert scenario.scenario is scenario.scenario
    assert asked() == 1000
    (tmp_path / "pod.yaml").write_text(POD % 4000)
    assert asked() == 4_000_000


def test_whole_paths_mean_the_same(scenario: ScenarioFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trace = tiny.write(tmp_path)
    assert absolute(replace(trace, jobs="tasks.csv", nodes="nodes.csv")) == trace
    assert absolute(replace(trace, nodes="")) == replace(trace, nodes="")
    assert absolute(ScenarioFile("s.yaml")) == scenario
    given = Given(trace.load(0))
    assert absolute(given) is given
