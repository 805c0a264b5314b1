"""Alibaba's GPU trace as a load."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from kumi.engine.model import Node, Requirement
from kumi.evaluator.model import START_MS, Arrive, Job
from kumi.evaluator.traces.base import TraceError
from kumi.evaluator.traces.openb import GPU, MODEL, read, read_nodes

DATA = Path(__file__).parent.parent / "data"
NODES, TASKS = DATA / "openb_nodes.csv", DATA / "openb_tasks.csv"
SHARED = Path(__file__).parents[3].parent / "shared" / "traces"
HEAD = TASKS.read_text().splitlines()[0]


def jobs(load_from: Path = TASKS, **options: str) -> dict[str, Job]:
    events = list(read(NODES, load_from, **options).events())
    assert all(isinstance(event, Arrive) for event in events)
    return {event.job.key: event.job for event in events if isinstance(event, Arrive)}


def written(tmp_path: Path, *rows: str, head: str = HEAD) -> Path:
    path = tmp_path / "tasks.csv"
    path.write_text("\n".join([head, *rows, ""]))
    return path


def test_a_node_has_what_its_row_says_in_base_units_and_its_model_as_a_label() -> None:
    nodes = [noun for noun in read(NODES, TASKS).setting if isinstance(noun, Node)]
    assert [node.name for node in nodes] == ["node-0", "node-1", "node-2", "node-3"]
    offers = dict(nodes[1].allocatable)
    assert (offers["cpu"], offers["memory"], offers[GPU]) == (96_000, 393_216 * 2**20, 8000)
    assert dict(nodes[1].labels)[MODEL] == "G2"
    assert GPU not in dict(nodes[0].allocatable)
    assert MODEL not in dict(nodes[0].labels)


def test_a_task_is_one_pod_that_comes_at_its_creation_and_runs_until_its_deletion() -> None:
    job = jobs()["openb/task-1"]
    assert (job.arrives_ms, job.runs_ms, job.said_ms) == (START_MS + 60_000, 3_600_000, 3_600_000)
    assert (job.pods, job.tenant, job.owner, job.namespace) == (1, "LS", "LS", "openb")


def test_a_task_may_be_taken_to_run_from_when_it_was_scheduled_if_it_was() -> None:
    found = jobs(runs_from="scheduled")
    assert found["openb/task-1"].runs_ms == 3_570_000
    assert found["openb/task-4"].runs_ms == 300_000


def test_a_share_of_a_gpu_is_told_apart_from_a_whole_one_and_from_none() -> None:
    found = {key: job.roles[0].shape for key, job in jobs().items()}
    assert (dict(found["openb/task-1"].requests)[GPU], found["openb/task-1"].share) == (460, 460)
    assert (dict(found["openb/task-0"].requests)[GPU], found["openb/task-0"].share) == (1000, 0)
    assert (dict(found["openb/task-2"].requests)[GPU], found["openb/task-2"].share) == (8000, 0)
    assert GPU not in dict(found["openb/task-3"].requests)


def test_allowed_models_are_a_node_affinity() -> None:
    found = jobs()
    assert found["openb/task-4"].roles[0].shape.affinity == ((Requirement(MODEL, "In", ("T4", "P100")),),)
    assert found["openb/task-1"].roles[0].shape.affinity is None


def test_equal_shapes_are_one_object() -> None:
    found = jobs()
    assert found["openb/task-3"].roles[0].shape is found["openb/task-7"].roles[0].shape


def test_a_load_is_the_same_each_time_also_in_another_process() -> None:
    load = read(NODES, TASKS)
    again = pickle.loads(pickle.dumps(load))
    assert list(again.events()) == list(load.events()) == list(load.events())
    assert load.size == 8


def test_tasks_that_are_not_in_order_are_sorted(tmp_path: Path) -> None:
    path = written(tmp_path, "b,1,1,0,0,,LS,R,9,10,", "a,1,1,0,0,,LS,R,3,10,", "c,1,1,0,0,,LS,R,3,10,")
    assert list(jobs(path)) == ["openb/a", "openb/c", "openb/b"]


def test_columns_are_found_by_their_names(tmp_path: Path) -> None:
    head = "qos,more,name,creation_time,deletion_time,scheduled_time,gpu_spec,gpu_milli,num_gpu,memory_mib,cpu_milli"
    job = jobs(written(tmp_path, "BE,x,a,5,,,,,0,1024,500", head=head))["openb/a"]
    assert job.roles[0].shape.requests == (("cpu", 500), ("memory", 2**30))
    assert (job.runs_ms, job.tenant) == (None, "BE")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("a,x,1,0,0,,LS,R,0,1,", "line 3, column cpu_milli: 'x' is not a whole number"),
        ("a,1,1,-1,0,,LS,R,0,1,", "line 3, column num_gpu: '-1' is not"),
        ("a,1,1,1,1500,,LS,R,0,1,", "line 3, column gpu_milli: 1500 is no share of one GPU"),
        ("a,1,1,0,0,,LS,R,9,1,", "line 3, column deletion_time: 1 is before its creation_time, 9"),
        ("ok,1,1,0,0,,LS,R,0,1,", "line 3, column name: 'ok' is there already, on line 2"),
        (",1,1,0,0,,LS,R,0,1,", "line 3, column name: is empty"),
        ("a,1,1", "line 3: has 3 values, the first line names 11 columns"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_column(tmp_path: Path, row: str, says: str) -> None:
    path = written(tmp_path, "ok,1,1,0,0,,LS,R,0,1,", row)
    with pytest.raises(TraceError, match=says):
        jobs(path)


def test_a_time_that_is_none_is_told_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="line 2, column creation_time: 'soon'"):
        read(NODES, written(tmp_path, "a,1,1,0,0,,LS,R,soon,1,"))


def test_missing_columns_are_named_at_once() -> None:
    with pytest.raises(TraceError, match=r"openb_nodes.csv, line 1: has no column name, num_gpu"):
        read(NODES, NODES)
    with pytest.raises(TraceError, match="names no nodes"):
        read(None, TASKS)


def test_two_nodes_of_one_name_are_told(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("sn,cpu_milli,memory_mib,gpu,model\na,1,1,0,\na,1,1,0,\n")
    with pytest.raises(TraceError, match="line 3, column sn: 'a' is there already, on line 2"):
        read(path, TASKS)


@pytest.mark.skipif(not SHARED.is_dir(), reason="not run: the shared trace is not here")
def test_the_published_trace_is_read_whole() -> None:
    for tasks, shapes in (("default", 151), ("gpuspec33", 457)):
        load = read(SHARED / "openb_node_list_all_node.csv", SHARED / f"openb_pod_list_{tasks}.csv")
        found = [event.job for event in load.events() if isinstance(event, Arrive)]
        assert (len(load.setting), len(found), load.size) == (1523, 8152, 8152)
        assert len({id(job.roles[0].shape) for job in found}) == shapes
        assert sum(dict(n.allocatable).get(GPU, 0) for n in load.setting if isinstance(n, Node)) == 6_212_000


@pytest.mark.parametrize("column", ["cpu_milli", "memory_mib", "num_gpu", "creation_time", "deletion_time"])
def test_a_number_that_cannot_be_counted_with_is_told_with_its_place(tmp_path: Path, column: str) -> None:
    values = dict(zip(HEAD.split(","), TASKS.read_text().splitlines()[1].split(","), strict=True))
    path = written(tmp_path, ",".join({**values, column: "9" * 20}.values()))
    with pytest.raises(TraceError, match=f"line 2, column {column}: 9{{20}} is too large: write a number up to"):
        jobs(path)


def test_a_file_without_nodes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("sn,cpu_milli,memory_mib,gpu,model\n")
    with pytest.raises(TraceError, match=r"nodes\.csv.* has no nodes"):
        list(read_nodes(tmp_path / "nodes.csv"))
