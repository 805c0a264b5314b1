"""A recording that a test tells, line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.evaluator.model import START_MS, Arrive, Event, Job, Load
from kumi.evaluator.traces import lines, record

QUEUE = "scheduling.k8s.io/group-name"
WORKLOAD = "kueue.x-k8s.io/workload"


class Told:
    """What was recorded, at seconds after the start."""

    def __init__(self) -> None:
        self.torn = b""
        """a last line that was not written to its end"""
        self._lines: list[tuple[int, bytes]] = []

    @property
    def text(self) -> bytes:
        """The file: the lines by time, those of one time as they were told."""
        ordered = sorted(self._lines, key=lambda line: line[0])
        return b"".join([lines.head(START_MS), *(line for _, line in ordered), self.torn])

    def at(self, seconds: float, type_: str, obj: JsonObject | None = None) -> Told:
        """A change, or a mark."""
        said = {} if obj is None else {"object": obj}
        at_ms = START_MS + round(seconds * 1000)
        self._lines.append((at_ms, lines.written(at_ms, type_, **said)))
        return self

    def begun(self) -> Told:
        """All that was there at the start is told."""
        return self.at(0, lines.BEGUN)

    def load(self, folder: Path) -> Load:
        """What it is as a load."""
        path = folder / "rec.jsonl"
        path.write_bytes(self.text)
        return record.read(None, path)

    def events(self, folder: Path) -> list[Event]:
        """The events of it."""
        return list(self.load(folder).events())

    def jobs(self, folder: Path) -> dict[str, Job]:
        """The jobs of it, by key."""
        return {event.job.key: event.job for event in self.events(folder) if isinstance(event, Arrive)}


def meta(name: str, uid: str = "", made_s: int = 0, **more: Any) -> JsonObject:
    """Metadata."""
    made = {
        "name": name,
        "namespace": "ns",
        "uid": uid or name,
        "creationTimestamp": format_time(START_MS + made_s * 1000),
    }
    return made | more


def spec(cpus: int = 1) -> JsonObject:
    """A pod's spec."""
    return {"containers": [{"name": "main", "image": "none", "resources": {"requests": {"cpu": cpus}}}]}


def pod(
    name: str, phase: str = "Pending", cpus: int = 1, said: dict[str, str] | None = None, **more: Any
) -> JsonObject:
    """A pod; `said` are its annotations."""
    started = more.pop("started_s", None)
    status = {"phase": phase} | ({} if started is None else {"startTime": format_time(START_MS + started * 1000)})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta(name, annotations=said or {}, **more),
        "spec": spec(cpus),
        "status": status,
    }


def workload(name: str, *true: str, count: int = 2, since_s: int = 0, **more: Any) -> JsonObject:
    """A Workload of one pod set, with these conditions."""
    at = format_time(START_MS + since_s * 1000)
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": meta(name, **more),
        "spec": {
            "queueName": "q",
            "priority": 7,
            "podSets": [{"name": "main", "count": count, "template": {"metadata": {}, "spec": spec()}}],
        },
        "status": {"conditions": [{"type": t, "status": "True", "lastTransitionTime": at} for t in true]},
    }


def group(name: str, least: int, **more: Any) -> JsonObject:
    """A PodGroup."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": meta(name, **more),
        "spec": {"minMember": least, "queue": "gold"},
    }


def job(name: str, *true: str, pods: int = 2, completions: int | None = None, **more: Any) -> JsonObject:
    """A batch Job with these conditions; `suspend` is its spec's."""
    made: JsonObject = {"parallelism": pods, "completions": completions or pods, "suspend": more.pop("suspend", False)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta(name, **more),
        "spec": made | {"template": {"metadata": {"labels": {"app": name}}, "spec": spec()}},
        "status": {"conditions": [{"type": t, "status": "True"} for t in true]},
    }


def of_job(name: str, kind: str = "Job") -> dict[str, Any]:
    """The metadata of a pod that this job's controller made."""
    version = "batch/v1" if kind == "Job" else "kubeflow.org/v1"
    return {"ownerReferences": [{"apiVersion": version, "kind": kind, "name": name, "uid": name, "controller": True}]}


def node(name: str, cpus: int = 4) -> JsonObject:
    """A node."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name},
        "status": {"allocatable": {"cpu": str(cpus)}, "conditions": [{"type": "Ready", "status": "True"}]},
    }
