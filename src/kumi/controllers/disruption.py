"""Disruption budgets: how many of the pods that a budget guards are well, and how many may go now.

The rule   guarded   pods that the budget selects and that have not ended
           expected  their number; where the bound is a share or says how many may be missing: the sum of the sizes of what
                     manages them (a Deployment, ReplicaSet or StatefulSet), and the others one each
           desired   minAvailable (a share of expected, rounded up), or expected - maxUnavailable (rounded up)
           healthy   guarded pods that are ready, stay, and whose eviction was not granted in the last GRANT_MS
           allowed   healthy - desired, 0 at least
           A grant is dropped when its pod is gone or going, or after GRANT_MS, if whoever asked for it never deleted it.
Source     Kubernetes: disruptions, disruption budgets.
Not here   who counts allowed down: kumi.registry.subresources.budgets.
"""

from __future__ import annotations

from collections.abc import Sequence

from kumi.api.apps import Deployment, ReplicaSet, StatefulSet
from kumi.api.core import Pod
from kumi.api.meta import LabelSelector, Object, parse_time
from kumi.api.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from kumi.api.shares import share_of
from kumi.bridge.conditions import Wanted, set_all
from kumi.controllers.adoption import is_selected
from kumi.controllers.own_status import written
from kumi.jobs.templates import FINISHED, is_ready
from kumi.runtime.reconcile import NOTHING, Keys, Outcome, Related, Watches, no_keys, own_key
from kumi.runtime.view import View

GRANT_MS = 120_000
_SIZED: tuple[type[Object], ...] = (Deployment, ReplicaSet, StatefulSet)


class DisruptionController:
    """See the module."""

    name = "disruption-controller"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        keys: dict[type[Object], Keys] = dict.fromkeys((Pod, *_SIZED), no_keys)
        related: dict[type[Object], Related] = {Pod: _guards, **dict.fromkeys(_SIZED, _in_namespace)}
        return Watches({PodDisruptionBudget: own_key, **keys}, related=related)

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        budget = view.get(PodDisruptionBudget, namespace, name)
        if budget is None or budget.metadata.deletion_timestamp is not None:
            return NOTHING
        pods = [
            pod
            for pod in view.list(Pod, namespace)
            if selects(budget.spec.selector, pod.metadata.labels) and pod.status.phase not in FINISHED
        ]
        granted, wake_at_ms = _grants(budget, pods, now_ms)
        status = _status(budget, pods, _expected(view, budget, pods), granted, now_ms)
        return Outcome(tuple(written(budget, budget.status, status)), wake_at_ms=wake_at_ms)


def selects(selector: LabelSelector | None, labels: dict[str, str]) -> bool:
    """An empty selector selects every pod, none selects none."""
    if selector is None:
        return False
    empty = not selector.match_labels and not selector.match_expressions
    return empty or is_selected(selector, labels)


def _status(
    budget: PodDisruptionBudget, pods: Sequence[Pod], expected: int, granted: dict[str, str | None], now_ms: int
) -> PodDisruptionBudgetStatus:
    spec = budget.spec
    if spec.max_unavailable is not None:
        desired = max(0, expected - share_of(spec.max_unavailable, expected, up=True))
    else:
        desired = share_of(spec.min_available, expected, up=True)
    well = [pod for pod in pods if is_ready(pod) and not pod.metadata.deletion_timestamp]
    healthy = sum(pod.metadata.name not in granted for pod in well)
    allowed = max(0, healthy - desired) if expected > 0 else 0
    reason = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    wanted = Wanted("DisruptionAllowed", *reason, generation=budget.metadata.generation)
    return PodDisruptionBudgetStatus(
        observed_generation=budget.metadata.generation,
        disruptions_allowed=allowed,
        current_healthy=healthy,
        desired_healthy=desired,
        expected_pods=expected,
        disrupted_pods=granted,
        conditions=set_all(budget.status.conditions, [wanted], now_ms),
    )


def _grants(budget: PodDisruptionBudget, pods: Sequence[Pod], now_ms: int) -> tuple[dict[str, str | None], int | None]:
    """Grants that count, and when the next of them runs out."""
    there = {pod.metadata.name for pod in pods if pod.metadata.deletion_timestamp is None}
    ends = {
        name: (parse_time(at) or 0) + GRANT_MS for name, at in budget.status.disrupted_pods.items() if name in there
    }
    counts = {name: budget.status.disrupted_pods[name] for name, end in ends.items() if end > now_ms}
    return counts, min((end for end in ends.values() if end > now_ms), default=None)


def _expected(view: View, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> int:
    spec = budget.spec
    if spec.max_unavailable is None and not isinstance(spec.min_available, str):
        return len(pods)
    sizes: dict[str, int] = {}
    for pod in pods:
        manager = _manager(view, pod)
        if manager is None:
            sizes[pod.metadata.uid] = 1
        else:
            sizes[manager.metadata.uid] = 1 if manager.spec.replicas is None else manager.spec.replicas
    return sum(sizes.values())


def _manager(view: View, pod: Pod) -> Deployment | ReplicaSet | StatefulSet | None:
    """What a pod's number depends on."""
    owner = pod.metadata.controller
    namespace = pod.metadata.namespace
    if owner is None:
        return None
    if owner.kind == "StatefulSet":
        return view.get(StatefulSet, namespace, owner.name)
    if owner.kind != "ReplicaSet":
        return None
    found = view.get(ReplicaSet, namespace, owner.name)
    above = found.metadata.controller if found is not None else None
    if above is not None and above.kind == "Deployment":
        return view.get(Deployment, namespace, above.name) or found
    return found


def _guards(pod: Object, view: View) -> list[str]:
    budgets = view.list(PodDisruptionBudget, pod.metadata.namespace)
    return [budget.key for budget in budgets if selects(budget.spec.selector, pod.metadata.labels)]


def _in_namespace(obj: Object, view: View) -> list[str]:
    return [budget.key for budget in view.list(PodDisruptionBudget, obj.metadata.namespace)]
