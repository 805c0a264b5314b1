"""Consent: whether a pod of a gang lets itself be evicted, as it says and as its gang does (volcano.sh/preemptable).

The rule, as Volcano has it (VOLCANO)
    one_by_one   what the pod says; where it doesn't say, yes
    by_gangs     whole gangs' room (gangpreempt, gangreclaim) comes from pods that don't say no, of gangs that don't either
The rule, as Kumi has it (KUMI)
    both         what the pod says; where it doesn't, what its gang says; where nobody does, yes
Why        who says of a gang that it isn't to be stopped means all of it, whoever asks, and whether for one pod or for many.
Source     Volcano: preempt, reclaim, gangpreempt and gangreclaim actions. The second is Kumi's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kumi.engine.gangs import PodGroup
from kumi.engine.model import Pod

Consents: TypeAlias = Callable[[Pod, PodGroup | None], bool]


@dataclass(frozen=True, slots=True)
class Consent:
    """See the module."""

    one_by_one: Consents
    by_gangs: Consents


def of_pod(pod: Pod, group: PodGroup | None) -> bool:
    """What the pod says."""
    return pod.member.preemptable is not False


def of_both(pod: Pod, group: PodGroup | None) -> bool:
    """One no is enough."""
    return of_pod(pod, group) and (group is None or group.preemptable is not False)


def of_pod_else_gang(pod: Pod, group: PodGroup | None) -> bool:
    """What the pod says, else its gang."""
    said = pod.member.preemptable
    return of_both(pod, group) if said is None else said


VOLCANO = Consent(of_pod, of_both)
KUMI = Consent(of_pod_else_gang, of_pod_else_gang)
