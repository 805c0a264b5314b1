"""Makeup: what the waiting tasks of a gang are like, counted.

The rule   tasks are alike that are of one role, shape and priority, asked for by nobody's node, and told by others by the same:
           what holds for one of them holds for each (allocate.py places them as one run)
           one that is gated counts for nothing here
Why        a job of a log is a gang of a thousand equal pods: who waits is looked at by kinds, in O(1), and not pod by pod.
Kept       with the gang, for one content of it (Job.stamp) and of who looks at whom (residents.stamp).
Order      in which the gang has them.
Cost       O(waiting tasks) once for each change of the gang.
Source     Kumi's own.
Not here   which of them is next: framework.in_line.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.residents import Residents
from kumi.engine.placement.tasks import Job, Status, Tasks


class Alike(NamedTuple):
    """So many `pods` like this task wait, it among them."""

    task: Pod
    pods: int


class Makeup(NamedTuple):
    """See the module. `gated`: how many more wait that nobody may place yet. `kind`: gangs with the same are made up alike;
    None where a task looks at others, or a node was cleared for one."""

    alike: tuple[Alike, ...]
    gated: int
    kind: Hashable


def makeup(tasks: Tasks, residents: Residents, job: Job) -> Makeup:
    """Of the gang, as it is now."""
    return job.once("makeup", lambda: _made(tasks, residents, job), residents.stamp)


def _made(tasks: Tasks, residents: Residents, job: Job) -> Makeup:
    first: dict[Hashable, Pod] = {}
    counts: dict[Hashable, int] = {}
    one_of: dict[int, PodShape] = {}
    equal: dict[PodShape, PodShape] = {}
    gated = 0
    for uid in job.by_status.get(Status.PENDING, ()):
        task = tasks.pods[uid]
        if task.gated:
            gated += 1
            continue
        member, shape = task.member, task.shape
        if id(shape) not in one_of:  # equal ones are mostly one, and to compare them takes long
            one_of[id(shape)] = equal.setdefault(shape, shape)
        heeds = residents.heeds(task) if residents.has_terms else ()
        key = (member.role, id(one_of[id(shape)]), member.priority, member.nominated, heeds)
        first.setdefault(key, task)
        counts[key] = counts.get(key, 0) + 1
    alike = tuple(Alike(task, counts[key]) for key, task in first.items())
    if any(one.task.member.nominated or one.task.shape.neighbours is not None for one in alike):
        return Makeup(alike, gated, None)
    kinds = tuple((t.member.role, t.shape, t.member.priority, residents.heeds(t), n) for t, n in alike)
    return Makeup(alike, gated, kinds)
