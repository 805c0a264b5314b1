"""Who serves a data directory is known by process id and start time."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from kumi.cli.instance import Instance, forget_instance, read_instance, write_instance


def test_what_this_process_wrote_is_read_back(tmp_path: Path) -> None:
    write_instance(tmp_path, "https://127.0.0.1:1")
    found = read_instance(tmp_path)
    assert found is not None
    assert (found.pid, found.url) == (os.getpid(), "https://127.0.0.1:1")


def test_a_process_id_that_was_used_again_does_not_count() -> None:
    assert not Instance(os.getpid(), psutil.Process().create_time() - 100, "").runs()


def test_what_a_crash_left_or_nonsense_is_nobody(tmp_path: Path) -> None:
    assert read_instance(tmp_path) is None
    (tmp_path / "server.json").write_text('{"pid": ')
    assert read_instance(tmp_path) is None
    (tmp_path / "server.json").write_text("[1]")
    assert read_instance(tmp_path) is None


def test_forgetting_twice_is_fine(tmp_path: Path) -> None:
    write_instance(tmp_path, "x")
    forget_instance(tmp_path)
    forget_instance(tmp_path)
    assert read_instance(tmp_path) is None
