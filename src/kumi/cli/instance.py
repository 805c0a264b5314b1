"""A running cluster as another process sees it: D/server.json says who serves the data directory D, and where.

The file is a hint, never a lock (the store has that): a process id counts only together with when that process started, told
in ticks since the machine's own start, which stay what they are when somebody sets the clock.
A cluster that is starting or stopping serves nobody, but holds its store: `holder` finds it; one that has not come that far
has said in D/starting.json that it is about to: `starter` finds that.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from kumi.kubelet.records import Who, who_is, write


class Instance(NamedTuple):
    """Who serves a data directory, and at which address."""

    who: Who
    url: str

    @property
    def pid(self) -> int:
        """The process."""
        return self.who.pid

    def runs(self) -> bool:
        """Whether that very process is there (a zombie is not)."""
        return self.who.runs()


def write_instance(data_dir: Path, url: str) -> None:
    """Says that this process serves `data_dir`, atomically."""
    who = who_is(os.getpid())
    assert who is not None
    write(data_dir / "server.json", {**who._asdict(), "url": url})


def write_starter(data_dir: Path, pid: int) -> None:
    """Says that this process is about to serve `data_dir`."""
    who = who_is(pid)
    if who is not None:
        write(data_dir / "starting.json", who._asdict())


def starter(data_dir: Path) -> Who | None:
    """The process that was the last to say that it would serve `data_dir`, if it is there; None for nobody."""
    try:
        said = json.loads((data_dir / "starting.json").read_text())
        who = Who(said["pid"], said["ticks"], said["boot"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return who if who.runs() else None


def read_instance(data_dir: Path) -> Instance | None:
    """Who serves it now; None for nobody, whatever a crash left behind."""
    try:
        said = json.loads((data_dir / "server.json").read_text())
        instance = Instance(Who(said["pid"], said["ticks"], said["boot"]), said["url"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return instance if instance.runs() else None


def forget_instance(data_dir: Path) -> None:
    """Nobody serves it any more."""
    (data_dir / "server.json").unlink(missing_ok=True)


def holder(data_dir: Path) -> Who | None:
    """The process that has the store of `data_dir` open, whether it serves yet (or still) or not; None for nobody.

    Found by what it has open, and not by trying its lock: who tries a lock keeps a cluster that starts from having it."""
    lock = data_dir / "kumi.db.lock"
    try:
        pid = int(lock.read_text())
        wanted = lock.stat()
        who = who_is(pid)
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except (OSError, ValueError):
        return None
    for descriptor in descriptors:
        try:
            found = os.stat(f"/proc/{pid}/fd/{descriptor}")
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
            return who
    return None
