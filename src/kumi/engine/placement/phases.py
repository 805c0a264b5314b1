"""Phases: what a pod group's phase is at the end of a session.

The rule, of a gang with minimum m; scheduled: tasks that are bound, running, have ended, or are leaving a node:
    Unknown      one of its tasks runs, and the session found no place for its minimum
    Completed    scheduled >= m and all of them have ended
    Running      scheduled >= m otherwise
    Inqueue      it was let in, and fewer are scheduled
    Pending      else
Source     Volcano: job updater, pod group phases.
"""

from __future__ import annotations

from kumi.engine.gangs import Phase
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.tasks import Job, Status

ENDED = (Status.SUCCEEDED, Status.FAILED)


def phase_of(framework: Framework, job: Job) -> Phase:
    """See the module."""
    assert job.group is not None
    unplaced = framework.job_valid(job) is not None or not framework.job_ready(job)
    if unplaced and job.count(Status.RUNNING):
        return Phase.UNKNOWN
    leaving = sum(1 for uid in job.by_status.get(Status.RELEASING, ()) if framework.tasks.node.get(uid))
    ended = job.count(*ENDED)
    scheduled = job.count(Status.BOUND, Status.RUNNING) + ended + leaving
    return of_counts(scheduled, ended, job.group.least, job.group.phase)


def of_counts(scheduled: int, ended: int, least: int, before: Phase) -> Phase:
    """The same of a gang that isn't Unknown, from its counts; `before`: what its phase was."""
    if scheduled >= least:
        return Phase.COMPLETED if scheduled == ended else Phase.RUNNING
    return Phase.INQUEUE if before is Phase.INQUEUE else Phase.PENDING
