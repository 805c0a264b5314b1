"""Scenarios and manifests that tests tell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kumi.api.wire import JsonObject
from kumi.evaluator.model import START_MS, Arrive, Event, Job
from kumi.evaluator.scenarios.document import Document, Part
from kumi.evaluator.scenarios.plays import Stage
from kumi.evaluator.scenarios.steps import Step, Verb


def part(value: Any) -> Part:
    """A value as a part of a document."""
    return Part(Document(Path("s.yaml"), b""), value, "here")


def faults(one: Part) -> list[str]:
    """What is wrong with its document."""
    return [f"{path}: {what}" for path, what in one.document.faults]


def step(obj: JsonObject, seconds: float = 0, verb: Verb = "create") -> Step:
    """Something that is done with an object."""
    return Step(START_MS + round(seconds * 1000), verb, obj, "told")


def played(*steps: Step) -> list[Event]:
    """The events of steps."""
    return list(Stage().events(steps))


def jobs(*steps: Step) -> list[Job]:
    """The jobs of steps."""
    return [event.job for event in played(*steps) if isinstance(event, Arrive)]


def spec(gpus: int = 1, **more: Any) -> JsonObject:
    """A pod's spec."""
    return {"containers": [{"name": "m", "image": "i", "resources": {"limits": {"nvidia.com/gpu": gpus}}}], **more}


def obj(kind: str, name: str, version: str = "v1", said: dict[str, str] | None = None, **more: Any) -> JsonObject:
    """An object; `said` are its annotations, `labels` its labels, `namespace` where it is."""
    meta: JsonObject = {"name": name, "annotations": said or {}}
    for key in ("labels", "namespace"):
        if key in more:
            meta[key] = more.pop(key)
    return {"apiVersion": version, "kind": kind, "metadata": meta, **more}


def pod(name: str, gpus: int = 1, said: dict[str, str] | None = None, **more: Any) -> JsonObject:
    """A pod; `spec` adds to its spec."""
    return obj("Pod", name, said=said, spec=spec(gpus, **more.pop("spec", {})), **more)


def job(name: str, pods: int = 2, queue: str = "", said: dict[str, str] | None = None, **more: Any) -> JsonObject:
    """A batch Job."""
    labels = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    template = {"metadata": more.pop("meta", {}), "spec": spec(restartPolicy="Never", **more.pop("spec", {}))}
    inside = {"parallelism": pods, "completions": more.pop("completions", pods), "template": template}
    return obj("Job", name, "batch/v1", said, labels={**labels, **more.pop("labels", {})}, spec=inside | more)


def node(name: str, gpus: int = 4) -> JsonObject:
    """A node."""
    return obj("Node", name, status={"allocatable": {"cpu": "8", "nvidia.com/gpu": str(gpus)}})


def written(folder: Path, text: str, name: str = "s.yaml", **others: str) -> Path:
    """A file in the folder, and others beside it (a name's last _ is a dot)."""
    for other, content in others.items():
        (folder / other.replace("_", ".")).write_text(content)
    path = folder / name
    path.write_text(text)
    return path


def names(events: Sequence[Event]) -> list[str]:
    """What kinds of events they are."""
    return [type(event).__name__ for event in events]
