"""kubectl logs over files that a shim wrote."""

from __future__ import annotations

import asyncio
import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.meta import EPOCH
from kumi.kubelet.log_files import Limits, Log, files_of
from kumi.kubelet.logs import ProcessLogs, container_of, drop_old, parse_log_time
from kumi.kubelet.pod_record import home_of
from kumi.runtime.clock import RealClock
from kumi.runtime.streams import LogOptions
from tests.kubelet.stage import Cluster, container, pod, status

POD = pod("p", "true", meta={"uid": "u"})
SECOND = 1_700_000_000_000


class Files:
    """The log files of a pod, with the times that a test wants."""

    def __init__(self, data_dir: Path) -> None:
        self.home = home_of(data_dir, POD) / "main"
        self.home.mkdir(parents=True, exist_ok=True)
        self.source = ProcessLogs(data_dir, RealClock())

    def write(self, *entries: tuple[int, str, bytes], attempt: int = 0, ended: bool = True) -> None:
        """(milliseconds after SECOND, tag, text) each."""
        text = b"".join(b"%s stdout %s %s\n" % (time_of(ms), tag.encode(), body) for ms, tag, body in entries)
        with (self.home / f"{attempt}.log").open("ab") as file:
            file.write(text)
        (self.home / f"{attempt}.run").touch()
        if ended:
            (self.home / f"{attempt}.exit").touch()

    async def read(self, found: dict[str, Any] = POD, **options: Any) -> bytes:
        return b"".join([piece async for piece in self.source.logs(found, LogOptions(**options))])


def time_of(ms: int) -> bytes:
    moment = EPOCH + dt.timedelta(milliseconds=SECOND + ms)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f").encode() + b"000Z"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


LINES = ((0, "F", b"one"), (1000, "F", b"two"), (2000, "P", b"thr"), (2500, "F", b"ee"), (3000, "P", b"rest"))


async def test_the_programs_bytes_come_out_as_they_were(files: Files) -> None:
    files.write(*LINES)
    assert await files.read() == b"one\ntwo\nthree\nrest"


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(max_size=40))))
def test_what_a_shim_writes_of_one_stream_is_what_kubectl_shows(
    tmp_path: Path, pieces: list[tuple[str, bytes]]
) -> None:
    only_out = [data for stream, data in pieces if stream == "stdout"]
    files = Files(tmp_path)
    path = files.home / "0.log"
    path.unlink(missing_ok=True)
    log = Log(str(files.home / "0"))
    for data in only_out:
        log.take("stdout", data)
    log.close()
    (files.home / "0.run").touch()
    (files.home / "0.exit").touch()
    assert asyncio.run(files.read()) == b"".join(only_out)


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [(0, b""), (1, b"rest"), (2, b"three\nrest"), (3, b"two\nthree\nrest"), (9, b"one\ntwo\nthree\nrest")],
)
async def test_tail_counts_the_programs_lines(files: Files, lines: int, wanted: bytes) -> None:
    files.write(*LINES)
    assert await files.read(tail_lines=lines) == wanted


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("FFP"), st.integers(1, 60_000)), max_size=12), st.integers(0, 14))
def test_tail_is_the_end_of_the_whole(tmp_path: Path, sizes: list[tuple[str, int]], lines: int) -> None:
    files = Files(tmp_path)
    (files.home / "0.log").unlink(missing_ok=True)
    files.write(*((i, tag, b"x" * size) for i, (tag, size) in enumerate(sizes)))
    whole = asyncio.run(files.read()).splitlines(keepends=True)
    assert asyncio.run(files.read(tail_lines=lines)) == b"".join(whole[max(len(whole) - lines, 0) :])


async def test_times_are_shown_once_a_line(files: Files) -> None:
    files.write(*LINES)
    text = await files.read(timestamps=True)
    assert text == b"%s one\n%s two\n%s three\n%s rest" % tuple(time_of(ms) for ms in (0, 1000, 2000, 3000))


async def test_since_leaves_out_what_is_older(files: Files) -> None:
    files.write(*LINES)
    assert await files.read(since_ms=SECOND + 1000) == b"two\nthree\nrest"


async def test_the_limit_is_on_what_is_shown(files: Files) -> None:
    files.write(*LINES)
    assert await files.read(limit_bytes=5) == b"one\nt"


