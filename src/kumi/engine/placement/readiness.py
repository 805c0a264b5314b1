"""Readiness: when the pods of a workload may be bound.

The rule       the first time only when all of them are there: of each pod set, as many pods that can be bound, are bound or
               have ended as it was admitted with, else as it counts. Once one of them is bound or has ended, the others are
               bound as they come.
Not there      a pod that is gated or on its way out.
Why            half a gang holds what the other half, or another gang, needs; a pod that is replaced later must not wait
               for those that have ended.
Cost           O(pods of the workload).
Source         Kubernetes: KEP-4671 gang scheduling.
Not here       where they go: ../reservations.py holds their places, session.py binds.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumi.engine.model import Pod, Workload
from kumi.engine.reasons import Code, Reason


@dataclass(frozen=True, slots=True)
class Readiness:
    """All or none the first time, singly afterwards."""

    def waits(self, workload: Workload, pods: tuple[Pod, ...]) -> Reason | None:
        """The reason names the first pod set that lacks pods; `pods` is how many are missing in all, `need` and `have` count."""
        if any(pod.node or pod.finished for pod in pods):
            return None
        have: dict[str, int] = {}
        for pod in pods:
            if not pod.gated and not pod.terminating:
                have[pod.pod_set] = have.get(pod.pod_set, 0) + 1
        counts = {s.name: s.count for s in workload.pod_sets}
        if workload.admission is not None:
            counts |= {given.name: given.count for given in workload.admission.pod_sets}
        short = [(name, n) for name, n in counts.items() if have.get(name, 0) < n]
        if not short:
            return None
        (first, need), *_ = short
        missing = sum(n - have.get(name, 0) for name, n in short)
        return Reason(Code.GANG_INCOMPLETE, pod_set=first, need=need, have=have.get(first, 0), pods=missing)
