"""What whoever starts nodes decides."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from kumi import __version__
from kumi.kubelet.gpus import RESOURCE, Card
from kumi.kubelet.log_files import LIMITS, Limits
from kumi.kubelet.pod_plan import Backoff
from kumi.kubelet.sandbox_view import Plan


def own_environment() -> dict[str, str]:
    """Kumi's own; the programs beside its interpreter are found last, so that `python` is one where there is no other."""
    found = dict(os.environ)
    found["PATH"] = os.pathsep.join([found.get("PATH", os.defpath), os.path.dirname(sys.executable)])
    return found


@dataclass(frozen=True)
class MachineSettings:
    """Of all nodes of a machine. `environment`: what containers inherit (Kumi's own without what is Kumi's);
    `working_dir`: where a container without a workingDir starts; `status_delay_ms`: how long a status that is not
    final waits for the next, so that one write tells both."""

    data_dir: Path
    working_dir: Path = field(default_factory=Path.cwd)
    environment: Mapping[str, str] = field(default_factory=own_environment)
    cluster_domain: str = ""
    host_ip: str = "127.0.0.1"
    backoff: Backoff = field(default_factory=Backoff)
    status_delay_ms: int = 10
    stop_grace_ms: int = 20_000
    """at the node's stop: the longest grace of a pod"""
    api: Mapping[str, str] = field(default_factory=dict)
    """variables by which clients in containers find the API"""
    log: Limits = LIMITS
    """how much of each container's log is kept"""
    measure_ms: int = 10_000
    """between two looks at what containers use"""
    isolation: str = ""
    """"" finds out; `none`, `mount`, `user` (mounts.py) insist"""
    sandbox: Plan | None = None
    """every container runs in such a sandbox (sandbox.py)"""
    gpu_health: Callable[[], Mapping[str, str]] = dict
    """what is wrong with which card, by UUID (gpus.Health); called in a thread"""


@dataclass(frozen=True)
class NodeSettings:
    """Of one node. `resources`: quantities of what it offers, extended resources too; cpu and memory default to the
    machine's; `cards`: the real GPUs behind its nvidia.com/gpu."""

    resources: Mapping[str, str] = field(default_factory=dict)
    pods: int = 110
    cards: Sequence[Card] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    version: str = f"v{__version__}-kumi"
    heartbeat_ms: int = 10_000

    def offered(self) -> dict[str, str]:
        """Every resource as a quantity."""
        machine = {"cpu": str(os.cpu_count() or 1), "memory": f"{psutil.virtual_memory().total // 1024}Ki"}
        cards = {RESOURCE: str(len(self.cards))} if self.cards else {}
        return {**machine, **cards, **self.resources, "pods": str(self.pods)}


def architecture() -> str:
    """The machine's architecture by the name that Kubernetes uses."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
