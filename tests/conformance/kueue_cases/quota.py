"""Quota arithmetic on the cohort tree: quota_available, quota_snapshot, fair_share, borrowing_on."""

from __future__ import annotations

from typing import Any

from kumi.engine.admission import fair_sharing
from kumi.engine.admission.quota import COHORT, cohort_node
from kumi.engine.state import State

from .reading import Table, amounts, integers, state_of

Case = dict[str, Any]


def available(case: Case) -> dict[str, Any]:
    """What each queue may use now, and at most."""
    state = _used(case, case["input"]["usage"])
    now: dict[str, Any] = {}
    at_most: dict[str, Any] = {}
    for name in state.catalog.cluster_queues:
        frs = state.quotas.quota[name]
        now[name] = integers({fr: max(0, state.quotas.available(name, fr)) for fr in frs})
        at_most[name] = integers({fr: state.quotas.potential(name, fr) for fr in frs})
    return {"available": now, "potentiallyAvailable": at_most, "nodes": nodes(state)}


def snapshot(case: Case) -> dict[str, Any]:
    """The tree after some were taken out and put back."""
    state = state_of(case)
    quotas, held = state.quotas, state.holdings
    for key in case["input"].get("remove") or ():
        for fr, amount in held.usage[key].items():
            quotas.add(held.admission[key].cluster_queue, fr, -amount)
    back = case["input"].get("add") or ()
    for key in back:
        for fr, amount in held.usage[key].items():
            quotas.add(held.admission[key].cluster_queue, fr, amount)
    return {"nodes": nodes(state, set(case["input"].get("remove") or ()) - set(back))}


def nodes(state: State, without: set[str] | tuple[()] = ()) -> dict[str, Any]:
    """Quota and usage of each node of the tree."""
    quotas, catalog = state.quotas, state.catalog
    closed = sorted(name for name in catalog.cluster_queues if catalog.closed(name) is not None)
    cohorts = {*catalog.cohorts, *(node.removeprefix(COHORT) for node in quotas.children)}
    return {
        "clusterQueues": {
            name: {
                **_node(state, name),
                "workloads": sorted(k for k in state.holdings.of_queue.get(name, ()) if k not in without),
            }
            for name in sorted(catalog.cluster_queues)
            if name not in closed
        },
        "cohorts": {name: _node(state, cohort_node(name)) for name in sorted(cohorts) if not catalog.cycle(name)},
        "inactiveClusterQueues": closed,
    }


def shares(case: Case) -> dict[str, Any]:
    """The dominant share of every node, with a request added to each."""
    state = _used(case, case["input"]["usage"])
    requested = amounts(case["input"]["requested"])
    found = []
    names = {("ClusterQueue", name): name for name in state.catalog.cluster_queues}
    names |= {("Cohort", node.removeprefix(COHORT)): node for node in state.quotas.children}
    names |= {("Cohort", name): cohort_node(name) for name in state.catalog.cohorts}
    for (kind, name), node in sorted(names.items()):
        share = fair_sharing.share(state, node, requested)
        found.append(
            {
                "kind": kind,
                "name": name,
                "share": "max" if share.unlimited else share.rounded,
                "dominantResource": share.resource,
                "borrowing": share.borrowing,
            }
        )
    return {"shares": found}


def borrowing(case: Case) -> dict[str, Any]:
    """Does the queue borrow, of anything, and of what is asked for?"""
    state, name = _used(case, case["input"]["usage"]), case["input"]["clusterQueue"]
    asked = amounts(case["input"]["requested"])
    return {
        "borrowing": fair_sharing.share(state, name, asked).borrowing,
        "borrowingOnRequested": fair_sharing.borrows_on(state.quotas, name, asked),
    }


def _used(case: Case, usage: dict[str, Table]) -> State:
    state = state_of(case)
    for name, table in usage.items():
        for fr, amount in amounts(table).items():
            state.quotas.add(name, fr, amount)
    return state


def _node(state: State, node: str) -> dict[str, Any]:
    quotas = state.quotas
    return {
        "subtreeQuota": integers(quotas.subtrees.get(node, {})),
        "usage": integers(quotas.usage.get(node, {})),
    }


SUITES = {
    "quota_available": available,
    "quota_snapshot": snapshot,
    "fair_share": shares,
    "borrowing_on": borrowing,
}
