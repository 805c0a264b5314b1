"""Tree: what administrators set up, as the quota tree and as news for those whom it concerns.

The rule       a ClusterQueue stands under its cohort, a Cohort under its parent; a cohort is there as soon as somebody names it,
               with no quota of its own and no parent until its object comes
               cohorts that are each other's parents stand under nobody, each a root, for as long as that is so; the queues below
               them are closed (catalog.py)
News           quota or parents changed: all queues of the trees that are concerned may be helped, and those who hold quota of the
               queue may have to stop. A flavor, a topology or an admission check came, changed or went: the queues that
               name it.
Why            an object that comes too early, or is wrong, neither loses what comes after it nor stops what runs.
Order and ties objects come in any order; queues by name.
Cost           O(depth) a flavor-resource for the tree, O(queues of the tree) for the news.
Source         Kueue: Cohort, hierarchical cohorts (KEP-79).
Not here       how much may be used: admission/quota.py; who is brought back: admission/requeue.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from kumi.engine.admission.quota import FlavorResource, cohort_node
from kumi.engine.model import AdmissionCheck, ClusterQueue, Cohort, Flavor, Quota, ResourceGroup, Topology
from kumi.engine.reasons import Reason

if TYPE_CHECKING:
    from kumi.engine.state import State

SetUp: TypeAlias = ClusterQueue | Cohort | Flavor | Topology | AdmissionCheck
N = TypeVar("N")


def set_up(state: State, type_: type[SetUp], name: str, noun: SetUp | None) -> None:
    """There is such a thing now, or it changed; None: it is gone."""
    if type_ is ClusterQueue:
        _set_cluster_queue(state, name, noun if isinstance(noun, ClusterQueue) else None)
    elif type_ is Cohort:
        _set_cohort(state, name, noun if isinstance(noun, Cohort) else None)
    elif type_ is Flavor:
        _set_flavor(state, name, noun if isinstance(noun, Flavor) else None)
    elif type_ is Topology:
        _set_topology(state, name, noun if isinstance(noun, Topology) else None)
    else:
        _set_check(state, name, noun if isinstance(noun, AdmissionCheck) else None)


def _set_cluster_queue(state: State, name: str, queue: ClusterQueue | None) -> None:
    old = state.catalog.cluster_queues.get(name)
    if old == queue:
        return
    concerned = _closed(state, [name, *_relatives(state, name)])
    if queue is None:
        state.journal.drop(state.catalog.cluster_queues, name)
        state.quotas.unset(name)
    else:
        state.journal.put(state.catalog.cluster_queues, name, queue)
        state.quotas.set(name, quota_of(queue.groups), cohort_node(queue.cohort))
    if old is None or queue is None or old.selector != queue.selector:
        for door in sorted(state.catalog.doors.get(name, ())):
            state.refresh_all(state.of_local_queue.get(door, ()))
    concerned |= _closed(state, _relatives(state, name), concerned)
    _notice(state, concerned, name)


def _set_cohort(state: State, name: str, cohort: Cohort | None) -> None:
    if state.catalog.cohorts.get(name) == cohort:
        return
    node, before = cohort_node(name), state.catalog.cycle(name)
    concerned = _closed(state, _relatives(state, node, *map(cohort_node, before)))
    if cohort is None:
        state.journal.drop(state.catalog.cohorts, name)
    else:
        state.journal.put(state.catalog.cohorts, name, cohort)
    after = state.catalog.cycle(name)
    for loose in sorted({*after, *before} - {name}):
        _put_node(state, loose)
    _put_node(state, name)
    concerned |= _closed(state, _relatives(state, node, *map(cohort_node, after)), concerned)
    _notice(state, concerned)


def _set_flavor(state: State, name: str, flavor: Flavor | None) -> None:
    queues = [q.name for q in state.catalog.cluster_queues.values() if _uses(q, name)]
    _set_named(state, state.catalog.flavors, name, flavor, queues)


def _set_topology(state: State, name: str, topology: Topology | None) -> None:
    flavors = [flavor.name for flavor in state.catalog.flavors.values() if flavor.topology == name]
    queues = [q.name for q in state.catalog.cluster_queues.values() if any(_uses(q, flavor) for flavor in flavors)]
    _set_named(state, state.catalog.topologies, name, topology, queues)


def _set_check(state: State, name: str, check: AdmissionCheck | None) -> None:
    queues = [q.name for q in state.catalog.cluster_queues.values() if any(rule.name == name for rule in q.checks)]
    _set_named(state, state.catalog.checks, name, check, queues)


def _set_named(state: State, table: dict[str, N], name: str, noun: N | None, queues: list[str]) -> None:
    """What these queues name is this now."""
    if table.get(name) == noun:
        return
    concerned = _closed(state, queues)
    if noun is None:
        state.journal.drop(table, name)
    else:
        state.journal.put(table, name, noun)
    _notice(state, concerned)


def quota_of(groups: tuple[ResourceGroup, ...]) -> dict[FlavorResource, Quota]:
    """Quotas by flavor and resource."""
    return {
        (flavor.flavor, resource): quota
        for group in groups
        for flavor in group.flavors
        for resource, quota in flavor.quotas
    }


def parent_of(state: State, cohort: str) -> str:
    """The node above a cohort: "" where there is none, and for cohorts that are each other's parents."""
    known = state.catalog.cohorts.get(cohort)
    return cohort_node(known.parent) if known is not None and cohort not in state.catalog.cycle(cohort) else ""


def _put_node(state: State, cohort: str) -> None:
    known = state.catalog.cohorts.get(cohort)
    if known is None:
        state.quotas.unset(cohort_node(cohort))
    else:
        state.quotas.set(cohort_node(cohort), quota_of(known.groups), parent_of(state, cohort))


def _relatives(state: State, *nodes: str) -> list[str]:
    """The queues of the trees that the nodes are in."""
    roots = sorted({state.quotas.root(node) for node in nodes})
    return [queue for root in roots for queue in state.quotas.queues(root)]


def _closed(
    state: State, queues: Iterable[str], known: dict[str, Reason | None] | None = None
) -> dict[str, Reason | None]:
    """Why each of the queues is closed, as of now; those that are known already left out."""
    return {queue: state.catalog.closed(queue) for queue in queues if known is None or queue not in known}


def _notice(state: State, concerned: dict[str, Reason | None], changed: str = "") -> None:
    """The queues are other than they were: those in their lines may be tried again. Those who hold quota of the one that changed
    itself, or that is open or closed now, may have to stop."""
    for name in sorted(concerned):
        state.queues.renew(name)
        state.queues.wake_all(name)
        state.claims.doubt(state, name)
        turned = state.catalog.closed(name) != concerned[name]
        if turned:
            for key in state.queues.in_order(name):
                state.journal.put(state.untold, key, None)
        if turned or name == changed:
            for key in state.holdings.of_queue.get(name, ()):
                state.journal.put(state.to_check, key, None)


def _uses(queue: ClusterQueue, flavor: str) -> bool:
    return any(f.flavor == flavor for g in queue.groups for f in g.flavors)
