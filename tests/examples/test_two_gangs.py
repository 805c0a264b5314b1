"""The demo as a user runs it: real processes, real sockets, and no knowledge of how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

pytestmark = pytest.mark.process

DEMO = Path(__file__).parent.parent.parent / "examples" / "two-gangs" / "demo.py"
RAN = re.compile(r"^(\w+): (waited whole for [\d.]+ s, )?ran from ([\d.]+) s to ([\d.]+) s, (\w+)$", re.MULTILINE)
DIGEST = re.compile(r"^  (\w+)-\S+ +rank (\d) +loss \S+ +weights (\w+)$", re.MULTILINE)


class Ran(NamedTuple):
    """What the demo says of one job."""

    waited: bool
    begin_s: float
    end_s: float
    outcome: str


def demo(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(DEMO), *options], capture_output=True, text=True, timeout=150, check=False
    )


def jobs_of(text: str) -> dict[str, Ran]:
    return {m[1]: Ran(bool(m[2]), float(m[3]), float(m[4]), m[5]) for m in RAN.finditer(text)}


def assert_ranks_agree(text: str) -> None:
    """Four ranks of each job told a digest, the same within a job, another in the other job."""
    digests: dict[str, dict[str, str]] = {}
    for job, rank, digest in DIGEST.findall(text):
        digests.setdefault(job, {})[rank] = digest
    assert {job: sorted(ranks) for job, ranks in digests.items()} == {"first": list("0123"), "second": list("0123")}
    each = [set(ranks.values()) for ranks in digests.values()]
    assert all(len(d) == 1 for d in each)
    assert each[0] != each[1]


def test_with_six_gpus_the_second_gang_waits_whole_and_both_finish() -> None:
    done = demo("--gpus", "6")
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = jobs_of(done.stdout)
    assert [jobs[name].outcome for name in ("first", "second")] == ["succeeded", "succeeded"]
    assert jobs["second"].waited
    assert jobs["second"].begin_s >= jobs["first"].end_s
    assert "held by PyTorchJob default/first (4 nvidia.com/gpu)" in done.stdout
    assert_ranks_agree(done.stdout)


def test_with_eight_gpus_the_gangs_overlap() -> None:
    done = demo("--gpus", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = jobs_of(done.stdout)
    assert jobs["second"].begin_s < jobs["first"].end_s
    assert jobs["first"].begin_s < jobs["second"].end_s
    assert_ranks_agree(done.stdout)


def test_with_three_gpus_neither_starts_and_the_reason_is_shown() -> None:
    done = demo("--gpus", "3")
    assert done.returncode == 1
    assert jobs_of(done.stdout) == {}
    assert "nothing that waits can start as things are" in done.stdout
    assert re.search(r"first +it waits at the gang: .*4 nvidia.com/gpu.* 3 nvidia.com/gpu", done.stdout)
    assert " running" not in done.stdout


def rank_of(pod: str, data_dir: Path) -> psutil.Process | None:
    """The training process of a pod of the cluster in `data_dir`."""
    for process in psutil.process_iter():
        try:
            ours = str(data_dir) in " ".join(str(parent.cmdline()) for parent in process.parents())
            if ours and process.environ().get("HOSTNAME") == pod and "train.py" in process.cmdline():
                return process
        except psutil.Error:
            continue
    return None


def test_a_rank_that_is_killed_is_started_again_and_the_job_recovers(tmp_path: Path) -> None:
    command = [sys.executable, str(DEMO), "--gpus", "8", "--data-dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        end = time.monotonic() + 60
        while (victim := rank_of("first-worker-1", tmp_path)) is None:
            assert time.monotonic() < end
            assert running.poll() is None
            time.sleep(0.05)
        os.kill(victim.pid, signal.SIGKILL)
        text, _ = running.communicate(timeout=120)
    assert running.returncode == 0, text
    assert "first-worker-1 restarted" in text
    assert_ranks_agree(text)


@pytest.mark.needs("torch")
def test_the_same_with_torch_distributed() -> None:
    done = demo("--gpus", "6", "--torch", "--timeout", "120")
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = jobs_of(done.stdout)
    assert jobs["second"].begin_s >= jobs["first"].end_s
    assert_ranks_agree(done.stdout)