async def test_following_ends_with_the_container_and_loses_nothing(files: Files) -> None:
    files.write((0, "F", b"first"), ended=False)
    reader = asyncio.create_task(files.read(follow=True))
    for number in range(20):
        await asyncio.sleep(0.01)
        files.write((number, "F", b"%d" % number), ended=number == 19)
    assert await asyncio.wait_for(reader, 20) == b"first\n" + b"".join(b"%d\n" % n for n in range(20))


async def test_following_ends_when_the_pods_files_are_removed(files: Files) -> None:
    files.write((0, "F", b"first"), ended=False)
    reader = asyncio.create_task(files.read(follow=True))
    await asyncio.sleep(0.02)
    (files.home / "0.run").unlink()
    assert await asyncio.wait_for(reader, 20) == b"first\n"


def rotated(files: Files, attempt: int = 0, lines: int = 100) -> bytes:
    """A log in several files; what of it is kept."""
    stem = str(files.home / str(attempt))
    log = Log(stem, Limits(700, 4))
    for number in range(lines):
        log.take("stdout", b"line %d\n" % number)
    log.close()
    (files.home / f"{attempt}.run").touch()
    (files.home / f"{attempt}.exit").touch()
    assert len(files_of(stem)) == 4
    text = b"".join(Path(path).read_bytes() for _, path in files_of(stem))
    return b"".join(entry[40:] + b"\n" for entry in text.split(b"\n")[:-1])


async def test_all_files_that_rotation_kept_are_read_as_one(files: Files) -> None:
    kept = rotated(files)
    assert kept.endswith(b"line 99\n")
    assert await files.read() == kept


@pytest.mark.parametrize("lines", [0, 1, 5, 13, 14, 15, 30, 40, 1000])
async def test_tail_goes_back_over_files(files: Files, lines: int) -> None:
    kept = rotated(files).splitlines(keepends=True)
    assert await files.read(tail_lines=lines) == b"".join(kept[max(0, len(kept) - lines) :])


async def test_since_times_and_limit_hold_over_files(files: Files) -> None:
    files.write((0, "F", b"old"), ended=False)
    for number, lines in (
        (1, ((500, "F", b"old too"), (1500, "P", b"ha"))),
        (2, ((2000, "F", b"lf"), (2500, "F", b"end"))),
    ):
        text = b"".join(b"%s stdout %s %s\n" % (time_of(ms), tag.encode(), body) for ms, tag, body in lines)
        (files.home / f"0.{number}.log").write_bytes(text)
    assert await files.read(since_ms=SECOND + 1000) == b"half\nend\n"
    assert await files.read(since_ms=SECOND + 1000, timestamps=True) == b"%s half\n%s end\n" % (
        time_of(1500),
        time_of(2500),
    )
    assert await files.read(limit_bytes=15) == b"old\nold too\nhal"
    assert await files.read(tail_lines=2) == b"half\nend\n"


async def test_previous_reads_all_its_files(files: Files) -> None:
    kept = rotated(files)
    rotated(files, attempt=1, lines=50)
    assert await files.read(previous=True) == kept


async def test_following_goes_from_file_to_file_and_loses_nothing(files: Files) -> None:
    stem = str(files.home / "0")
    log = Log(stem, Limits(700, 4))
    (files.home / "0.run").touch()
    reader = asyncio.create_task(files.read(follow=True))
    for number in range(200):
        log.take("stdout", b"line %d\n" % number)
        if number % 10 == 9:
            await asyncio.sleep(0.06)
    log.close()
    (files.home / "0.exit").touch()
    assert await asyncio.wait_for(reader, 20) == b"".join(b"line %d\n" % n for n in range(200))
    assert files_of(stem)[0][0] > 0


async def test_previous_is_the_attempt_before(files: Files) -> None:
    with pytest.raises(ApiError, match='previous terminated container "main" in pod "p" not found'):
        await files.read(previous=True)
    files.write((0, "F", b"first"), attempt=0)
    files.write((0, "F", b"second"), attempt=1, ended=False)
    assert await files.read(previous=True) == b"first\n"
    assert await files.read() == b"second\n"


