"""The files of a container's log."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kumi.kubelet import log_files
from kumi.kubelet.log_files import LINE_BYTES, PART_MS, PREFIX_BYTES, Limits, Log, files_of, path_of, split_name


def entries_of(stem: str) -> list[bytes]:
    """All entries that are kept, oldest first."""
    text = b"".join(Path(path).read_bytes() for _, path in files_of(stem))
    assert not text or text.endswith(b"\n")
    return text.split(b"\n")[:-1]


def texts(stem: str) -> list[bytes]:
    return [entry[PREFIX_BYTES:] for entry in entries_of(stem)]


OUTPUT = st.lists(st.binary(min_size=1, max_size=300), max_size=30)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OUTPUT, st.integers(1, 500), st.integers(1, 5))
def test_what_is_kept_is_bounded_whole_and_the_end(tmp_path: Path, output: list[bytes], size: int, count: int) -> None:
    stem = str(tmp_path / "0")
    for _, path in files_of(stem):
        os.unlink(path)
    log = Log(stem, Limits(size, count))
    for data in output:
        log.take("stdout", data)
    log.close()
    files = files_of(stem)
    assert len(files) <= count
    assert [number for number, _ in files] == list(range(files[0][0], files[-1][0] + 1))
    for _, path in files:
        content = Path(path).read_bytes()
        assert len(content) <= size or content.count(b"\n") == 1
    kept = b"".join(e[PREFIX_BYTES:] + (b"\n" if e[38:39] == b"F" else b"") for e in entries_of(stem))
    assert b"".join(output).endswith(kept)
    assert not output or kept


def test_a_log_entry_is_a_time_a_stream_a_tag_and_the_text(tmp_path: Path) -> None:
    log = Log(str(tmp_path / "0"))
    log.take("stdout", b"one\ntw")
    log.take("stderr", b"\xff\x00\n")
    log.take("stdout", b"o\n" + b"x" * (LINE_BYTES + 3))
    log.close()
    entries = (tmp_path / "0.log").read_bytes().split(b"\n")[:-1]
    assert [(e[31:37], e[38:39], e[40:43], len(e) - 40) for e in entries] == [
        (b"stdout", b"F", b"one", 3),
        (b"stderr", b"F", b"\xff\x00", 2),
        (b"stdout", b"F", b"two", 3),
        (b"stdout", b"P", b"xxx", LINE_BYTES),
        (b"stdout", b"P", b"xxx", 3),
    ]
    assert all(e[29:30] == b"Z" and e[10:11] == b"T" for e in entries)


def test_a_part_is_shown_when_its_time_is_over_and_then_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns = 10**9
    monkeypatch.setattr(time, "monotonic_ns", lambda: now_ns)
    stem = str(tmp_path / "0")
    log = Log(stem)
    log.take("stderr", b" 10%")
    assert log.wait_ms() == PART_MS
    now_ns += 50 * 10**6
    log.take("stderr", b" 20%")
    log.show()
    assert (texts(stem), log.wait_ms()) == ([], PART_MS - 50)
    now_ns += (PART_MS - 50) * 10**6
    log.show()
    assert (texts(stem), log.wait_ms()) == ([b" 10% 20%"], None)
    log.take("stderr", b" done\n")
    log.close()
    assert [(e[38:39], e[PREFIX_BYTES:]) for e in entries_of(stem)] == [(b"P", b" 10% 20%"), (b"F", b" done")]


def test_a_log_that_is_there_is_gone_on_with(tmp_path: Path) -> None:
    stem = str(tmp_path / "0")
    for text in (b"a" * 50, b"b" * 50, b"c"):
        log = Log(stem, Limits(100, 5))
        log.take("stdout", text + b"\n")
        log.close()
    assert texts(stem) == [b"a" * 50, b"b" * 50, b"c"]
    assert [os.path.basename(path) for _, path in files_of(stem)] == ["0.log", "0.1.log", "0.2.log"]


class Disk:
    """os.write as of a disk with so many bytes left."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, left: int) -> None:
        self.left, self._write = left, os.write
        monkeypatch.setattr(log_files.os, "write", self.write)

    def write(self, file: int, text: bytes) -> int:
        if not self.left:
            raise OSError(errno.ENOSPC, "full")
        written = self._write(file, text[: self.left])
        self.left -= written
        return written


def test_a_full_disk_loses_lines_and_leaves_whole_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stem = str(tmp_path / "0")
    disk = Disk(monkeypatch, 2 * (PREFIX_BYTES + 4) + 10)
    log = Log(stem)
    log.take("stdout", b"one\ntwo\nlost\n")
    log.take("stdout", b"lost\n")
    disk.left = 1000
    log.take("stdout", b"again\n")
    log.close()
    assert texts(stem) == [b"one", b"two", b"again"]


def test_where_no_new_file_can_be_made_the_log_goes_on_when_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stem = str(tmp_path / "0")
    log = Log(stem, Limits(60, 2))
    log.take("stdout", b"one" * 6 + b"\n")

    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as full:
        full.setattr(log_files.os, "open", refuse)
        log.take("stdout", b"lost\nlost\n")
        log.take("stdout", b"lost\n")
    log.take("stdout", b"again\n")
    log.close()
    assert texts(stem) == [b"one" * 6, b"again"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("0.log", ("0", 0)),
        ("12.3.log", ("12", 3)),
        ("0.run", ("", 0)),
        ("x.log", ("", 0)),
        ("0.x.log", ("", 0)),
        ("0.1.2.log", ("", 0)),
        ("log", ("", 0)),
    ],
)
def test_a_log_is_told_by_its_name(name: str, wanted: tuple[str, int]) -> None:
    assert split_name(name) == wanted
    if wanted[0]:
        assert path_of(wanted[0], wanted[1]) == name


def test_of_a_directory_that_is_gone_there_are_no_files(tmp_path: Path) -> None:
    assert files_of(str(tmp_path / "gone" / "0")) == []
