"""A trace of a few tasks in the openb format, and a plug-in, where a test needs files."""

from __future__ import annotations

from pathlib import Path

from kumi.evaluator.sources import Shape, Trace

NODES = "sn,cpu_milli,memory_mib,gpu,model\nnode-a,8000,16384,2,T4\nnode-b,8000,16384,2,T4\n"
HEAD = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"


def write(folder: Path, tasks: int = 12, lasts_s: int = 100, most: int = 3) -> Trace:
    """Two nodes of two GPUs; a task of 1 to `most` GPUs every ten seconds: those of 3 fit nowhere."""
    rows = [
        f"task-{n},1000,1024,{1 + n % most},1000,,LS,Succeeded,{10 * n},{10 * n + lasts_s * (1 + n % 2)},{10 * n}"
        for n in range(tasks)
    ]
    (folder / "nodes.csv").write_text(NODES, "utf-8")
    (folder / "tasks.csv").write_text("\n".join([HEAD, *rows, ""]), "utf-8")
    return Trace("openb", str(folder / "tasks.csv"), str(folder / "nodes.csv"), shape=Shape())


def plug_in(does: str) -> str:
    """The file of a plug-in, named Order there, that does this when a session opens it."""
    return f"""
from dataclasses import dataclass

@dataclass(frozen=True)
class Order:
    @classmethod
    def configured(cls, option):
        return cls()

    def open(self, session):
        {does}

    def node_order(self, task, rows, placed):
        return rows * 1.0
"""