async def test_while_it_waits_to_run_again_the_last_attempt_is_the_previous_one(files: Files) -> None:
    files.write((0, "F", b"first"), attempt=0)
    crashed = {**POD, "status": {"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "C"}}}]}}
    assert await files.read(crashed, previous=True) == b"first\n"


async def test_a_container_that_has_not_begun_says_why(files: Files) -> None:
    waiting = {
        **POD,
        "status": {"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}]},
    }
    for found, reason in ((POD, "ContainerCreating"), (waiting, "PodInitializing")):
        with pytest.raises(ApiError) as error:
            await files.read(found)
        assert error.value.code == 400
        assert error.value.message == f'container "main" in pod "p" is waiting to start: {reason}'


async def test_a_pod_that_failed_before_it_began_has_an_empty_log(files: Files) -> None:
    assert await files.read({**POD, "status": {"phase": "Failed"}}) == b""


def test_the_container_is_the_only_one_the_default_or_named() -> None:
    two = pod("p", container("x", "a"), container("x", "b"), initContainers=[container("x", "i")])
    assert container_of(POD, "") == "main"
    assert container_of(two, "i") == "i"
    default = pod(
        "p",
        container("x", "a"),
        container("x", "b"),
        meta={"annotations": {"kubectl.kubernetes.io/default-container": "b"}},
    )
    assert container_of(default, "") == "b"
    with pytest.raises(ApiError) as error:
        container_of(two, "")
    wanted = "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]"
    assert error.value.message == wanted
    with pytest.raises(ApiError, match="container c is not valid for pod p"):
        container_of(two, "c")


def test_two_attempts_are_kept(tmp_path: Path) -> None:
    for attempt in range(3):
        for suffix in ("log", "run", "exit"):
            (tmp_path / f"{attempt}.{suffix}").touch()
    (tmp_path / "1.1.log").touch()
    (tmp_path / "2.1.log").touch()
    drop_old(tmp_path, 1)
    drop_old(tmp_path, 3)
    assert sorted(p.name for p in tmp_path.glob("*.log")) == ["0.log", "2.1.log", "2.log"]


def test_a_time_is_read_to_the_millisecond() -> None:
    assert parse_log_time(time_of(7)) == SECOND + 7
    assert parse_log_time(b"nonsense") == 0


async def test_a_pod_without_a_node_has_an_empty_log(files: Files) -> None:
    assert await files.read({**POD, "spec": {**POD["spec"], "nodeName": ""}}) == b""


@pytest.mark.process
async def test_following_a_container_shows_every_line_while_its_log_is_bounded(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "c", log=Limits(20_000, 3))
    await cluster.start()
    try:
        script = "i=0; while [ $i -lt 100 ]; do seq 1000 1099; i=$((i+1)); sleep 0.01; done; printf half; exit 1"
        await cluster.run(pod("p", container(script), restartPolicy="OnFailure"))
        await cluster.phase("p", "Running")
        seen = await asyncio.wait_for(cluster.log("p", follow=True), 60)
        assert seen == 100 * "".join(f"{n}\n" for n in range(1000, 1100)) + "half"
        await cluster.until("p", lambda p: status(p)["restartCount"] > 0, "running again")
        before = await cluster.log("p", previous=True)
        assert seen.endswith(before)
        assert len(before) > 5_000
        assert (await cluster.log("p", previous=True, tail_lines=2)) == "1099\nhalf"
        for home in (cluster.data_dir / "pods").glob("*/main"):
            assert sum(log.stat().st_size for log in home.glob("0*.log")) <= 60_000
    finally:
        await cluster.crash()
        cluster.end()


@pytest.mark.process
async def test_following_shows_a_line_before_it_is_complete(cluster: Cluster) -> None:
    script = "printf ' 10%%'; while [ ! -e go ]; do sleep 0.02; done; echo ' done'"
    await cluster.run(pod("p", container(script, workingDir=str(cluster.data_dir))))
    found = await cluster.phase("p", "Running")
    pieces = cluster.logs.logs(found, LogOptions(follow=True))
    assert await asyncio.wait_for(anext(pieces), 20) == b" 10%"
    (cluster.data_dir / "go").touch()
    assert b"".join([piece async for piece in pieces]) == b" done\n"
