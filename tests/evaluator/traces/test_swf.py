"""Logs in the standard workload format as loads."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import Queue
from kumi.engine.model import Node
from kumi.evaluator.model import START_MS, Arrive, Job, Load, Via
from kumi.evaluator.traces.base import TraceError
from kumi.evaluator.traces.swf import _machine, read

LOG = Path(__file__).parent.parent / "data" / "small.swf"
LINE = "{job} {at} -1 {run} {got} -1 -1 {asked} {said} {memory} {status} {user} -1 -1 {queue} -1 -1 -1"
USUAL = {
    "job": 1,
    "at": 0,
    "run": 10,
    "got": 1,
    "asked": 1,
    "said": 10,
    "memory": -1,
    "status": 1,
    "user": 1,
    "queue": 1,
}


def written(tmp_path: Path, *lines: Mapping[str, object], head: str = "; MaxProcs: 4\n") -> Path:
    path = tmp_path / "log.swf"
    path.write_text(head + "\n".join(LINE.format(**{**USUAL, "job": n, **line}) for n, line in enumerate(lines, 1)))
    return path


def jobs(load: Load) -> list[Job]:
    return [event.job for event in load.events() if isinstance(event, Arrive)]


def nodes(load: Load) -> list[Node]:
    return [noun for noun in load.setting if isinstance(noun, Node)]


def test_a_job_is_a_gang_of_one_processor_pods() -> None:
    job = jobs(read(None, LOG))[1]
    assert (job.key, job.via, job.pods, job.least) == ("swf/2", Via.GANG, 4, None)
    assert job.roles[0].shape.requests == (("cpu", 1000),)
    assert (job.arrives_ms, job.runs_ms, job.said_ms) == (START_MS + 10_000, 100_000, 100_000)
    assert (job.tenant, job.queue) == ("user-11", "default")


def test_a_job_can_be_one_pod_with_all_its_processors() -> None:
    load = read(None, LOG, processors="pod")
    job = jobs(load)[1]
    assert (job.via, job.pods, job.roles[0].shape.requests) == (Via.POD, 1, (("cpu", 4000),))
    assert [dict(node.allocatable)["cpu"] for node in nodes(load)] == [4000]


def test_what_is_not_said_is_what_was_true() -> None:
    found = {job.key: job for job in jobs(read(None, LOG))}
    assert found["swf/4"].pods == 2, "allocated, where none were requested"
    assert found["swf/4"].said_ms == 70_000
    assert found["swf/5"].said_ms == found["swf/5"].runs_ms == 100_000


def test_nobody_says_that_a_job_takes_no_time(tmp_path: Path) -> None:
    (found,) = jobs(read(None, written(tmp_path, {"run": 0, "said": -1})))
    assert (found.runs_ms, found.said_ms) == (0, 1)


def test_jobs_that_never_ran_or_could_not_are_left_out_and_counted() -> None:
    load = read(None, LOG)
    assert [job.key for job in jobs(load)] == [f"swf/{n}" for n in range(1, 6)]
    assert load.size == 5
    assert load.notes == (
        "small.swf: left out 1 jobs that ask for more than the machine has",
        "small.swf: left out 1 jobs whose run time isn't known, or that were cancelled before they ran",
    )


def test_a_queue_number_is_a_queue_where_that_is_asked_for() -> None:
    load = read(None, LOG, queues="log")
    assert [job.queue for job in jobs(load)] == ["queue-1", "queue-1", "queue-2", "queue-1", "default"]
    assert [noun.name for noun in load.setting if isinstance(noun, Queue)] == ["default", "queue-1", "queue-2"]


@given(st.integers(1, 50), st.integers(1, 500))
def test_the_nodes_share_the_processors_as_evenly_as_it_goes(count: int, cpus: int) -> None:
    made = _machine(LOG, {"MaxNodes": count, "MaxProcs": cpus}, together=False)
    each = [dict(node.allocatable)["cpu"] // 1000 for node in made]
    assert sum(each) == cpus
    assert max(each) - min(each) <= 1
    assert len({node.name for node in made}) == len(made) == min(count, cpus)


def test_a_header_with_one_of_the_two_is_enough(tmp_path: Path) -> None:
    assert [dict(n.allocatable)["cpu"] for n in nodes(read(None, written(tmp_path, {})))] == [4000]
    load = read(None, written(tmp_path, {}, head="; MaxNodes: 2 (two)\n; MaxProcs: -1\n"))
    assert [dict(n.allocatable)["cpu"] for n in nodes(load)] == [1000, 1000]
    with pytest.raises(TraceError, match="names neither MaxNodes nor MaxProcs"):
        read(None, written(tmp_path, {}, head="; Version: 2.2\n"))


def test_a_file_of_nodes_takes_the_place_of_the_header(tmp_path: Path) -> None:
    load = read(LOG.parent / "openb_nodes.csv", written(tmp_path, {"asked": 280}, {"asked": 289}, head=""))
    assert len(nodes(load)) == 4
    assert [job.pods for job in jobs(load)] == [280]


def test_memory_counts_where_the_machine_is_known_to_have_some(tmp_path: Path) -> None:
    line = {"asked": 2, "memory": 512}
    job = jobs(read(None, written(tmp_path, line, head="; MaxProcs: 4\n; MaxMemory: 1024\n")))[0]
    assert dict(job.roles[0].shape.requests)["memory"] == 512 * 1024
    assert "memory" not in dict(jobs(read(None, written(tmp_path, line)))[0].roles[0].shape.requests)
    load = read(None, written(tmp_path, {"memory": 9999}, head="; MaxProcs: 4\n; MaxMemory: 1024\n"))
    assert jobs(load) == []
    load = read(None, written(tmp_path, line, head="; MaxProcs: 4\n; MaxMemory: 1024\n"), processors="pod")
    assert dict(jobs(load)[0].roles[0].shape.requests) == {"cpu": 2000, "memory": 1024 * 1024}


def test_parts_of_a_job_and_jobs_of_nothing_are_left_out(tmp_path: Path) -> None:
    load = read(
        None,
        written(tmp_path, {}, {"job": 1, "status": 2}, {"asked": 0, "got": 0}, {"run": 0, "status": 5}, {"run": 0}),
    )
    assert [(job.key, job.runs_ms) for job in jobs(load)] == [("swf/1", 10_000), ("swf/5", 0)]
    assert len(load.notes) == 3


def test_fractions_of_seconds_are_kept(tmp_path: Path) -> None:
    job = jobs(read(None, written(tmp_path, {"run": "10.25", "at": "0.5"})))[0]
    assert (job.runs_ms, job.arrives_ms) == (10_250, START_MS + 500)


def test_a_packed_log_is_the_same_each_time_also_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "small.swf.gz"
    path.write_bytes(gzip.compress(LOG.read_bytes()))
    load = read(None, path)
    assert list(pickle.loads(pickle.dumps(load)).events()) == list(load.events()) == list(read(None, LOG).events())


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([{"at": 9}, {"at": 8}], r"line 3, column 2 \(submit time\): is earlier than that of the line before"),
        ([{"run": "x"}], r"line 2, column 4 \(run time\): 'x' is no number"),
        ([{}, {"job": 1}], r"line 3, column 1 \(job number\): 1 is there already, on line 2"),
        ([{"at": -1}], r"line 2, column 2 \(submit time\): is not known"),
        ([{"queue": "1 2"}], r"line 2: has 19 values, a job has 18"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_before_anything_is_played(
    tmp_path: Path, lines: list[dict[str, object]], says: str
) -> None:
    with pytest.raises(TraceError, match=says):
        read(None, written(tmp_path, *lines))


def test_an_option_that_means_nothing_is_told() -> None:
    with pytest.raises(TraceError, match="processors 'all': write gang or pod"):
        read(None, LOG, processors="all")


@pytest.mark.parametrize("field", ["at", "run", "asked", "said"])
def test_a_number_that_cannot_be_counted_with_is_told_with_its_place(tmp_path: Path, field: str) -> None:
    with pytest.raises(TraceError, match=r"line 2, column .*: 9{20} is too large: write a number up to"):
        read(None, written(tmp_path, {field: "9" * 20}))


def test_a_header_of_too_many_nodes_is_refused_before_they_are_made(tmp_path: Path) -> None:
    head = "; MaxNodes: 99999999\n; MaxProcs: 99999999\n"
    with pytest.raises(TraceError, match="its header says MaxNodes: 99999999, and may say 1000000 at most"):
        read(None, written(tmp_path, {}, head=head))


@pytest.mark.parametrize(
    "comment", [b"; Installation: Universit\xe9 de Li\xe8ge\n", "; été\n".encode("utf-16-le")[:6] + b"\n"]
)
def test_a_comment_may_be_in_any_code_wherever_it_stands(tmp_path: Path, comment: bytes) -> None:
    path = tmp_path / "log.swf"
    lines = LOG.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if not line.startswith(b";"))
    path.write_bytes(b"".join((b";\xff first\n", *lines[:at], comment, *lines[at : at + 2], comment, *lines[at + 2 :])))
    assert jobs(read(None, path)) == jobs(read(None, LOG))


def test_a_jobs_line_must_be_text(tmp_path: Path) -> None:
    path = written(tmp_path, {}, {})
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n;\xe9\n", 1)[:-2] + b"\xff\n")
    with pytest.raises(TraceError, match="line 4: is not UTF-8 text"):
        read(None, path)
