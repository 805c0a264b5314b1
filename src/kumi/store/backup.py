"""Backup: a store in one file, taken while it is written to, and put back later or elsewhere.

A backup is a store file with a table more: files(name, content), what a cluster keeps beside its store and can't do without
(keys and certificates). It holds every secret of the cluster, so only its owner may read it.

    back_up    the state as of one commit, by SQLite's own online backup; the file appears whole or not at all
    restore    the same objects at the same revisions, as a store of its own. What was written after the backup was given
               revisions too, and somebody may remember them: the next revision is LEAP further, and everything before it counts
               as compacted, so that who watched the lost future is told so (410) and reads anew.
Source     SQLite's backup API; etcd's restore with a bumped revision.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

from kumi.api.errors import KumiError
from kumi.store.disk import held, upgrade

LEAP = 1_000_000_000
"""Revisions between the newest of a backup and the first after its restore: more than a cluster writes between two."""

_FILES = "CREATE TABLE files (name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID"
_SUPERSEDED = "DELETE FROM log WHERE value IS NULL OR revision NOT IN (SELECT max(revision) FROM log GROUP BY key)"
_LEFTOVERS = ("-wal", "-shm", "-journal")


def back_up(source: Path, target: Path, files: Mapping[str, bytes]) -> int:
    """Writes the store file `source`, which may be in use, and `files` to `target`; the newest revision in it.

    KumiError: `source` is no store, or `target` can't be written."""
    if not source.exists():
        raise KumiError(f"{source}: there is no store")
    new = target.with_name(target.name + ".new")
    try:
        with _whole_or_not_at_all(new, target):
            os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with _connected(source, "ro") as live, _connected(new, "rw") as copy:
                live.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
                with copy:
                    copy.execute(_FILES)
                    copy.executemany("INSERT INTO files VALUES (?, ?)", sorted(files.items()))
                return _newest(copy)
    except (sqlite3.Error, OSError) as error:
        raise KumiError(f"{target}: the backup failed: {error}") from error


def restore(backup: Path, target: Path) -> dict[str, bytes]:
    """Makes a backup the store file `target`, in place of one that is there; the files that were kept with it.

    KumiError: `target` is in use; `backup` is none, is damaged or was made by a newer version."""
    if not backup.exists():
        raise KumiError(f"{backup}: there is no such file")
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = target.with_name(target.name + ".new")
    try:
        with held(target), _whole_or_not_at_all(new, target):
            os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with _connected(backup, "ro") as kept, _connected(new, "rw") as copy:
                kept.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
                files = _prepare(backup, copy)
            for leftover in _LEFTOVERS:
                target.with_name(target.name + leftover).unlink(missing_ok=True)
            return files
    except sqlite3.Error as error:
        raise KumiError(f"{backup}: is no backup, or is damaged: {error}") from error


def _prepare(backup: Path, copy: sqlite3.Connection) -> dict[str, bytes]:
    """Makes the copy of a backup a store of its own; the files that it held."""
    (verdict,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise KumiError(f"{backup}: is damaged: {verdict}")
    if not copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'files'").fetchone():
        raise KumiError(f"{backup}: is no backup (kumi backup makes one)")
    upgrade(backup, copy)
    files = dict(copy.execute("SELECT name, content FROM files ORDER BY name"))
    after = _newest(copy) + LEAP
    with copy:
        copy.execute("DROP TABLE files")
        copy.execute(_SUPERSEDED)
        copy.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'log'", (after,))
        copy.execute("UPDATE meta SET value = ? WHERE name = 'compacted'", (after,))
    copy.execute("VACUUM")
    return files


def _newest(db: sqlite3.Connection) -> int:
    (revision,) = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'log'").fetchone()
    return int(revision)


@contextlib.contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)) as db:
        yield db


@contextlib.contextmanager
def _whole_or_not_at_all(new: Path, target: Path) -> Iterator[None]:
    """What was written to `new` becomes `target` once it is on the disk, or is gone."""
    new.unlink(missing_ok=True)
    try:
        yield
        for path in (new, new.parent):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if path is new:
                new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
