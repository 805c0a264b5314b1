"""The right answers that the time machine is held to, from its door to its figures; more of each is beside the rules."""

from __future__ import annotations

import csv
import heapq
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kumi.evaluator import evaluate, trace
from kumi.evaluator.play import Played
from kumi.evaluator.student import interval

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples" / "evaluate"
TRACES = HERE.parent.parent.parent / "shared" / "traces"
GPU = "nvidia.com/gpu"

NODES, TASKS = TRACES / "openb_node_list_all_node.csv", TRACES / "openb_pod_list_default.csv"


def by_policy(played: list[Played]) -> dict[str, dict[str, Any]]:
    return {one.policy: one.summary for one in played}


def test_1_packing_by_utilization_leaves_two_jobs_waiting_and_by_fewest_free_gpus_none() -> None:
    utilization, fewest_free = evaluate(EXAMPLES / "packing.yaml", ["utilization", "fewest-free"])
    assert utilization.summary["allocation_percent"][GPU]["peak"] == pytest.approx(100 * 30 / 36)
    assert sum(wait > 0 for wait in utilization.jobs["wait_ms"]) == 2
    assert fewest_free.summary["allocation_percent"][GPU]["peak"] == 100
    assert fewest_free.summary["wait_s"]["max"] == 0


def test_2_least_slack_misses_no_deadline_where_first_come_and_earliest_deadline_miss_one() -> None:
    said = by_policy(evaluate(EXAMPLES / "slack.yaml", ["fifo", "earliest-deadline", "least-slack"]))
    assert {name: one["deadlines_missed"] for name, one in said.items()} == {
        "fifo": 1,
        "earliest-deadline": 1,
        "least-slack": 0,
    }


class Node(NamedTuple):
    """What a node has, or has left: thousandths of a core, MiB, thousandths of each GPU, and its model."""

    cpu: int
    memory: int
    gpus: list[int]
    model: str


class Wish(NamedTuple):
    """What a task asks for. `share`: of each of `count` GPUs."""

    cpu: int
    memory: int
    count: int
    share: int
    models: list[str]


def wish(task: dict[str, str]) -> Wish:
    count = int(task["num_gpu"])
    share = int(task["gpu_milli"]) if count == 1 else 1000
    return Wish(int(task["cpu_milli"]), int(task["memory_mib"]), count, share, task["gpu_spec"].split("|"))


def devices(asked: Wish, gpus: list[int]) -> list[int] | None:
    """The fullest that fit, the first of equals."""
    fitting = sorted((left, number) for number, left in enumerate(gpus) if left >= asked.share)
    return [number for _, number in fitting[: asked.count]] if len(fitting) >= asked.count else None


def best(asked: Wish, has: dict[str, Node], left: dict[str, Node]) -> tuple[str, list[int]] | None:
    """The node that is fullest once the task is there, by the mean of what it asks for; the first by name of equals."""
    top, found = -1.0, None
    for name, room in left.items():
        if asked.cpu > room.cpu or asked.memory > room.memory or (asked.models[0] and room.model not in asked.models):
            continue
        taken = devices(asked, room.gpus)
        if taken is None:
            continue
        of, gpus = has[name], asked.count * asked.share
        parts = [
            (amount + most - there) / most
            for amount, there, most in (
                (asked.cpu, room.cpu, of.cpu),
                (asked.memory, room.memory, of.memory),
                (gpus, sum(room.gpus), sum(of.gpus)),
            )
            if amount
        ]
        if sum(parts) / len(parts) > top:
            top, found = sum(parts) / len(parts), (name, taken)
    return found


def taken_from(room: Node, asked: Wish, numbers: list[int], times: int) -> Node:
    gpus = [left - times * asked.share * (number in numbers) for number, left in enumerate(room.gpus)]
    return Node(room.cpu - times * asked.cpu, room.memory - times * asked.memory, gpus, room.model)


