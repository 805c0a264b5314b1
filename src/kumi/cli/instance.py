"""A running cluster as another process sees it: D/server.json says who serves the data directory D, and where.

The file is a hint, never a lock (the store has that): a process id counts only if the process started when the file says.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

import psutil


class Instance(NamedTuple):
    """Who serves a data directory: process, when that process started (seconds since the epoch), address."""

    pid: int
    started_s: float
    url: str

    def runs(self) -> bool:
        """Whether that very process is there (a zombie is not)."""
        try:
            process = psutil.Process(self.pid)
            return abs(process.create_time() - self.started_s) < 1 and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False


def write_instance(data_dir: Path, url: str) -> None:
    """Says that this process serves `data_dir`, atomically."""
    instance = Instance(os.getpid(), psutil.Process().create_time(), url)
    path = data_dir / "server.json"
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(instance._asdict()))
    temporary.replace(path)


def read_instance(data_dir: Path) -> Instance | None:
    """Who serves it now; None for nobody, whatever a crash left behind."""
    try:
        instance = Instance(**json.loads((data_dir / "server.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return instance if instance.runs() else None


def forget_instance(data_dir: Path) -> None:
    """Nobody serves it any more."""
    (data_dir / "server.json").unlink(missing_ok=True)
