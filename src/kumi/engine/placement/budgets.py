"""Budgets: how many more pods the disruption budgets let go.

The rule   a budget guards the pods of its namespace on whose labels its selector holds: all of them where that asks for nothing,
           none where there is no selector
           left(b) = what b allows, as its controller counted it last, less the pods that it guards whose eviction was decided
                     since, and that are still there
Since      a budget that comes in as another than it was has all counted whose eviction was decided before, for good: its
           controller takes those that are on their way out for gone. Where nothing of it changes, because the pod was not
           counted on, that is over when the pod is.
Granted    an eviction that the API has granted is counted in what is allowed, and costs nothing more.
Why        the count comes a moment after the pod that goes: without this, two looks in that moment both spend the last one.
Cost       O(budgets of the namespace) a pod; O(evictions under way x their budgets) what is left.
Source     Kubernetes: disruption budgets (policy/v1).
Not here   the count: kumi.controllers.disruption; who heeds it: plugins/disruption_budgets.py, preempting.py; as Volcano reads
           budgets: plugins/pdb.py.
"""

from __future__ import annotations

from kumi.engine.gangs import DisruptionBudget
from kumi.engine.journal import Journal
from kumi.engine.model import Pod
from kumi.engine.placement.tasks import Tasks
from kumi.engine.selectors import all_hold


def guards(budget: DisruptionBudget, pod: Pod) -> bool:
    """Does evicting the pod cost the budget something?"""
    if budget.selector is None or pod.name in budget.granted or not budget.key.startswith(f"{pod.namespace}/"):
        return False
    return all_hold(budget.selector, dict(pod.labels))


def guarding(tasks: Tasks, pod: Pod) -> tuple[DisruptionBudget, ...]:
    """Those that guard the pod, by key."""
    return tuple(budget for budget in tasks.budgets_of.get(pod.namespace, ()) if guards(budget, pod))


def spend(tasks: Tasks, journal: Journal, pod: Pod) -> None:
    """The pod's eviction is decided."""
    if found := guarding(tasks, pod):
        journal.put(tasks.spent, pod.uid, tuple(budget.key for budget in found))


def left(tasks: Tasks) -> dict[str, int]:
    """How many more may go, by the budgets' keys."""
    found = {key: budget.allowed for key, budget in sorted(tasks.budgets.items())}
    for keys in tasks.spent.values():
        for key in keys:
            found[key] -= 1
    return found
