"""Scenarios from beginning to end."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.engine.model import ClusterQueue, Node
from kumi.evaluator.engine import Run
from kumi.evaluator.model import START_MS, Arrive, Policy, Via
from kumi.evaluator.scenarios import ScenarioError, load_scenario
from kumi.evaluator.scenarios.plays import Stage
from kumi.evaluator.scenarios.steps import Step
from tests.evaluator.scenarios.told import written

DATA = Path(__file__).parent.parent / "data"
EXAMPLES = Path(__file__).parents[3] / "examples" / "evaluate"
CLUSTER = "cluster: {nodes: [{name: n, offers: {cpu: 8}}]}\n"
POD = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}"
A_JOB = f"arrivals: [{{at: 1s, manifests: [{POD}]}}]\n"


def faults(path: Path, **parameters: int) -> list[str]:
    with pytest.raises(ScenarioError) as error:
        load_scenario(path, parameters)
    return error.value.faults


def test_a_scenario_is_what_its_file_says() -> None:
    found = load_scenario(DATA / "scenario.yaml")
    assert (found.name, found.seeds, found.start_ms) == ("small", (3, 5), START_MS)
    assert found.policies[0] == "fifo"
    packed = found.policies[1]
    assert isinstance(packed, Policy)
    assert (packed.name, packed.profile.arguments["scoring"]) == ("packed", "binpack")
    load = found.load(3)
    assert [noun.name for noun in load.setting if isinstance(noun, Node)] == ["gpu-0", "gpu-1"]
    assert any(isinstance(noun, ClusterQueue) for noun in load.setting)
    jobs = [event.job for event in load.events() if isinstance(event, Arrive)]
    assert {job.via for job in jobs} == {Via.POD, Via.GANG, Via.WORKLOAD}
    assert [job.key for job in jobs if job.via is Via.WORKLOAD] == ["team/train", "team/train-2", "team/train-3"]


def test_a_load_is_the_same_each_time_and_in_another_process_and_by_time() -> None:
    found = load_scenario(DATA / "scenario.yaml")
    first = list(found.load(3).events())
    assert first == list(found.load(3).events()) == list(pickle.loads(pickle.dumps(found)).load(3).events())
    assert first != list(found.load(5).events())
    assert [event.at_ms for event in first] == sorted(event.at_ms for event in first)


def test_parameters_can_be_given() -> None:
    def lone(hours: int) -> int | None:
        events = load_scenario(DATA / "scenario.yaml", {"hours": hours}).load(3).events()
        return next(e.job.runs_ms for e in events if isinstance(e, Arrive) and e.job.key == "default/lone")

    assert (lone(1), lone(7)) == (3_600_000, 7 * 3_600_000)
    assert faults(DATA / "scenario.yaml", days=1) == [
        "line 5: parameters: there is no parameter 'days': there are hours"
    ]


def test_one_in_which_nothing_happens_is_wrong_and_one_in_which_no_job_comes_is_not(tmp_path: Path) -> None:
    for none in ("", "arrivals: []\n", "arrivals: []\nfailures: []\n"):
        (fault,) = faults(written(tmp_path, CLUSTER + none))
        assert "arrivals: nothing arrives and nothing else happens" in fault
    load_scenario(written(tmp_path, CLUSTER + "maintenance: [{nodes: n, at: 1h, for: 1m}]\n"))


def test_the_objects_of_a_scenario_played_again_are_its_load() -> None:
    found = load_scenario(DATA / "scenario.yaml")
    steps = [Step(at_ms, verb, obj, "") for at_ms, verb, obj in found.objects(3)]
    events = [e for e in Stage().events(steps) if isinstance(e, Arrive)]
    wanted = [e for e in found.load(3).events() if isinstance(e, Arrive)]
    assert [(e.job.key, e.at_ms, e.job.pods, e.job.runs_ms) for e in events] == [
        (e.job.key, e.at_ms, e.job.pods, e.job.runs_ms) for e in wanted
    ]


def test_a_python_file_is_a_scenario_too() -> None:
    found = load_scenario(DATA / "generator.py", {"cpus": 4})
    assert (found.name, found.seeds, found.policies) == ("pods", (1, 2), ("fifo",))
    load = found.load(1)
    assert [dict(noun.allocatable)["cpu"] for noun in load.setting if isinstance(noun, Node)] == [4000]
    assert [type(event).__name__ for event in load.events()] == ["Change", *["Arrive"] * 5, "Cancel", "Change"]


def test_what_is_wrong_is_told_at_once_with_lines(tmp_path: Path) -> None:
    text = CLUSTER + "start: soon\nseeds: []\ncolour: red\npolicies: [none, {policy: {scoring: best}}]\n" + A_JOB
    found = faults(written(tmp_path, text))
    assert [fault.partition(": ")[0] for fault in found] == ["line 4", "line 2", "line 3", "line 5", "line 5"]
    twice = "cluster: {nodes: [{name: n, offers: {cpu: 8}}, {name: n, offers: {cpu: 8}}]}\nseeds: few\n" + A_JOB
    assert faults(written(tmp_path, twice)) == [
        "line 1: cluster: Node n: is created, and is there already (cluster.nodes[1])",
        "line 2: seeds: must be a whole number of 1 or more, not 'few'",
    ]
    jobs = "{count: 1, load: 1, runs: {uniform: {least: 2s, most: 1s}}, kinds: [{asks: {cpu: 1}}]}"
    found = faults(written(tmp_path, f"cluster: {{nodes: [{{name: n}}]}}\narrivals: [{{jobs: {jobs}}}]\n"))
    assert [fault.partition(": ")[0] for fault in found] == ["line 1", "line 2"]
    found = faults(written(tmp_path, CLUSTER + "colour: 1\n" + A_JOB))
    assert len(found) == 1
    found = faults(written(tmp_path, CLUSTER + "seeds: []\npolicies: [none, {policy: {scoring: best}}]\n" + A_JOB))
    assert found[0] == "line 2: seeds: must be a number of seeds, or a list of some"
    assert found[1].startswith("line 3: policies[0]: there is no policy none: built-in are ")
    assert found[2].startswith("line 3: policies[1]: the policy ")


@pytest.mark.parametrize("seeds", ["100001", "[9223372036854775808]"])
def test_seeds_that_no_experiment_has_room_for_are_refused(tmp_path: Path, seeds: str) -> None:
    (fault,) = faults(written(tmp_path, CLUSTER + A_JOB + f"seeds: {seeds}\n"))
    assert "at most" in fault


def test_what_only_shows_when_it_is_played_is_looked_for_before(tmp_path: Path) -> None:
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: x, containers: [{name: c, image: i}]}}"
    found = faults(written(tmp_path, CLUSTER + f"arrivals: [{{manifests: [{pod}]}}]\n"))
    assert found == ["Pod p: names a PriorityClass 'x' that isn't there"]
    found = faults(written(tmp_path, "def events(seed):\n    yield 1\n", "gen.py"))
    assert found == ["gen.py, event 1: must be (verb, object, seconds after), not 1"]


CHANCE = """
import random
def events(seed):
    {before}
    yield "create", {{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "n"}}}}, 0
    {between}
    yield "create", {{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p"}},
                     "spec": {{"containers": [{{"name": "c", "image": "i"}}]}}}}, random.random()
