"""Gang times: until when a gang must be done, and how long it takes, by what is said.

The rule   the pod group's own words; where it says nothing, the earliest deadline and the longest execution time of its pods
           nobody says: None
Units      milliseconds; deadlines since the epoch.
Cost       O(tasks) where the pod group says nothing.
Not here   the annotations: kumi.jobs.due; what follows: least_slack.py, shortest.py, deadline.py, ../line/.
"""

from __future__ import annotations

from kumi.engine.placement.tasks import Job, Tasks


def deadline_ms(tasks: Tasks, job: Job) -> int | None:
    """Until when."""
    if job.group is not None and job.group.deadline_ms is not None:
        return job.group.deadline_ms
    said = (tasks.pods[uid].member.deadline_ms for uid in job.tasks)
    return min((one for one in said if one is not None), default=None)


def execution_ms(tasks: Tasks, job: Job) -> int | None:
    """How long."""
    if job.group is not None and job.group.execution_ms is not None:
        return job.group.execution_ms
    said = (tasks.pods[uid].member.execution_ms for uid in job.tasks)
    return max((one for one in said if one is not None), default=None)
