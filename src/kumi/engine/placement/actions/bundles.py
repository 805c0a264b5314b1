"""Bundles: what a gang can take from other gangs in one piece.

The rule, of each gang that has tasks among the candidates, these by their priority, the lowest first, then by uid:
    surplus   ready tasks - minimum; where the minimum covers those of the roles, each role has its own besides
    safe      the tasks that it can lose and still run: one after the other while there is surplus, of the gang and of the role;
              all of them where the gang has less than its minimum: it doesn't run as a gang anyway
    whole     the rest of its candidates: without them it stops, so they go together or not at all
In line   safe ones first; then as the action has gangs stand (`before`); then what pays most; then the gang, the first uid,
          the smaller bundle
Pays      of a whole bundle: sum over what is needed of min(bundle, need) / need, over the same sum of all the gang's tasks,
          uncut; a safe one costs no gang its life: more than any.
Asked     the plug-ins (evictable) on all of them at once: a safe bundle is cut to those that they name, a whole one is out where
          they spare one of it.
Cost      O(candidates log candidates).
Source    Volcano: gangpreempt and gangreclaim actions.
Not here  who is a candidate: gangpreempt.py, gangreclaim.py; what is done with bundles: whole_gang.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from typing import TypeAlias

from kumi.engine.gangs import Listed
from kumi.engine.model import Amounts, Pod
from kumi.engine.placement import roles
from kumi.engine.placement.amounts import Shared, Sums
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.tasks import READY, Job, request, task_priority

Before: TypeAlias = Callable[[Job, Job], int]
"""negative: bundles of the first gang are taken first; 0: no difference"""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Tasks of one gang that go together. `safe`: the gang can do without them."""

    job: Job
    tasks: tuple[Pod, ...]
    safe: bool

    def frees(self) -> Shared:
        """What they ask for in all."""
        return total(self.tasks)


@dataclass(frozen=True, slots=True)
class Asks:
    """Who asks for bundles: the gang, what its waiting tasks need in all, and whether it takes from other queues."""

    job: Job
    need: Sums
    reclaims: bool
    before: Before


def total(tasks: Sequence[Pod]) -> Shared:
    """What the tasks ask for in all, pods counted."""
    return dict(listed(tasks))


def listed(tasks: Sequence[Pod]) -> Listed:
    """The same as it is listed elsewhere."""
    sums: Amounts = {}
    for task in tasks:
        for resource, amount in request(task):
            sums[resource] = sums.get(resource, 0) + amount
    return tuple(sums.items())


def bundles(framework: Framework, asks: Asks, candidates: Sequence[Pod]) -> list[Bundle]:
    """All bundles of the candidates that the plug-ins let go, in line."""
    by_job: dict[str, list[Pod]] = {}
    for pod in candidates:
        by_job.setdefault(pod.member.group, []).append(pod)
    made = [b for key in sorted(by_job) for b in of_job(framework.tasks.jobs[key], by_job[key])]
    whole = {key: total([framework.tasks.pods[uid] for uid in framework.tasks.jobs[key].tasks]) for key in by_job}
    made = in_line(made, asks, whole)
    named = framework.evictable(asks.job, [pod for b in made for pod in b.tasks], reclaim=asks.reclaims)
    uids = dict.fromkeys(pod.uid for pod in named)
    return in_line([kept for b in made if (kept := _granted(b, uids)) is not None], asks, whole)


def of_job(job: Job, tasks: Sequence[Pod]) -> list[Bundle]:
    """The safe bundle of a gang's candidates and the whole one, those that have somebody."""
    assert job.group is not None
    ordered = sorted(tasks, key=lambda pod: (task_priority(pod.member), pod.uid))
    surplus = job.count(*READY) - job.group.least
    if surplus < 0:
        return [Bundle(job, tuple(ordered), safe=True)]
    spare = roles.spare(job)
    safe, rest = [], []
    for pod in ordered:
        role = pod.member.role
        if surplus > 0 and spare.get(role, 1) > 0:
            surplus -= 1
            if role in spare:
                spare[role] -= 1
            safe.append(pod)
        else:
            rest.append(pod)
    both = (Bundle(job, tuple(safe), safe=True), Bundle(job, tuple(rest), safe=False))
    return [b for b in both if b.tasks]


def in_line(made: list[Bundle], asks: Asks, whole: Mapping[str, Sums]) -> list[Bundle]:
    """In the order in which they are taken; see the module. `whole`: what all tasks of each gang ask for."""

    def compare(one: Bundle, other: Bundle) -> int:
        if one.safe is not other.safe:
            return -1 if one.safe else 1
        if said := asks.before(one.job, other.job):
            return said
        a, b = _last(one, asks.need, whole), _last(other, asks.need, whole)
        return int(a > b) - int(a < b)

    return sorted(made, key=cmp_to_key(compare))


def pays(bundle: Bundle, need: Sums, whole: Sums) -> float:
    """How much of what the gang would lose is of use."""
    if bundle.safe:
        return float("inf")
    local = bundle.frees()
    useful = sum(min(local.get(d, 0), amount) / amount for d, amount in need.items() if amount > 0)
    lost = sum(whole.get(d, 0) / amount for d, amount in need.items() if amount > 0)
    return useful / lost if lost else float("inf")


def _last(bundle: Bundle, need: Sums, whole: Mapping[str, Sums]) -> tuple[float, str, str, int]:
    return (-pays(bundle, need, whole[bundle.job.key]), bundle.job.key, bundle.tasks[0].uid, len(bundle.tasks))


def _granted(bundle: Bundle, named: Mapping[str, None]) -> Bundle | None:
    left = tuple(pod for pod in bundle.tasks if pod.uid in named)
    if not left or (len(left) < len(bundle.tasks) and not bundle.safe):
        return None
    return replace(bundle, tasks=left)
