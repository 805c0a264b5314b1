"""Shuffle: those leave who must, whoever waits.

The rule   of all running tasks of gangs, by uid, those that the plug-ins name (victim_tasks) are evicted
Source     Volcano: shuffle action.
"""

from __future__ import annotations

from kumi.engine.placement.framework import Framework
from kumi.engine.placement.statement import Outcome, Statement
from kumi.engine.placement.tasks import Status


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    tasks = framework.tasks
    running = [uid for job in framework.jobs() for uid in job.by_status.get(Status.RUNNING, ())]
    statement = Statement(framework, outcome)
    for task in framework.victim_tasks([tasks.pods[uid] for uid in sorted(running)]):
        statement.evict(task, "")
    statement.commit()
