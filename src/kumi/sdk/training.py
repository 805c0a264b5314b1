"""A training job without YAML: a script, a queue, how many workers, how many GPUs each.

The PyTorchJob that comes of it is the one that a user would write by hand: `workers` ranks, of which the first is the
Master, each with the same command and the same resources.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kumi.api.errors import KumiError
from kumi.api.kueue import PRIORITY_CLASS_LABEL, QUEUE_LABEL
from kumi.api.wire import JsonObject

GPU = "nvidia.com/gpu"


@dataclass(frozen=True)
class TrainingJob:
    """`workers` ranks of `command`. `name` "" is made from the script and a suffix that the server adds.

    `cpu` and `memory` are quantities (`2`, `4Gi`), "" asks for none. `image` is what a cluster of containers pulls; a node
    that runs processes does not look at it. `working_dir` None is the directory of whoever makes the job, "" the image's
    own. `retries`: so many times may all ranks be restarted before the job fails."""

    name: str
    command: Sequence[str]
    queue: str = ""
    workers: int = 1
    gpus: int = 0
    cpu: str = ""
    memory: str = ""
    namespace: str = "default"
    image: str = "python:3.12"
    working_dir: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    priority_class: str = ""
    restart: str = "OnFailure"
    retries: int = 3

    def manifest(self) -> JsonObject:
        """The PyTorchJob. KumiError names the argument that is wrong."""
        if self.workers < 1:
            raise KumiError(f"workers: {self.workers} is not at least 1")
        if self.gpus < 0:
            raise KumiError(f"gpus: {self.gpus} is negative")
        if not self.command:
            raise KumiError("command: nothing to run")
        if self.retries < 0:
            raise KumiError(f"retries: {self.retries} is negative")
        labels = {QUEUE_LABEL: self.queue} if self.queue else {}
        if self.priority_class:
            labels[PRIORITY_CLASS_LABEL] = self.priority_class
        metadata: JsonObject = {"namespace": self.namespace, "labels": labels}
        if self.name:
            metadata["name"] = self.name
        else:
            metadata["generateName"] = f"{stem(self.command)}-"
        specs: JsonObject = {"Master": self._replicas(1)}
        if self.workers > 1:
            specs["Worker"] = self._replicas(self.workers - 1)
        return {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "metadata": metadata,
            "spec": {"runPolicy": {"backoffLimit": self.retries * self.workers}, "pytorchReplicaSpecs": specs},
        }

    def _replicas(self, count: int) -> JsonObject:
        container: JsonObject = {"name": "pytorch", "image": self.image, "command": list(self.command)}
        working_dir = os.getcwd() if self.working_dir is None else self.working_dir
        if working_dir:
            container["workingDir"] = working_dir
        if self.environment:
            container["env"] = [{"name": name, "value": value} for name, value in self.environment.items()]
        amounts = {"cpu": self.cpu, "memory": self.memory, GPU: str(self.gpus) if self.gpus else ""}
        asked = {name: amount for name, amount in amounts.items() if amount}
        if asked:
            container["resources"] = {"requests": asked, "limits": {k: v for k, v in asked.items() if k != "cpu"}}
        return {"replicas": count, "restartPolicy": self.restart, "template": {"spec": {"containers": [container]}}}


def stem(command: Sequence[str]) -> str:
    """A DNS-1035 name from what is run: the script's name, or the program's."""
    script = next((word for word in command if word.endswith(".py")), command[0])
    name = re.sub(r"[^a-z0-9-]+", "-", script.rsplit("/", 1)[-1].removesuffix(".py").lower()).strip("-")
    return name if name and name[0].isalpha() else f"job-{name}".rstrip("-")
