"""Records: small JSON files that survive Kumi, and who a process is.

Why        Kumi may be killed at any moment while containers go on. Whoever starts next must tell what still runs, what
           ended and how, without trusting a process id: ids are reused.
Who        a process is (boot, pid, start time in clock ticks since boot), from /proc.
Files      pods/<namespace>_<name>_<uid>/pod.json             what the node decided for the pod (see PodRecord's users)
           pods/.../<container>/<attempt>.run                 the shim that runs this attempt; made once, never changed
           pods/.../<container>/<attempt>.exit                how it ended; made once, after the log is complete
           pods/.../<container>/<attempt>.log                 what it said
Order      whoever creates `.run` first owns the attempt: a shim that finds it taken leaves without starting anything, so
           a start that was under way when Kumi died is either found or will never happen.
Not here   shim.py writes `.run` and `.exit`; process.py and worker.py read them. Standard library only: the shim loads it.
"""

from __future__ import annotations

import contextlib
import json
import os
from functools import lru_cache
from typing import Any, NamedTuple

Record = dict[str, Any]


class Who(NamedTuple):
    """A process, told apart from every other one that had or will have its id."""

    pid: int
    ticks: int
    boot: str

    def runs(self) -> bool:
        """Whether that very process is there and is no zombie."""
        found = stat_of(self.pid)
        return found is not None and found == (self.ticks, True) and self.boot == boot_id()


@lru_cache(maxsize=1)
def boot_id() -> str:
    """What tells this boot of the machine from the others."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def stat_of(pid: int) -> tuple[int, bool] | None:
    """(start time in ticks since boot, whether it lives) of a process; None if there is none of that id."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(words[19]), words[0] not in (b"Z", b"X")) if len(words) > 19 else None


def who_is(pid: int) -> Who | None:
    """The process that has this id now."""
    found = stat_of(pid)
    return None if found is None else Who(pid, found[0], boot_id())


def write(path: str | os.PathLike[str], record: Record) -> None:
    """Makes or replaces a record as a whole: a reader sees the old one or the new one. OSError: it is still the old one."""
    temporary = f"{os.fspath(path)}.{os.getpid()}.new"
    _dump(temporary, record)
    os.replace(temporary, path)


def claim(path: str | os.PathLike[str], record: Record) -> bool:
    """Makes a record unless there is one; of several that try, exactly one succeeds."""
    if os.path.exists(path):
        return False  # which can be told on a full disk, too
    temporary = f"{os.fspath(path)}.{os.getpid()}.new"
    _dump(temporary, record)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
    return True


def read(path: str | os.PathLike[str]) -> Record | None:
    """The record; None if there is none, or none that can be read."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _dump(path: str, record: Record) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    text = json.dumps(record).encode()
    try:
        while text:
            text = text[os.write(descriptor, text) :]
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(descriptor)
