"""A private view of this machine: each test enters one in a fork."""

from __future__ import annotations

import os
import socket
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from kumi.kubelet import mounts
from kumi.kubelet.mounts import CannotProvide, Mount, View, enter

pytestmark = pytest.mark.process
KINDS = (mounts.MOUNT, mounts.USER) if os.geteuid() == 0 else (mounts.USER,)


def in_a_view(
    tmp_path: Path, isolation: str, wanted: list[Mount], look: Callable[[], None], kept: list[str] | None = None
) -> None:
    """Runs `look` in a fork that has the view; not run where such a view can't be had."""
    staging = tmp_path / "staging"
    staging.mkdir()
    problem = tmp_path / "problem"
    child = os.fork()
    if child == 0:
        code = 0
        try:
            enter(View(isolation, "inside", wanted, kept or [], str(staging)))
            look()
        except PermissionError:
            code = 77
        except BaseException:
            problem.write_text(traceback.format_exc())
            code = 1
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 77:
        pytest.skip(f"not run: {isolation} namespaces are not allowed here")
    assert code == 0, problem.read_text()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "volume").mkdir()
    (tmp_path / "volume" / "file").write_text("content")
    return tmp_path / "volume"


@pytest.mark.parametrize("isolation", KINDS)
def test_a_path_that_the_machine_does_not_have_is_there_inside_only(
    tmp_path: Path, source: Path, isolation: str
) -> None:
    targets = ["/kumi-test/deep/down", "/etc/kumi-test", "/usr/kumi-test/x"]

    def look() -> None:
        for target in targets:
            assert Path(target, "file").read_text() == "content"
            Path(target, "written").write_text("by the container")
        assert Path("/etc/passwd").read_text()
        assert os.path.exists("/proc/self/status")

    entries = {d: sorted(os.listdir(d)) for d in ("/", "/etc", "/usr")}
    in_a_view(tmp_path, isolation, [Mount(str(source), t) for t in targets], look)
    assert {d: sorted(os.listdir(d)) for d in entries} == entries
    assert (source / "written").read_text() == "by the container"


@pytest.mark.parametrize("isolation", KINDS)
def test_an_existing_file_is_bound_over_and_the_host_name_is_private(
    tmp_path: Path, source: Path, isolation: str
) -> None:
    def look() -> None:
        assert Path("/etc/hosts").read_text() == "content"
        assert socket.gethostname() == "inside"

    before = socket.gethostname()
    in_a_view(tmp_path, isolation, [Mount(str(source / "file"), "/etc/hosts")], look)
    assert socket.gethostname() == before


@pytest.mark.parametrize("isolation", KINDS)
def test_a_read_only_mount_can_not_be_written(tmp_path: Path, source: Path, isolation: str) -> None:
    def look() -> None:
        with pytest.raises(OSError, match="Read-only"):
            Path("/kumi-test/file").write_text("x")

    in_a_view(tmp_path, isolation, [Mount(str(source), "/kumi-test", read_only=True)], look)


@pytest.mark.parametrize("isolation", KINDS)
def test_a_mount_below_another_is_there(tmp_path: Path, source: Path, isolation: str) -> None:
    other = tmp_path / "other"
    other.mkdir()

    def look() -> None:
        assert Path("/kumi-test/inner/file").read_text() == "content"

    in_a_view(tmp_path, isolation, [Mount(str(source), "/kumi-test/inner"), Mount(str(other), "/kumi-test")], look)


@pytest.mark.parametrize("isolation", KINDS)
def test_below_a_kept_directory_what_the_program_writes_next_to_the_mount_stays(
    tmp_path: Path, source: Path, isolation: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()

    def look() -> None:
        assert (work / "data" / "file").read_text() == "content"
        (work / "checkpoint").write_text("kept")

    in_a_view(tmp_path, isolation, [Mount(str(source), str(work / "data"))], look, kept=[str(work)])
    assert (work / "checkpoint").read_text() == "kept"
    assert list((work / "data").iterdir()) == []


@pytest.mark.parametrize("isolation", KINDS)
def test_what_can_not_be_provided_is_said(tmp_path: Path, source: Path, isolation: str) -> None:
    def look_at(wanted: Mount, words: str) -> Callable[[], None]:
        def look() -> None:
            raise AssertionError(f"{wanted} was provided, wanted: {words}")

        return look

    wanted = Mount(str(source), "/etc/passwd")
    with pytest.raises(AssertionError, match="can't mount a directory at /etc/passwd: there is a file"):
        in_a_view(tmp_path, isolation, [wanted], look_at(wanted, "a refusal"))


@pytest.mark.parametrize("isolation", KINDS)
def test_a_link_out_of_its_volume_is_not_mounted(tmp_path: Path, source: Path, isolation: str) -> None:
    (source / "link").symlink_to("/etc")
    wanted = Mount(str(source / "link"), "/kumi-test", within=str(source))
    with pytest.raises(AssertionError, match="leads out of its volume"):
        in_a_view(tmp_path, isolation, [wanted], lambda: None)


def test_no_view_is_no_change(tmp_path: Path) -> None:
    enter(View(mounts.NONE, "inside", [Mount("/no/such", "/no/where")], [], str(tmp_path)))
    assert socket.gethostname() != "inside"


def test_a_refusal_is_an_os_error_with_words() -> None:
    assert str(CannotProvide("why")) == "why"
