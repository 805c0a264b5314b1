"""Backups: consistent while the store is written to, whole or not there, and put back without using a revision again."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.store.backup import LEAP, back_up, restore
from kumi.store.base import Compacted
from kumi.store.sqlite import SqliteStore

FILES = {"pki/ca.key": b"secret", "pki/ca.crt": b"public"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "kumi.db"


async def test_a_backup_holds_one_moment_of_a_store_that_is_written_to(source: Path, tmp_path: Path) -> None:
    """Two keys are always written one after the other: whatever the moment, they are as far, or one behind the other."""
    store = SqliteStore.open(source)
    done = asyncio.Event()

    async def write() -> None:
        for count in itertools.count(1):
            if done.is_set():
                return
            for key in ("/first", "/second"):
                await store.put(key, str(count).encode())

    writer = asyncio.create_task(write())
    for round_ in range(5):
        backup = tmp_path / f"backup-{round_}"
        revision = await asyncio.to_thread(back_up, source, backup, {})
        restore(backup, tmp_path / f"restored-{round_}.db")
        copy = SqliteStore.open(tmp_path / f"restored-{round_}.db")
        counts = [int(entry.value) if (entry := copy.get(key)) else 0 for key in ("/first", "/second")]
        assert counts[0] - counts[1] in (0, 1)
        assert copy.revision == revision + LEAP
        await copy.close()
    done.set()
    await writer
    await store.close()


async def test_objects_come_back_at_their_revisions_and_none_is_used_again(source: Path, tmp_path: Path) -> None:
    store = SqliteStore.open(source)
    await store.put("/a", b"1")
    await store.put("/a", b"2")
    kept = await store.put("/b", b"3")
    await store.put("/c", b"4")
    newest = await store.put("/c", None)
    assert back_up(source, tmp_path / "backup", FILES) == newest
    await store.put("/lost", b"5")
    await store.close()

    assert restore(tmp_path / "backup", tmp_path / "new" / "kumi.db") == FILES
    again = SqliteStore.open(tmp_path / "new" / "kumi.db")
    assert [(entry.key, entry.value) for entry in again.list("/").entries] == [("/a", b"2"), ("/b", b"3")]
    found = again.get("/b")
    assert found is not None
    assert found.revision == kept
    with pytest.raises(Compacted):
        again.watch("/", newest + 1)
    assert await again.put("/c", b"6") == newest + LEAP + 1
    assert await again.put("/a", b"7", found.revision - 1) > newest
    await again.close()


async def test_a_store_that_nobody_uses_is_backed_up_too(source: Path, tmp_path: Path) -> None:
    await SqliteStore.open(source).close()
    back_up(source, tmp_path / "backup", FILES)
    assert (tmp_path / "backup").stat().st_mode & 0o077 == 0, "it holds secrets"
    assert restore(tmp_path / "backup", tmp_path / "new.db") == FILES


async def test_a_store_in_use_is_not_replaced(source: Path, tmp_path: Path) -> None:
    store = SqliteStore.open(source)
    back_up(source, tmp_path / "backup", {})
    with pytest.raises(KumiError, match="in use"):
        restore(tmp_path / "backup", source)
    await store.close()


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be looked at" * 99])
async def test_what_is_no_backup_changes_nothing(content: bytes, source: Path, tmp_path: Path) -> None:
    store = SqliteStore.open(source)
    await store.put("/a", b"1")
    await store.close()
    (tmp_path / "wrong").write_bytes(content)
    with pytest.raises(KumiError, match=r"no backup|damaged"):
        restore(tmp_path / "wrong", source)
    again = SqliteStore.open(source)
    assert again.get("/a")
    await again.close()
    assert not (tmp_path / "kumi.db.new").exists()


async def test_a_store_is_not_taken_for_a_backup(source: Path, tmp_path: Path) -> None:
    await SqliteStore.open(source).close()
    with pytest.raises(KumiError, match="is no backup"):
        restore(source, tmp_path / "other.db")


async def test_a_damaged_backup_is_refused(source: Path, tmp_path: Path) -> None:
    store = SqliteStore.open(source)
    for number in range(200):
        await store.put(f"/{number}", b"x" * 3000)
    await store.close()
    back_up(source, tmp_path / "backup", {})
    with (tmp_path / "backup").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 100_000)
    with pytest.raises(KumiError, match="damaged"):
        restore(tmp_path / "backup", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


async def test_a_backup_of_a_newer_version_is_refused(source: Path, tmp_path: Path) -> None:
    await SqliteStore.open(source).close()
    back_up(source, tmp_path / "backup", {})
    with sqlite3.connect(tmp_path / "backup") as db:
        db.execute("UPDATE meta SET value = 99 WHERE name = 'schema'")
    db.close()
    with pytest.raises(KumiError, match="newer version"):
        restore(tmp_path / "backup", tmp_path / "new.db")


def test_a_backup_that_can_not_be_written_leaves_nothing(source: Path, tmp_path: Path) -> None:
    with pytest.raises(KumiError, match="no store"):
        back_up(source, tmp_path / "backup", {})
    assert list(tmp_path.iterdir()) == []