"""


def test_a_generator_that_draws_without_its_seed_is_refused_by_itself_and_in_a_scenario(tmp_path: Path) -> None:
    path = written(tmp_path, CHANCE.format(before="pass", between="pass"), "gen.py")
    inside = written(tmp_path, CLUSTER + "arrivals: [{python: gen.py}]\n")
    path.write_text(path.read_text().replace('"n"', '"other"'))
    for scenario in (path, inside):
        (fault,) = faults(scenario)
        assert fault.startswith("gen.py, event 2: with seed 0 comes something else when it is asked for again")
        assert "random.Random(seed)" in fault


def test_a_generator_that_yields_more_when_it_is_asked_again_is_refused(tmp_path: Path) -> None:
    # every second time it finds the file that it left
    left = repr(str(tmp_path / "left"))
    between = (
        f"from pathlib import Path\n    left = Path({left})\n    if left.exists(): return left.unlink()\n"
        "    left.touch()\n    random.seed(1)"
    )
    (fault,) = faults(written(tmp_path, CHANCE.format(before="pass", between=between), "gen.py"))
    assert "comes something else" in fault


def test_a_generator_that_seeds_pythons_own_chance_is_the_same_each_time(tmp_path: Path) -> None:
    path = written(tmp_path, CHANCE.format(before="random.seed(seed)", between="pass"), "gen.py")
    first, again = (list(load_scenario(path).load(5).events()) for _ in range(2))
    assert first == again


def test_a_scenario_of_two_jobs_of_one_name_says_where_both_come_from(tmp_path: Path) -> None:
    jobs = "{count: 2, rate: 3600, runs: 1h, kinds: [{name: small, asks: {cpu: 1}}]}"
    pod = POD.replace("name: p", "name: small-1")
    for other in (f"jobs: {jobs}", f"at: 1ms, manifests: [{pod}]"):
        text = f"{CLUSTER}arrivals:\n  - jobs: {jobs}\n  - {{{other}}}\n"
        load = load_scenario(written(tmp_path, text)).load(0)
        run = Run(load, Policy("p"), 0)
        with pytest.raises(KumiError) as error:
            run.advance(1000)
        assert "has two jobs default/small-" in str(error.value)
        assert "arrivals[0].jobs (s.yaml, line 3)" in str(error.value)
        assert "arrivals[1].jobs (s.yaml, line 4)" in str(error.value) or "arrivals[1].manifests" in str(error.value)
        assert "`prefix`" in str(error.value)


def test_two_policies_of_one_name_are_told_by_their_places(tmp_path: Path) -> None:
    written(tmp_path, "{}", "mine.yaml")
    text = CLUSTER + "policies: [fifo, mine.yaml, easy, fifo, {name: mine}]\n" + A_JOB
    assert faults(written(tmp_path, text)) == [
        "line 2: policies[3]: is named fifo, and so is policies[0]: leave one of them out, or give it another name",
        "line 2: policies[4]: is named mine, and so is policies[1]: leave one of them out, or give it another name",
    ]


def test_a_policy_may_be_a_file_beside_the_scenario(tmp_path: Path) -> None:
    path = written(tmp_path, CLUSTER + A_JOB + "policies: [mine.yaml, fifo]\n", mine_yaml="scoring: binpack\n")
    assert load_scenario(path).policies == (str(tmp_path / "mine.yaml"), "fifo")


def test_a_scenario_may_start_at_any_time(tmp_path: Path) -> None:
    load = load_scenario(written(tmp_path, CLUSTER + A_JOB + "start: 2030-01-01T00:00:00Z\n")).load(0)
    assert (load.start_ms, len(load.setting)) == (1_893_456_000_000, 1)
    assert [event.at_ms - load.start_ms for event in load.events()] == [1000, 1000]  # the namespace, the pod


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_each_example_can_be_played_to_its_end(path: Path) -> None:
    found = load_scenario(path)
    assert found.about
    run = Run(found.load(found.seeds[0]), Policy("usual"), 0)
    while run.advance(1000):
        pass
    assert run.waiting() == []
