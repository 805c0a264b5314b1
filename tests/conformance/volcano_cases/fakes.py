"""Plug-ins that exist in tests of the original only: what `fakePlugins` of a case says they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Configured, Fit, Fits, Vote
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.tasks import Job, Status


def plugins(case: dict[str, Any]) -> Mapping[str, Configured]:
    """The plug-ins of the case: the real ones, and those."""
    return PLUGINS.joined({fake["name"]: Fake(fake) for fake in case["input"].get("fakePlugins", ())})


@dataclass(frozen=True)
class Fake:
    """Configured, Plugin and its hooks at once."""

    said: dict[str, Any]
    session: Framework | None = None

    def configured(self, option: Option) -> Fake:
        return self

    def open(self, session: Framework) -> Fake:
        return Fake(self.said, session)

    def victim_tasks(self, running: Sequence[Pod]) -> list[Pod]:
        priority = self.said.get("victims", {}).get("podPriorityEquals")
        return [pod for pod in running if pod.priority == priority]

    def job_enqueueable(self, job: Job) -> Vote:
        name = self.said.get("jobEnqueueable", {}).get("rejectPodGroupName")
        return Vote.REJECT if job.key.endswith(f"/{name}") else Vote.PERMIT

    def predicate(self, task: Pod) -> Fits:
        assert self.session is not None
        fits = np.full(self.session.nodes.used.shape[1], Fit.OK, dtype=np.int8)
        said, tasks = self.said.get("predicate", {}), self.session.tasks
        if task.name == said.get("pod"):
            for uid, pod in tasks.pods.items():
                there = uid in tasks.node and tasks.status[uid] is not Status.RELEASING
                if there and pod.name == said["rejectNodeWhilePodNotReleasing"]:
                    fits[self.session.nodes.row_by_name[tasks.node[uid]]] = Fit.UNSCHEDULABLE
        return fits
