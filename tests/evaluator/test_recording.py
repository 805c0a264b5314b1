"""Recording a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest

from kumi.api.core import Node, Pod
from kumi.api.errors import ApiError, KumiError, not_found
from kumi.api.kueue import Workload
from kumi.api.scheme import SCHEME, Kind, load
from kumi.api.wire import JsonObject, Listing
from kumi.evaluator.recording import RECORDED, File, Recorder
from kumi.evaluator.traces import lines, record
from kumi.evaluator.traces.base import TraceError
from kumi.testing.clock import VirtualClock, idle
from kumi.testing.fake_client import FakeClient

load()
KINDS = [SCHEME.of(type_) for type_ in RECORDED]
POD = SCHEME.of(Pod)


class Cluster(FakeClient):
    """One that may lack kinds."""

    def __init__(self, lacks: tuple[str, ...] = ()) -> None:
        super().__init__(KINDS)
        self._lacks = lacks

    async def list(self, kind: Kind, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        """See Reader."""
        if kind.kind in self._lacks:
            raise not_found(kind.plural, "", kind.group)
        return await super().list(kind, namespace, labels=labels, fields=fields)


def pod(name: str) -> JsonObject:
    meta = {"name": name, "namespace": "ns", "managedFields": [{"manager": "me"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": []}}


def told(path: Path) -> list[tuple[str, str]]:
    """(type, name) of each change."""
    said = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    return [(one["type"], one["object"]["metadata"]["name"]) for one in said if "object" in one]


@asynccontextmanager
async def recording(cluster: FakeClient, path: Path, clock: VirtualClock, said: list[str]) -> AsyncIterator[Recorder]:
    with File(path, clock.now_ms()) as file:
        recorder = Recorder(cluster, file, clock, said.append)
        task = asyncio.create_task(recorder.run())
        await idle()
        try:
            yield recorder
            await clock.advance(60_000)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_what_is_there_is_written_and_then_what_changes_without_managed_fields(tmp_path: Path) -> None:
    cluster, path = Cluster(), tmp_path / "rec"
    await cluster.create(pod("old"))
    async with recording(cluster, path, VirtualClock(), []):
        await cluster.create(pod("new"))
        await cluster.patch(POD, "ns", "old", {"metadata": {"labels": {"a": "b"}}})
        await cluster.delete(POD, "ns", "new")
    assert told(path) == [("ADDED", "old"), ("ADDED", "new"), ("MODIFIED", "old"), ("DELETED", "new")]
    assert b"managedFields" not in path.read_bytes()
    with path.open("rb") as text:
        lines.started_ms(path, text)
        types = [line.type for line in lines.lines(path, text)]
    assert types.index(lines.BEGUN) < types.index("MODIFIED")
    assert types.count(lines.REACHED) == len(KINDS)


async def test_a_recording_goes_on_where_it_stopped(tmp_path: Path) -> None:
    cluster, path, clock = Cluster(), tmp_path / "rec", VirtualClock()
    await cluster.create(pod("a"))
    async with recording(cluster, path, clock, []):
        pass
    await cluster.create(pod("b"))
    await cluster.delete(POD, "ns", "a")
    async with recording(cluster, path, clock, []):
        pass
    assert told(path) == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]
    assert len(list(record.read(None, path).events())) == 3


async def test_where_the_way_back_is_compacted_only_what_is_different_is_written(tmp_path: Path) -> None:
    cluster, path, clock = Cluster(), tmp_path / "rec", VirtualClock()
    for name in ("same", "gone", "other"):
        await cluster.create(pod(name))
    async with recording(cluster, path, clock, []):
        pass
    await cluster.delete(POD, "ns", "gone")
    await cluster.patch(POD, "ns", "other", {"metadata": {"labels": {"a": "b"}}})
    await cluster.create(pod("new"))
    cluster.compact()
    async with recording(cluster, path, clock, []):
        pass
    assert sorted(told(path)[3:]) == [("ADDED", "new"), ("DELETED", "gone"), ("MODIFIED", "other")]


async def test_a_line_that_a_killed_writer_left_is_dropped(tmp_path: Path) -> None:
    cluster, path, clock = Cluster(), tmp_path / "rec", VirtualClock()
    async with recording(cluster, path, clock, []):
        pass
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"at_ms": 1, "type": "ADD')
    async with recording(cluster, path, clock, []):
        await cluster.create(pod("a"))
    assert told(path) == [("ADDED", "a")]
    path.write_bytes(b'{"kumi": "rec')
    async with recording(cluster, path, clock, []):
        pass
    assert told(path) == [("ADDED", "a")], "a head that was torn is written anew"


async def test_a_lost_connection_is_told_and_taken_up_again(tmp_path: Path) -> None:
    cluster, path, said = Cluster(), tmp_path / "rec", list[str]()
    async with recording(cluster, path, VirtualClock(), said):
        cluster.cut(ConnectionError("gone"))
        await idle()
        await cluster.create(pod("a"))
    assert told(path) == [("ADDED", "a")]
    assert "pods: the connection was lost (gone); trying again" in said


async def test_a_refused_watch_is_told_and_listed_again(tmp_path: Path) -> None:
    cluster, path, said = Cluster(), tmp_path / "rec", list[str]()
    async with recording(cluster, path, VirtualClock(), said):
        cluster.cut(ApiError(500, "InternalError", "not now"))
        await cluster.create(pod("a"))
    assert told(path) == [("ADDED", "a")]
    assert "pods: not now; trying again" in said


async def test_a_cluster_that_lacks_a_kind_is_recorded_without_it(tmp_path: Path) -> None:
    cluster, path = Cluster(lacks=("Workload",)), tmp_path / "rec"
    async with recording(cluster, path, VirtualClock(), []) as recorder:
        await cluster.create(pod("a"))
    assert recorder.missing == [SCHEME.of(Workload).resource]
    assert told(path) == [("ADDED", "a")]


async def test_times_never_go_back(tmp_path: Path) -> None:
    cluster, path = Cluster(), tmp_path / "rec"
    async with recording(cluster, path, VirtualClock(9_000_000_000_000), []):
        await cluster.create(pod("a"))
    async with recording(cluster, path, VirtualClock(), []):
        await cluster.create(pod("b"))
    assert [event.at_ms >= 9_000_000_000_000 for event in record.read(None, path).events()] == [True, True]


def test_a_recording_has_one_writer(tmp_path: Path) -> None:
    with File(tmp_path / "rec", 0), pytest.raises(KumiError, match="is being written by another"):
        File(tmp_path / "rec", 0)
    File(tmp_path / "rec", 0).__exit__(None, None, None)


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("my notes\n")
    with pytest.raises(TraceError, match="is no recording"):
        File(path, 0)
    assert path.read_text() == "my notes\n"


def test_jobs_and_all_that_decisions_depend_on_are_recorded_those_that_others_refer_to_first() -> None:
    kinds = [kind.kind for kind in KINDS]
    assert len(set(kinds)) == len(kinds)
    assert {"PyTorchJob", "Job", "LimitRange", "PersistentVolumeClaim", "ClusterQueue", "WorkloadPriorityClass"} < set(
        kinds
    )
    assert kinds[-2:] == ["Workload", "Pod"]
    assert kinds.index("Node") < kinds.index("Pod")
    assert SCHEME.of(Node) in KINDS
