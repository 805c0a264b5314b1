"""The life of a Workload, whatever its job is: back-off, activity, admission checks, stops, time-outs, its end.

The rule   one look, the first rule that applies is what happens:
     1 orphaned, retained                          ending.py
     2 asked, targeted, waiting, over, back,
       inactive                                    backoff.py
     3 the LocalQueue runs again                   queues.py
     4 gates                                       unadmitted.py (profile kueue)
     5 the ClusterQueue runs again                 queues.py
     6 the checks listed                           checks.py
     7 the conditions QuotaReserved, Admitted      unadmitted.py (profile kueue), checks.py
     8 of what holds quota: nobody owns it         ending.py (profile kumi)
       the checks' answers, its queues, its time   checks.py, queues.py, timeouts.py
       Rules of 8 see the conditions as 7 leaves them, and are one write with them.
Owner      Evictions for checks and time-outs are decided here, and only here. Those of workloads that hold quota and are
           deactivated or drained: in the profile kueue here; in the profile kumi by the engine, which decides them in one cycle
           with preemption and lost nodes. What an eviction writes is in one place (kumi.bridge.out.eviction).
Law        a look at what a look has left changes nothing, once none of them writes any more.
Not here   starting and stopping the job, and giving its quota back once it holds no pods: controllers/workload.py.
Source     Kueue: Workload's controller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kumi.api import core, kueue
from kumi.api.meta import Object, ObjectMeta, is_true
from kumi.bridge.conditions import Wanted, set_all, to_json
from kumi.bridge.into.namespace import namespace as into_namespace
from kumi.controllers.life import backoff, checks, ending, queues, timeouts, unadmitted
from kumi.controllers.life.look import Look, Policy, Rule
from kumi.runtime.reconcile import NOTHING, Note, Outcome, Watches, no_keys, own_key
from kumi.runtime.view import View

__all__ = ["KUEUE", "KUMI", "RULES", "Policy", "Rules", "WorkloadLife"]


@dataclass(frozen=True)
class Rules:
    """Which strategies a profile has. `first` and, of what holds quota, `holding`, in order; `says_why`: what QuotaReserved says
    of one that waits (None: the decision record says it)."""

    first: tuple[Rule, ...]
    holding: tuple[Rule, ...]
    says_why: Callable[[Look], Wanted | None] | None = None


_ENDS: tuple[Rule, ...] = (ending.orphaned, ending.retained, backoff.asked, backoff.targeted)
_REQUEUES: tuple[Rule, ...] = (backoff.over, backoff.back)
_LISTS: tuple[Rule, ...] = (queues.cluster_restarted, checks.listed)
_LATE: tuple[Rule, ...] = (timeouts.not_ready, timeouts.too_long)

KUEUE = Rules(
    (
        *(*_ENDS, backoff.waiting, *_REQUEUES, backoff.inactive, queues.local_restarted),
        *(unadmitted.gated, *_LISTS),
    ),
    (
        checks.answered,
        *(queues.local_drained, queues.local_gone, queues.cluster_drained, queues.cluster_gone),
        *_LATE,
    ),
    unadmitted.waiting,
)
KUMI = Rules(
    (*_ENDS, backoff.waiting_pending, *_REQUEUES, backoff.inactive_pending, queues.local_restarted, *_LISTS),
    (ending.unowned, checks.answered, queues.local_gone, queues.cluster_gone, *_LATE),
)

RULES = {"kueue": KUEUE, "kumi": KUMI, "volcano": KUMI}
"""profile -> its strategies"""


class WorkloadLife:
    """See the module."""

    name = "workload-life"

    def __init__(self, policy: Policy | None = None, rules: Rules = KUMI) -> None:
        self._policy, self._rules = policy or Policy(), rules

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches(
            {
                core.Namespace: no_keys,
                kueue.ClusterQueue: no_keys,
                kueue.LocalQueue: no_keys,
                kueue.Workload: own_key,
            },
            related={kueue.LocalQueue: _of_local_queue, kueue.ClusterQueue: _of_cluster_queue},
            matters={kueue.LocalQueue: _is_another_queue, kueue.ClusterQueue: _is_another_queue},
        )

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        workload = view.get(kueue.Workload, namespace, name)
        if workload is None:
            return NOTHING
        queue = view.get(kueue.LocalQueue, namespace, workload.spec.queue_name)
        cluster_queue = view.get(kueue.ClusterQueue, "", queue.spec.cluster_queue) if queue is not None else None
        home = view.get(core.Namespace, "", namespace) or core.Namespace(metadata=ObjectMeta(name=namespace))
        conditions, labels = list(workload.status.conditions), dict(into_namespace(home).labels)
        look = Look(workload, queue, cluster_queue, self._policy, now_ms, conditions, labels)
        for rule in self._rules.first:
            outcome = rule(look)
            if outcome is not None:
                return outcome
        return self._rest(look)

    def _rest(self, look: Look) -> Outcome:
        """The rule from 7 on."""
        before = look.conditions
        told: tuple[Note, ...] = ()
        look = replace(look, conditions=set_all(before, self._conditions(look), look.now_ms))
        if look.admitted and before != look.conditions:
            said = look.condition("Admitted")
            told = (look.note("Admitted", said.message if said is not None else ""),)
        wakes = []
        for rule in self._rules.holding if look.holds_quota else ():
            outcome = rule(look)
            if outcome is None:
                continue
            if outcome.writes:
                return replace(outcome, notes=(*told, *outcome.notes))
            if outcome.wake_at_ms is not None:
                wakes.append(outcome.wake_at_ms)
        wake = min(wakes, default=None)
        if before == look.conditions:
            return Outcome(wake_at_ms=wake)
        return replace(look.written({"conditions": to_json(look.conditions)}, *told), wake_at_ms=wake)

    def _conditions(self, look: Look) -> list[Wanted]:
        if look.admitted:
            return []
        if look.holds_quota:
            wanted = checks.admitted(look)
            return [wanted] if wanted is not None else []
        if self._rules.says_why is None:
            return []
        why, found = self._rules.says_why(look), look.condition("QuotaReserved")
        if why is not None and found is not None and (found.status, found.reason) == (why.status, why.reason):
            why = None
        if why is None:
            return [] if found is None else [queues.NO_RESERVATION]
        return [why, queues.NO_RESERVATION]


def _is_another_queue(old: Object, new: Object) -> bool:
    """Beyond the numbers in its status: its spec, whether it is going, whether it is active."""
    return _read(old) != _read(new)


def _read(queue: Object) -> tuple[object, ...]:
    assert isinstance(queue, kueue.LocalQueue | kueue.ClusterQueue)
    return queue.spec, queue.metadata.deletion_timestamp, is_true(queue.status.conditions, "Active")


def _of_local_queue(queue: Object, view: View) -> list[str]:
    namespace, name = queue.metadata.namespace, queue.metadata.name
    return [w.key for w in view.list(kueue.Workload, namespace) if w.spec.queue_name == name]


def _of_cluster_queue(queue: Object, view: View) -> list[str]:
    doors = {q.key for q in view.list(kueue.LocalQueue) if q.spec.cluster_queue == queue.metadata.name}
    return [w.key for w in view.list(kueue.Workload) if f"{w.metadata.namespace}/{w.spec.queue_name}" in doors]
