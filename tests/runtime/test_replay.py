"""Replay files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumi.api.meta import ObjectMeta
from kumi.runtime.cache import Cache
from kumi.runtime.replay import KEEP, Replay, ReplayFiles, objects_of

from .kinds import Pod, Thing, ThingSpec


def replay(now_ms: int = 1) -> Replay:
    cache = Cache([Thing, Pod])
    cache.set(Thing(metadata=ObjectMeta(name="a", namespace="ns"), spec=ThingSpec(size=3)))
    return Replay("loop", "ns/a", now_ms, "InvariantError: oh", objects_of(cache, [Thing, Pod]), ["apply ns/a"])


def test_a_file_has_what_the_loop_saw(tmp_path: Path) -> None:
    ReplayFiles(tmp_path / "replays")(replay())
    (path,) = (tmp_path / "replays").iterdir()
    told = json.loads(path.read_text())
    assert (told["loop"], told["key"], told["now_ms"], told["error"]) == ("loop", "ns/a", 1, "InvariantError: oh")
    assert [o["spec"]["size"] for o in told["objects"]["Thing"]] == [3]
    assert told["objects"]["Pod"] == []
    assert told["recent"] == ["apply ns/a"]


def test_only_the_newest_files_are_kept_and_none_overwrites_another(tmp_path: Path) -> None:
    files = ReplayFiles(tmp_path)
    for now_ms in (*range(KEEP), KEEP, KEEP):
        files(replay(now_ms))
    kept = sorted(json.loads(p.read_text())["now_ms"] for p in tmp_path.iterdir())
    assert kept == [*range(2, KEEP), KEEP, KEEP]


def test_a_disk_that_refuses_is_logged_and_not_an_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    ReplayFiles(tmp_path / "file")(replay())
    assert "no replay file for loop" in caplog.text