def first_come_first_served(has: dict[str, Node], tasks: list[dict[str, str]]) -> Iterator[tuple[str, int]]:
    """Each task and when it starts, in seconds: nobody passes the first who waits. Who fits no node waits in nobody's way."""
    left = dict(has)
    came = [task for task in tasks if best(wish(task), has, has)]
    came.sort(key=lambda task: int(task["creation_time"]))
    line, ends, at = deque[dict[str, str]](), list[tuple[int, int, str, Wish, list[int]]](), 0
    for number in range(10**9):
        now = min(*(int(task["creation_time"]) for task in came[at : at + 1]), *(e[0] for e in ends[:1]), 2**62, 2**62)
        if now == 2**62:
            return
        while ends and ends[0][0] == now:
            _, _, node, asked, numbers = heapq.heappop(ends)
            left[node] = taken_from(left[node], asked, numbers, -1)
        while at < len(came) and int(came[at]["creation_time"]) == now:
            line.append(came[at])
            at += 1
        while line and (found := best(wish(line[0]), has, left)):
            task, (node, numbers) = line.popleft(), found
            left[node] = taken_from(left[node], wish(task), numbers, 1)
            until = now + int(task["deletion_time"]) - int(task["creation_time"])
            heapq.heappush(ends, (until, number * 10**6 + len(ends), node, wish(task), numbers))
            yield task["name"], now


def test_7_first_come_first_served_on_one_percent_of_the_openb_nodes_is_what_a_plain_reference_says() -> None:
    if not TRACES.exists():
        pytest.skip("not run: the shared trace is not here")
    load = trace("openb", TASKS, NODES, scale_nodes=0.01)
    (run,) = evaluate(load, ["fifo"])
    with NODES.open() as nodes, TASKS.open() as tasks:
        kept = {noun.name for noun in load.load(0).setting if type(noun).__name__ == "Node"}
        has = {
            row["sn"]: Node(int(row["cpu_milli"]), int(row["memory_mib"]), [1000] * int(row["gpu"]), row["model"])
            for row in csv.DictReader(nodes)
            if row["sn"] in kept
        }
        came = list(csv.DictReader(tasks))
    assert len(has) == 15
    arrived = {task["name"]: int(task["creation_time"]) for task in came}
    waits = {name: 1000 * (start - arrived[name]) for name, start in first_come_first_served(has, came)}
    said = zip(run.jobs["job"], run.jobs["wait_ms"], run.jobs["outcome"], strict=True)
    assert {job.partition("/")[2]: wait for job, wait, outcome in said if outcome == "finished"} == waits
    assert run.summary["never_started"] == len(came) - len(waits) > 0
    assert run.summary["wait_s"]["mean"] == pytest.approx(sum(waits.values()) / len(waits) / 1000)
    assert run.summary["wait_s"]["mean"] > 60, "the cluster is full at times"


def test_8_the_packing_run_orders_three_policies_as_its_authors_do_beyond_the_noise() -> None:
    if not TRACES.exists():
        pytest.skip("not run: the shared trace is not here")
    load = trace("openb", TASKS, NODES, gpu_nodes=True, inflate=1.3, no_departures=True, drop_waiting=True)
    policies = ("random", "best-fit", "fragmentation")
    played = evaluate(load, policies, range(10))
    reached = {
        name: [one.summary["allocation_percent"][GPU]["peak"] for one in played if one.policy == name]
        for name in policies
    }
    means = {name: sum(found) / len(found) for name, found in reached.items()}
    published = {"random": 87.3, "best-fit": 93.1, "fragmentation": 95.3}
    assert {name: abs(means[name] - published[name]) < 1 for name in policies} == dict.fromkeys(policies, True), means
    for worse, better in (("random", "best-fit"), ("best-fit", "fragmentation")):
        gains = [b - w for w, b in zip(reached[worse], reached[better], strict=True)]
        gained = interval(gains)
        assert gained.mean > 0, (worse, better, gains)
        assert gained.without_zero, (worse, better, gains)
