"""The file of a store: one append-only table in SQLite, one row a write, the row's id is the revision.

    log(revision, key, previous, created, value)      value NULL: a deletion
    meta(name, value)                                 schema, compacted

Durable    journal_mode=WAL and synchronous=FULL: a commit returns when its frames are on the disk; after a kill at any
           moment the file holds every committed transaction and no part of another one.
Once       AUTOINCREMENT: an id is never used again, not even after the newest row was compacted away.
Safe       `previous` is the revision of the row that this one replaces (0: none). (key, previous) is unique, so of two
           writes that follow the same row the second is refused by the file itself, whatever a process believes.
Alone      an exclusive lock on `<file>.lock`, held as long as the file is open: a second process is told so.
Source     etcd's revisions; the (key, previous revision) index is the idea of k3s' kine.
Not here   batching and order: sqlite.py; what is read: ledger.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kumi.api.errors import KumiError
from kumi.store.base import StoreFailed
from kumi.store.ledger import FIRST

SCHEMA = 2
"""The newest schema that this version reads and the one that it writes."""

UPGRADES = {1: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM;"}
"""schema -> what makes it the next one; each may be done again, since a kill may come between it and its mark.

    1 -> 2    pages that a compaction empties can go back to the file system"""

WAL_LIMIT = 64 * 1024 * 1024
"""Bytes of the journal that stay on the disk after it was folded in: a burst must not cost room for ever."""

FREED = 4096
"""Pages that one compaction gives back at most, so that no write waits long behind it."""

TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE log (
    revision INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    previous INTEGER NOT NULL,
    created INTEGER NOT NULL,
    value BLOB
);
CREATE UNIQUE INDEX log_chain ON log (key, previous);
INSERT INTO sqlite_sequence (name, seq) VALUES ('log', {first});
INSERT INTO meta (name, value) VALUES ('schema', {schema}), ('compacted', 0);
COMMIT;
"""


class Row(NamedTuple):
    """One write as it is stored."""

    revision: int
    key: str
    previous: int
    created: int
    value: bytes | None


class Disk:
    """An open store file. Calls may come from any thread, one at a time."""

    def __init__(self, path: Path) -> None:
        """Opens or creates the file and its directory. KumiError names the file and what is wrong with it."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))  # secrets are in there
            self._lock = _lock(path.with_name(path.name + ".lock"))
        except OSError as error:
            raise KumiError(f"{path}: can't be opened: {error.strerror or error}") from error
        try:
            self._db = self._connect()
        except BaseException:
            os.close(self._lock)
            raise

    def _connect(self) -> sqlite3.Connection:
        db: sqlite3.Connection | None = None
        try:
            db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            if not _tables(db):
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            db.execute(f"PRAGMA journal_size_limit={WAL_LIMIT}")
            if not _tables(db):
                db.executescript(TABLES.format(first=FIRST, schema=SCHEMA))
            upgrade(self.path, db)
        except sqlite3.Error as error:
            if db is not None:
                db.close()
            raise KumiError(f"{self.path}: can't be read as a store: {error}") from error
        except KumiError:
            if db is not None:
                db.close()
            raise
        return db

    def read(self) -> Iterator[tuple[int, str, int, bytes | None]]:
        """Every row as (revision, key, created, value), in order of revision. KumiError if the file is damaged."""
        try:
            yield from self._db.execute("SELECT revision, key, created, value FROM log ORDER BY revision")
        except sqlite3.Error as error:
            raise KumiError(f"{self.path}: is damaged: {error}") from error

    def newest(self) -> int:
        """The newest revision that was ever committed."""
        (seq,) = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'log'").fetchone()
        return int(seq)

    def compacted(self) -> int:
        """The revision of the last compaction; 0 if there was none."""
        return _meta(self._db, "compacted")

    def append(self, rows: Sequence[Row]) -> None:
        """Commits the rows, all or none. StoreFailed: none.

        In one statement, which is a transaction of its own: between two the thread waits for the interpreter's lock,
        up to 5 ms each time while the event loop is busy."""
        places = ", ".join(["(?, ?, ?, ?, ?)"] * len(rows))
        try:
            self._db.execute(f"INSERT INTO log VALUES {places}", [value for row in rows for value in row])
        except sqlite3.Error as error:
            self._roll_back()
            if not self._has(rows[-1]):
                raise StoreFailed(f"{self.path}: {len(rows)} writes refused: {error}") from error

    def compact(self, doomed: Sequence[int], revision: int) -> None:
        """Deletes the rows of those revisions and remembers the compacted revision, all or none. StoreFailed: none."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("DELETE FROM log WHERE revision = ?", ((r,) for r in doomed))
            self._db.execute("UPDATE meta SET value = max(value, ?) WHERE name = 'compacted'", (revision,))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            raise StoreFailed(f"{self.path}: compaction at {revision} refused: {error}") from error
        with contextlib.suppress(sqlite3.Error):  # room that stays taken now is given back by the next compaction
            self._db.executescript(f"PRAGMA incremental_vacuum({FREED})")

    @property
    def size(self) -> int:
        """Bytes of the file and of its journal."""
        found = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in found if file.exists())

    def close(self) -> None:
        """Folds the journal into the file and gives up the lock."""
        try:
            self._db.close()
        finally:
            os.close(self._lock)

    def _roll_back(self) -> None:
        """Some errors have rolled back already; one that can't be rolled back shows at the next write."""
        if self._db.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")

    def _has(self, row: Row) -> bool:
        """Whether the row is there after all: an error of COMMIT doesn't say on which side of it the disk failed."""
        try:
            found = self._db.execute(
                "SELECT 1 FROM log WHERE revision = ? AND key = ? AND previous = ?",
                (row.revision, row.key, row.previous),
            )
            return found.fetchone() is not None
        except sqlite3.Error:
            return False


def upgrade(path: Path, db: sqlite3.Connection) -> None:
    """Brings a store to SCHEMA, one step after another. KumiError: it is none, or of a newer version."""
    tables = _tables(db)
    if "meta" not in tables or "log" not in tables:
        raise KumiError(f"{path}: is a database of something else (tables: {', '.join(tables)})")
    found = _meta(db, "schema")
    if found > SCHEMA:
        raise KumiError(
            f"{path}: was written by a newer version (schema {found}, this one knows up to {SCHEMA}); "
            "upgrade, or use another data directory"
        )
    for version in range(found, SCHEMA):
        if version not in UPGRADES:
            raise KumiError(f"{path}: has a schema that no version wrote ({found})")
        db.executescript(UPGRADES[version])
        with db:
            db.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (version + 1,))


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """The lock of the store file `path`, without opening it. KumiError: somebody has it."""
    descriptor = _lock(path.with_name(path.name + ".lock"))
    try:
        yield
    finally:
        os.close(descriptor)


def _tables(db: sqlite3.Connection) -> list[str]:
    return [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


def _meta(db: sqlite3.Connection, name: str) -> int:
    found = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return int(found[0]) if found else 0


def _lock(path: Path) -> int:
    """The descriptor that holds the lock. The file stays when it is given up: removing it would let two in."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except BlockingIOError:
        holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
        os.close(descriptor)
        by = f" (process {holder})" if holder else ""
        raise KumiError(f"{path}: the store is in use by another process{by}; stop it first") from None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
