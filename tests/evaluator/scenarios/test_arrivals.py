"""Arrivals of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kumi.engine.model import Node, Put
from kumi.evaluator.model import START_MS, Arrive, Cancel, Change
from kumi.evaluator.said import CHECKPOINT, DEADLINE_IN, RUNS
from kumi.evaluator.scenarios.arrivals import sources
from kumi.evaluator.scenarios.document import Document, Part
from kumi.evaluator.scenarios.steps import Moment, Step, Told, together
from tests.evaluator.scenarios.told import faults, obj, pod

DATA = Path(__file__).parent.parent / "data"
EXECUTION = "kumi.dev/execution-duration"


def part(said: Any) -> Part:
    return Part(Document(DATA / "s.yaml", b""), said, "arrivals")


def moments(said: Any, seed: int = 1) -> list[Moment]:
    one = part(said)
    found = sources(one, START_MS, [])
    assert faults(one) == []
    return list(together(found, seed))


def steps(said: Any, seed: int = 1) -> list[Step]:
    return [moment for moment in moments(said, seed) if isinstance(moment, Step)]


def seconds(found: list[Step]) -> list[tuple[float, str, str]]:
    return [((s.at_ms - START_MS) / 1000, s.verb, s.object["metadata"]["name"]) for s in found]


def words(step: Step) -> dict[str, str]:
    found: dict[str, str] = step.object["metadata"].get("annotations") or {}
    return found


def test_manifests_come_at_their_time_once() -> None:
    assert seconds(steps({"at": "10s", "manifests": [pod("a"), pod("b")]})) == [
        (10, "create", "a"),
        (10, "create", "b"),
    ]


def test_manifests_come_again_under_other_names() -> None:
    said = {"every": "1m", "times": 3, "manifests": pod("a")}
    assert seconds(steps(said)) == [(0, "create", "a"), (60, "create", "a-2"), (120, "create", "a-3")]
    until = {"every": "1m", "until": "90s", "manifests": pod("a")}
    assert [at for at, _, _ in seconds(steps(until))] == [0, 60]


def test_groups_come_again_with_their_pods() -> None:
    group = obj("PodGroup", "g", "scheduling.volcano.sh/v1beta1", spec={"minMember": 1})
    said = {"scheduling.k8s.io/group-name": "g", "kueue.x-k8s.io/pod-group-total-count": "1"}
    labels = {"kueue.x-k8s.io/pod-group-name": "k"}
    entry = {"every": "1s", "times": 2, "manifests": [group, pod("a", said=said), pod("b", labels=labels, said=said)]}
    second = steps(entry)[3:]
    assert words(second[1])["scheduling.k8s.io/group-name"] == "g-2"
    assert second[2].object["metadata"]["labels"] == {"kueue.x-k8s.io/pod-group-name": "k-2"}
    lone = {"every": "1s", "times": 2, "manifests": pod("a", said={"scheduling.k8s.io/group-name": "other"})}
    assert words(steps(lone)[1])["scheduling.k8s.io/group-name"] == "other", "one that is there for all of them"


def test_an_entry_says_what_its_manifests_do_not() -> None:
    entry = {"runs": "1h", "says": 1.5, "deadline": "4h", "checkpoint": "10m", "manifests": [pod("a")]}
    (step,) = steps(entry)
    assert words(step) == {RUNS: "3600s", EXECUTION: "5400s", DEADLINE_IN: "14400s", CHECKPOINT: "600s"}
    own = pod("a", said={"x.com/execution-duration": "7s", CHECKPOINT: "1s"})
    (step,) = steps({**entry, "manifests": [own]})
    assert words(step) == {
        "x.com/execution-duration": "7s",
        CHECKPOINT: "1s",
        RUNS: "3600s",
        DEADLINE_IN: "14400s",
    }


def test_a_manifest_about_which_nothing_is_said_is_left_as_it_is() -> None:
    manifest = pod("a")
    assert steps({"manifests": manifest})[0].object is manifest


def test_lengths_by_chance_are_the_runs_own() -> None:
    entry = {"every": "1s", "times": 5, "runs": {"exponential": "1h"}, "manifests": pod("a")}
    lengths = [[words(s)[RUNS] for s in steps(entry, seed)] for seed in (1, 1, 2)]
    assert lengths[0] == lengths[1] != lengths[2]
    assert len(set(lengths[0])) == 5
    two = [
        [
            words(s)[RUNS]
            for s in steps([entry, {**entry, "manifests": pod("b")}])
            if s.object["metadata"]["name"][0] == n
        ]
        for n in "ab"
    ]
    assert two[0] == lengths[0] != two[1], "one entry more changes nothing of those before it"


def test_what_comes_may_be_deleted_later() -> None:
    entry = {"every": "10s", "times": 2, "deleteAfter": "15s", "manifests": pod("a", namespace="ns")}
    found = steps(entry)
    assert seconds(found) == [(0, "create", "a"), (10, "create", "a-2"), (15, "delete", "a"), (25, "delete", "a-2")]
    assert found[2].object == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "ns"}}


def test_a_trace_comes_with_its_nodes_from_the_start_on_reshaped() -> None:
    said = {
        "trace": {
            "format": "openb",
            "nodes": "openb_nodes.csv",
            "jobs": "openb_tasks.csv",
            "gpuNodes": True,
            "compressTime": 2,
        }
    }
    found = moments(said)
    first = found[0]
    assert isinstance(first, Told)
    assert isinstance(first.event, Change)
    nodes = [d.noun.name for d in first.event.deltas if isinstance(d, Put) and isinstance(d.noun, Node)]
    assert nodes == ["node-1", "node-2", "node-3"]
    jobs = [m.event.job for m in found if isinstance(m, Told) and isinstance(m.event, Arrive)]
    assert [job.arrives_ms - START_MS for job in jobs] == [
        0,
        30_000,
        30_000,
        60_000,
        300_000,
        302_500,
        450_000,
        900_000,
    ]


def test_a_traces_own_times_count_from_the_scenarios_start() -> None:
    one = part({"trace": {"format": "swf", "jobs": "small.swf", "options": {"processors": "pod"}}})
    found = list(together(sources(one, 5_000_000, []), 0))
    jobs = [m.event.job for m in found if isinstance(m, Told) and isinstance(m.event, Arrive)]
    assert [job.arrives_ms for job in jobs[:2]] == [5_000_000, 5_010_000]
    assert {job.pods for job in jobs} == {1}


def test_the_jobs_of_a_trace_may_have_a_prefix_and_so_have_those_who_give_up() -> None:
    trace = {"format": "swf", "jobs": "small.swf", "options": {"processors": "pod"}, "dropWaiting": True}
    plain, other = (moments({"trace": {**trace, **more}}) for more in ({}, {"prefix": "b-"}))

    def keys(found: list[Moment]) -> list[str]:
        events = [m.event for m in found if isinstance(m, Told)]
        return [e.job.key if isinstance(e, Arrive) else e.key for e in events if isinstance(e, Arrive | Cancel)]

    assert keys(other) == [key.replace("swf/", "swf/b-") for key in keys(plain)]
    assert any(isinstance(m.event, Cancel) for m in other if isinstance(m, Told))


def test_jobs_by_chance_and_a_generator_are_entries_too() -> None:
    jobs = {"count": 3, "rate": 60, "runs": "1m", "kinds": [{"asks": {"cpu": 1}}]}
    assert len(moments({"jobs": jobs})) == 3
    assert len(moments({"python": "generator.py"})) == 8


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({}, "arrivals: must have one of manifests, jobs, trace, python"),
        ({"manifests": pod("a"), "python": "x.py"}, "arrivals: must have one of"),
        ({"python": "generator.py", "at": "1s"}, "arrivals.at: is for manifests; python says it in its own way"),
        ({"manifests": pod("a"), "every": "1s"}, "arrivals.every: goes on for ever: say how many times"),
        ({"manifests": pod("a"), "times": 2}, "arrivals.times: needs `every`"),
        ({"manifests": pod("a"), "says": 2}, "arrivals.says: is about `runs`, and nothing is said there"),
        ({"manifests": {"kind": "Pod"}}, "arrivals.manifests: Pod (without a name): metadata is missing"),
        ({"manifests": [], "every": "1ms", "until": "900d"}, "arrivals.manifests: there is no object in it"),
        ({"trace": {"format": "csv", "jobs": "x"}}, "arrivals.trace.format: 'csv' means nothing here"),
        (
            {"trace": {"format": "swf", "jobs": "small.swf", "prefix": "B_"}},
            "arrivals.trace.prefix: stands before names, which have small letters, digits, - and . only, not 'B_'",
        ),
        ({"trace": {"format": "swf"}}, "arrivals.trace.jobs: says which file has the jobs"),
        ({"trace": {"format": "swf", "jobs": "none.swf"}}, "arrivals.trace: "),
        (
            {"trace": {"format": "swf", "jobs": "small.swf", "scaleNodes": "9"}},
            "arrivals.trace: can't keep 9 of 4 nodes",
        ),
    ],
)
def test_what_is_wrong_is_noted(said: Any, says: str) -> None:
    one = part(said)
    sources(one, START_MS, [])
    assert faults(one)[0].startswith(says)
