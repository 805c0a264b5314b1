"""Roles: what it means besides that a gang needs so many tasks of each of its roles (minTaskMember).

The rule, as Volcano has it (GANG_ONLY)
    it is ready with them; tasks are tried in their order, and it can spare what it has beyond its own minimum
The rule, as Kumi has it (EACH)
    first     of each role the first of its tasks that wait, as many as it still lacks, are tried before the others
    spare     of each role it can spare what it has beyond that
Why        a gang of a master and workers that has room for its minimum and for no more would give it to workers that it can do
           without, and never start; and one that loses its master for somebody's single task has lost everything.
Order      among those that are first, and among the others, that of tasks (framework.py).
Cost       O(tasks of the gang).
Source     Volcano: gang plug-in. The second is Kumi's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kumi.engine.model import Pod
from kumi.engine.placement.tasks import READY, Job, Status


@dataclass(frozen=True, slots=True)
class Roles:
    """See the module."""

    first: Callable[[Job, Iterable[Pod]], dict[str, None]]
    """of the gang's tasks that wait, in their order: the uids of those that are tried before the others"""
    spare: Callable[[Job], dict[str, int]]
    """role -> how many of its tasks the gang can spare; of a role that isn't named, as many as the gang can"""


def lacking(job: Job, tasks: Iterable[Pod]) -> dict[str, None]:
    """See the module: first."""
    lacks = {role: least - job.role_count(role, *READY, Status.PIPELINED) for role, least in job.role_minima()}
    found: dict[str, None] = {}
    for task in tasks:
        if lacks.get(task.member.role, 0) > 0:
            lacks[task.member.role] -= 1
            found[task.uid] = None
    return found


def spare(job: Job) -> dict[str, int]:
    """See the module."""
    return {role: job.role_count(role, *READY) + job.free.get(role, 0) - least for role, least in job.role_minima()}


GANG_ONLY = Roles(lambda job, tasks: {}, lambda job: {})
EACH = Roles(lacking, spare)
