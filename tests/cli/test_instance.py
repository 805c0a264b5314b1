"""Who serves a data directory is known by process id and start time, and the one that starts or stops by its store."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kumi.cli.instance import Instance, forget_instance, holder, read_instance, starter, write_instance, write_starter
from kumi.kubelet.records import who_is
from kumi.store.disk import Disk


def test_what_this_process_wrote_is_read_back(tmp_path: Path) -> None:
    write_instance(tmp_path, "https://127.0.0.1:1")
    found = read_instance(tmp_path)
    assert found is not None
    assert (found.pid, found.url) == (os.getpid(), "https://127.0.0.1:1")


def test_a_process_id_that_was_used_again_does_not_count() -> None:
    me = who_is(os.getpid())
    assert me is not None
    assert Instance(me, "").runs()
    assert not Instance(me._replace(ticks=me.ticks - 100), "").runs()


def test_a_clock_that_was_set_does_not_hide_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_instance(tmp_path, "x")
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: 1.0)
    monkeypatch.setattr("time.time", lambda: 2.0)
    assert read_instance(tmp_path) is not None


def test_a_store_that_is_open_has_a_holder_who_serves_nobody_yet(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    disk = Disk(tmp_path / "kumi.db")
    assert read_instance(tmp_path) is None
    assert holder(tmp_path) == who_is(os.getpid())
    disk.close()
    assert (tmp_path / "kumi.db.lock").exists()
    assert holder(tmp_path) is None


def test_asking_for_the_holder_keeps_nobody_from_the_store(tmp_path: Path) -> None:
    Disk(tmp_path / "kumi.db").close()
    (tmp_path / "kumi.db.lock").write_text("nonsense")
    assert holder(tmp_path) is None
    Disk(tmp_path / "kumi.db").close()


def test_what_a_crash_left_or_nonsense_is_nobody(tmp_path: Path) -> None:
    assert read_instance(tmp_path) is None
    (tmp_path / "server.json").write_text('{"pid": ')
    assert read_instance(tmp_path) is None
    (tmp_path / "server.json").write_text("[1]")
    assert read_instance(tmp_path) is None
    (tmp_path / "server.json").write_text('{"pid": 1, "started_s": 2.0, "url": "x"}')
    assert read_instance(tmp_path) is None


def test_who_is_about_to_serve_is_known_before_it_holds_anything(tmp_path: Path) -> None:
    assert starter(tmp_path) is None
    write_starter(tmp_path, os.getpid())
    assert starter(tmp_path) == who_is(os.getpid())
    assert (read_instance(tmp_path), holder(tmp_path)) == (None, None)
    gone = subprocess.Popen(["true"])
    write_starter(tmp_path, gone.pid)
    gone.wait()
    assert starter(tmp_path) is None


def test_forgetting_twice_is_fine(tmp_path: Path) -> None:
    write_instance(tmp_path, "x")
    forget_instance(tmp_path)
    forget_instance(tmp_path)
    assert read_instance(tmp_path) is None
