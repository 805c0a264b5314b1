"""Gang: a gang runs with its minimum, or not at all.

The rule, of a gang with minimum m, where roles have minima of their own when m covers their sum:
    valid        as many tasks as each minimum asks are ready, promised a place or pending
    ready        the ready ones, and the pending ones that ask for nothing, reach m, and each role's reach its own
    pipelined    those that are promised a place count too
    starving     ready and promised ones are fewer than m
    first        a gang that isn't ready goes before one that is
    victims      of each gang, in the given order, while more than m are ready, and of each role as ../roles.py says
Why          half a gang holds what the other half, or another gang, needs.
Cost         O(roles).
Source       Volcano: gang plug-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumi.engine.model import Pod
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Vote
from kumi.engine.placement.tasks import READY, Job, Status
from kumi.engine.reasons import Code, Reason


@dataclass(frozen=True, slots=True)
class Gang:
    """See the module; it has no arguments."""

    @classmethod
    def configured(cls, option: Option) -> Gang:
        """See Configured."""
        return cls()

    def open(self, session: Framework) -> _Gang:
        """See Plugin."""
        return _Gang(session)


@dataclass(frozen=True, slots=True)
class _Gang:
    session: Framework

    def job_valid(self, job: Job) -> Reason | None:
        return job.once("valid", lambda: _valid(job))

    def job_ready(self, job: Job) -> bool:
        return job.once("ready", lambda: _reaches(job, READY))

    def job_pipelined(self, job: Job) -> Vote:
        return Vote.PERMIT if _reaches(job, (*READY, Status.PIPELINED)) else Vote.REJECT

    def job_starving(self, job: Job) -> bool:
        return job.count(*READY, Status.PIPELINED) < _least(job)

    def preemptable(self, preemptor: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        return self._spared(candidates)

    def reclaimable(self, reclaimer: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        return self._spared(candidates)

    def evictable(self, preemptor: Job, candidates: Sequence[Pod], reclaim: bool) -> list[Pod] | None:
        return list(candidates)

    def job_key(self, job: Job) -> bool:
        return self.job_ready(job)

    def _spared(self, candidates: Sequence[Pod]) -> list[Pod]:
        """Those that their gangs can spare."""
        spare: dict[str, int] = {}
        of_role: dict[str, dict[str, int]] = {}
        victims = []
        for pod in candidates:
            key, role = pod.member.group, pod.member.role
            job = self.session.tasks.jobs[key]
            left = spare.setdefault(key, job.count(*READY) - _least(job))
            roles = of_role.setdefault(key, self.session.customs.roles.spare(job))
            if left > 0 and roles.get(role, 1) > 0:
                spare[key] = left - 1
                if role in roles:
                    roles[role] -= 1
                victims.append(pod)
        return victims


def _valid(job: Job) -> Reason | None:
    alive = (*READY, Status.PIPELINED, Status.PENDING)
    for role, least in job.role_minima():
        have = job.role_count(role, *alive)
        if have < least:
            return Reason(Code.GANG_INCOMPLETE, pod_set=role, need=least, have=have, pods=least - have)
    have, least = job.count(*alive), _least(job)
    if have < least:
        return Reason(Code.GANG_INCOMPLETE, need=least, have=have, pods=least - have)
    return None


def _reaches(job: Job, statuses: tuple[Status, ...]) -> bool:
    """Do those in these statuses, and those that ask for nothing, reach every minimum?"""
    if any(job.role_count(r, *statuses) + job.free.get(r, 0) < least for r, least in job.role_minima()):
        return False
    return job.count(*statuses) + sum(job.free.values()) >= _least(job)


def _least(job: Job) -> int:
    return job.group.least if job.group is not None else 0
