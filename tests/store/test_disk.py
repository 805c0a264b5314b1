"""The file of a store."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.store.base import StoreFailed
from kumi.store.disk import SCHEMA, UPGRADES, Disk, Row
from kumi.store.ledger import FIRST
from kumi.store.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "store.db"


def test_a_new_file_is_made_with_its_directory_and_starts_at_the_first_revision(path: Path) -> None:
    disk = Disk(path)
    assert (disk.newest(), disk.compacted(), list(disk.read())) == (FIRST, 0, [])
    disk.close()


def test_rows_are_committed_all_or_none(path: Path) -> None:
    disk = Disk(path)
    disk.append([Row(2, "/a", 0, 2, b"1")])
    with pytest.raises(StoreFailed):
        disk.append([Row(3, "/b", 0, 3, b"2"), Row(3, "/c", 0, 3, b"3")])
    disk.append([Row(4, "/c", 0, 4, b"4")])
    assert list(disk.read()) == [(2, "/a", 2, b"1"), (4, "/c", 4, b"4")]
    disk.close()


def test_of_two_writes_that_follow_the_same_row_the_file_refuses_the_second(path: Path) -> None:
    disk = Disk(path)
    disk.append([Row(2, "/a", 0, 2, b"1"), Row(3, "/a", 2, 2, b"2")])
    with pytest.raises(StoreFailed, match="UNIQUE"):
        disk.append([Row(4, "/a", 2, 2, b"3")])
    disk.close()


def test_a_commit_that_was_done_in_spite_of_its_error_counts_as_done(path: Path) -> None:
    disk = Disk(path)
    raised: list[str] = []

    class Flaky:
        """A connection whose writes work and then report an error."""

        def __init__(self, db: sqlite3.Connection) -> None:
            self.db = db

        def execute(self, statement: str, *more: object) -> object:
            result = self.db.execute(statement, *more)  # type: ignore[arg-type]
            if statement.startswith(("INSERT", "COMMIT")):
                raised.append(statement)
                raise sqlite3.OperationalError("disk I/O error")
            return result

        def __getattr__(self, name: str) -> object:
            return getattr(self.db, name)

    real = disk._db
    disk._db = Flaky(real)  # type: ignore[assignment]
    disk.append([Row(2, "/a", 0, 2, b"1")])
    disk._db = real
    assert len(raised) == 1
    assert list(disk.read()) == [(2, "/a", 2, b"1")]
    disk.close()


def test_compaction_deletes_the_rows_and_survives_a_restart(path: Path) -> None:
    disk = Disk(path)
    disk.append([Row(2, "/a", 0, 2, b"1"), Row(3, "/a", 2, 2, b"2")])
    disk.compact([2], 3)
    disk.close()
    again = Disk(path)
    assert again.compacted() == 3
    assert list(again.read()) == [(3, "/a", 2, b"2")]
    assert again.newest() == 3
    again.close()


def test_a_newer_schema_is_refused_by_name(path: Path) -> None:
    Disk(path).close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (SCHEMA + 1,))
    db.close()
    with pytest.raises(KumiError, match=rf"{path}: was written by a newer version \(schema {SCHEMA + 1}"):
        Disk(path)


def test_a_database_of_something_else_is_refused(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE songs (title TEXT)")
    db.close()
    with pytest.raises(KumiError, match=r"database of something else \(tables: songs\)"):
        Disk(path)


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"hello, this is no database at all" * 100)
    with pytest.raises(KumiError, match="can't be read as a store"):
        Disk(path)


def test_a_directory_that_can_not_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KumiError, match="can't be opened"):
        Disk(tmp_path / "file" / "store.db")


def test_a_damaged_file_is_named(path: Path) -> None:
    disk = Disk(path)
    disk.append([Row(i, f"/{i}", 0, i, b"x" * 5000) for i in range(2, 200)])
    disk.close()
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(os.urandom(1) * 200_000)
    with pytest.raises(KumiError, match=str(path)):
        list(Disk(path).read())


def test_the_lock_is_free_again_after_a_failed_start(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"hello, this is no database at all" * 100)
    with pytest.raises(KumiError):
        Disk(path)
    path.unlink()
    Disk(path).close()


def test_a_second_opener_is_told_who_holds_the_store(path: Path) -> None:
    disk = Disk(path)
    with pytest.raises(KumiError, match=rf"in use by another process \(process {os.getpid()}\)"):
        Disk(path)
    disk.close()
    Disk(path).close()


async def test_a_file_of_version_1_is_upgraded_and_holds_what_it_held(path: Path) -> None:
    path.parent.mkdir()
    shutil.copy(Path(__file__).parent / "fixtures" / "version-1.db", path)
    for _ in range(2):
        store = SqliteStore.open(path)
        assert [(entry.key, entry.value) for entry in store.list("/").entries] == [("/a", b"three"), ("/c", b"five")]
        assert (store.compacted, store.revision) == (4, 7)
        await store.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone() == (SCHEMA,)
        assert db.execute("PRAGMA auto_vacuum").fetchone() == (2,)


async def test_a_kill_in_the_middle_of_an_upgrade_only_repeats_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir()
    shutil.copy(Path(__file__).parent / "fixtures" / "version-1.db", path)
    monkeypatch.setitem(UPGRADES, 1, UPGRADES[1] + "this is no statement;")
    with pytest.raises(KumiError, match="can't be read"):
        Disk(path)
    monkeypatch.undo()
    disk = Disk(path)
    assert [key for _, key, _, _ in disk.read()] == ["/b", "/a", "/b", "/c", "/c"]
    disk.close()


def test_every_older_schema_has_its_upgrade() -> None:
    assert sorted(UPGRADES) == list(range(1, SCHEMA))


async def test_compaction_gives_room_back(path: Path) -> None:
    store = SqliteStore.open(path)
    for _ in range(100):
        await store.put("/a", b"x" * 100_000)
    await store.compact(store.revision)
    await store.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA page_count").fetchone()[0] < 100


def test_nobody_else_may_read_the_file(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "store.db")
    disk.append([Row(2, "/k", 0, 2, b"secret")])
    modes = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.glob("store.db*") if path.suffix != ".lock"}
    disk.close()
    assert set(modes.values()) == {0}
    assert len(modes) >= 2
