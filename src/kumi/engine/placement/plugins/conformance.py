"""Conformance: what the cluster itself needs isn't evicted.

The rule   nobody evicts a pod of the namespace kube-system or of the classes system-cluster-critical and system-node-critical
Source     Volcano: conformance plug-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumi.engine.model import Pod
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.tasks import Job

CRITICAL = ("system-cluster-critical", "system-node-critical")
SYSTEM = "kube-system"


@dataclass(frozen=True, slots=True)
class Conformance:
    """See the module; it has no arguments."""

    @classmethod
    def configured(cls, option: Option) -> Conformance:
        """See Configured."""
        return cls()

    def open(self, session: Framework) -> Conformance:
        """See Plugin."""
        return self

    def preemptable(self, preemptor: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        """See Preemptable."""
        return _others(candidates)

    def reclaimable(self, reclaimer: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        """See Reclaimable."""
        return _others(candidates)

    def evictable(self, preemptor: Job, candidates: Sequence[Pod], reclaim: bool) -> list[Pod] | None:
        """See Evictable."""
        return _others(candidates)


def _others(candidates: Sequence[Pod]) -> list[Pod]:
    return [pod for pod in candidates if pod.namespace != SYSTEM and pod.member.priority_class not in CRITICAL]
