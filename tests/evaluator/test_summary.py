"""The summary has the promised keys, and equal runs give equal bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from kumi.evaluator.groups import GROUPS_AT_MOST
from kumi.evaluator.summary import summary, to_bytes
from tests.evaluator.told import GPU, Told, small

ROOT = Path(__file__).parent.parent.parent
KEYS = [
    "policy",
    "seed",
    "jobs",
    "finished",
    "never_started",
    "makespan_s",
    "wait_s",
    "jct_s",
    "allocation_percent",
    "deadlines_met",
    "deadlines_missed",
    "preemptions",
    "lost_work_s",
    "jain_fairness",
    "decisions",
    "run_s",
    "more",
]


def test_it_has_the_promised_keys_in_their_order() -> None:
    found = small().summary
    assert list(found) == KEYS
    for times in ("wait_s", "jct_s"):
        assert list(found[times]) == ["mean", "p50", "p95", "p99", "max"]
    assert {name: list(of) for name, of in found["allocation_percent"].items()} == {GPU: ["mean", "peak"]}


def test_the_figures_of_a_small_run() -> None:
    found = small().summary
    assert (found["jobs"], found["finished"], found["never_started"]) == (4, 3, 1)
    assert found["makespan_s"] == 100
    assert (found["wait_s"]["mean"], found["jct_s"]["max"]) == (0, 100)
    # 285 GPU seconds of 3 GPUs for 100 s
    assert found["allocation_percent"][GPU] == {"mean": pytest.approx(95), "peak": 100}
    assert (found["deadlines_met"], found["deadlines_missed"]) == (1, 2)
    assert (found["preemptions"], found["lost_work_s"], found["decisions"]) == (1, 5, 4)
    assert found["more"]["why"] == {"default/giant": "no node has 64 of nvidia.com/gpu"}


def test_jobs_are_told_by_tenant_and_by_queue() -> None:
    more = small().summary["more"]
    assert {name: of["jobs"] for name, of in more["tenants"].items()} == {"blue": 2, "red": 2}
    assert {name: of["finished"] for name, of in more["queues"].items()} == {"": 0, "gold": 2, "silver": 1}
    assert more["tenants"]["red"]["served"] == pytest.approx(1)
    assert more["tenants"]["blue"]["served"] < 0.6


def test_only_the_largest_tenants_are_told() -> None:
    told = Told()
    for number in range(GROUPS_AT_MOST + 1):
        for again in range(1 + (number > 0)):
            told.job(f"t{number:03d}/j{again}", number)
    tenants = summary(told.close(999), policy="p", seed=0, run_s=0)["more"]["tenants"]
    assert len(tenants) == GROUPS_AT_MOST
    assert "t000" not in tenants
    assert list(tenants) == sorted(tenants)


def test_a_run_without_jobs_has_a_summary() -> None:
    found = summary(Told().close(5), policy="p", seed=1, run_s=0)
    assert (found["jobs"], found["makespan_s"], found["wait_s"]["mean"], found["jain_fairness"]) == (
        0,
        None,
        None,
        None,
    )
    assert found["more"]["jain_of_shares"] is None
    assert json.loads(to_bytes([found]))[0]["allocation_percent"] == {}


def test_a_run_that_takes_no_time_has_no_utilization_and_no_goodput() -> None:
    told = Told()
    told.node("n1")
    told.job("a", 0)
    more = summary(told.close(0), policy="p", seed=0, run_s=0)["more"]
    assert more["utilization_percent"] == more["goodput_percent"] == {GPU: None}


def test_the_file_is_a_list_that_reads_back_the_same() -> None:
    found = small().summary
    assert orjson.loads(to_bytes([found, found])) == [found, found]


def test_equal_runs_give_equal_bytes_under_any_hash_seed() -> None:
    script = (
        "import sys; from tests.evaluator.told import small; from kumi.evaluator.summary import to_bytes; "
        "sys.stdout.buffer.write(to_bytes([small().summary]))"
    )
    bytes_of = {
        seed: subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert bytes_of["1"] == bytes_of["2"] == to_bytes([small().summary])
