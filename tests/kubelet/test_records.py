from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kumi.kubelet import records


def test_a_record_is_read_as_it_was_written_and_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "r"
    assert records.read(path) is None
    records.write(path, {"a": 1})
    records.write(path, {"b": "ü"})
    assert records.read(path) == {"b": "ü"}
    assert os.listdir(tmp_path) == ["r"]


def test_what_is_no_record_reads_as_none(tmp_path: Path) -> None:
    for text in ("", "[1]", "{", "\xff"):
        (tmp_path / "r").write_text(text)
        assert records.read(tmp_path / "r") is None


def test_a_record_that_is_written_in_pieces_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    records.write(tmp_path / "r", {"a": "b" * 20})
    assert records.read(tmp_path / "r") == {"a": "b" * 20}


def test_a_full_disk_leaves_the_old_record_and_no_scraps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records.write(tmp_path / "r", {"a": 1})
    write, room = os.write, [7]

    def full(descriptor: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[: room.pop()])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        records.write(tmp_path / "r", {"a": "b" * 20})
    assert records.read(tmp_path / "r") == {"a": 1}
    with pytest.raises(OSError, match="No space"):
        records.claim(tmp_path / "claimed", {"a": 1})
    assert not records.claim(tmp_path / "r", {"a": 2})
    assert os.listdir(tmp_path) == ["r"]


def test_only_the_first_claim_succeeds(tmp_path: Path) -> None:
    assert records.claim(tmp_path / "r", {"who": 1})
    assert not records.claim(tmp_path / "r", {"who": 2})
    assert records.read(tmp_path / "r") == {"who": 1}
    assert os.listdir(tmp_path) == ["r"]


def test_a_process_is_known_by_more_than_its_id() -> None:
    me = records.who_is(os.getpid())
    assert me is not None
    assert me.runs()
    assert not me._replace(ticks=me.ticks + 1).runs()
    assert not me._replace(boot="another").runs()


def test_a_zombie_does_not_run() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    who = records.who_is(child)
    assert who is not None
    assert not who.runs()
    os.waitpid(child, 0)
    assert records.who_is(child) is None
    assert records.stat_of(child) is None
