"""ResourceQuota: a gang is let in while its namespace's quotas have room for all that it needs.

The rule   for every quota of the namespace, and every resource that both the quota and the gang name:
           used + needs of those let in in this session + needs <= hard
           a gang that doesn't say what it needs is let in
Names      as written: `requests.cpu` of a quota isn't the `cpu` of a gang. A quota's scopes aren't looked at.
Why        pods that the quota would refuse one by one would hold what the rest of their gang waits for.
Source     Volcano: resourcequota plug-in.
Not here   what is used: controllers/resource_quota.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kumi.engine.gangs import NamespaceQuota
from kumi.engine.placement import amounts
from kumi.engine.placement.amounts import Shared
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Vote
from kumi.engine.placement.plugins.queue_needs import needs
from kumi.engine.placement.tasks import Job
from kumi.engine.reasons import Code


@dataclass(frozen=True, slots=True)
class ResourceQuota:
    """See the module; it has no arguments."""

    @classmethod
    def configured(cls, option: Option) -> ResourceQuota:
        """See Configured."""
        return cls()

    def open(self, session: Framework) -> _ResourceQuota:
        """See Plugin."""
        quotas: dict[str, list[NamespaceQuota]] = {}
        for key in sorted(session.tasks.quotas):
            quotas.setdefault(_namespace(key), []).append(session.tasks.quotas[key])
        return _ResourceQuota(quotas)


@dataclass(frozen=True, slots=True)
class _ResourceQuota:
    quotas: dict[str, list[NamespaceQuota]]
    """by namespace"""
    let_in: dict[str, Shared] = field(default_factory=dict)
    """namespace -> what those need that were let in"""

    def job_enqueueable(self, job: Job) -> Vote:
        namespace, wanted = _namespace(job.key), _all(job)
        for quota in self.quotas.get(namespace, ()):
            hard, taken = dict(quota.hard), amounts.plus(dict(quota.used), self.let_in.get(namespace, {}))
            if any(taken.get(d, 0) + amount > hard[d] for d, amount in wanted.items() if d in hard):
                return Vote.REJECT
        return Vote.PERMIT

    def turned_away(self, job: Job) -> Code:
        return Code.NAMESPACE_QUOTA

    def job_enqueued(self, job: Job) -> None:
        namespace = _namespace(job.key)
        self.let_in[namespace] = amounts.plus(self.let_in.get(namespace, {}), _all(job))


def _all(job: Job) -> Shared:
    """What the gang needs, with what only quotas count."""
    assert job.group is not None
    return needs(job) | dict(job.group.counted)


def _namespace(key: str) -> str:
    return key.partition("/")[0]
