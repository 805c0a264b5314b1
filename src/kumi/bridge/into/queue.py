"""Queue -> Queue: shares and limits in base units, its state, its place in the hierarchy, its node groups.

The rule   a queue about whose state nothing was said is open; one that is being deleted takes nothing new
           hierarchy: annotation volcano.sh/hierarchy "root/a/b" and -weights "1/2/3"; a weight below 1, or one that can't
           be read, counts as 1
           amounts of what no node can have (requests.cpu, count/pods) say nothing
           limits by node group: annotation volcano.sh/nodegroup-resource-limits, JSON {group: {resource: quantity}}
Source     Volcano: Queue, hierarchical dominant resource fairness.
"""

from __future__ import annotations

import msgspec

from kumi.api import volcano
from kumi.api.meta import parse_time
from kumi.api.quantity import QuantityError, is_on_nodes, parse_amount
from kumi.api.wire import JsonObject
from kumi.engine import gangs

STATES = {s.value: s for s in gangs.QueueState}


def queue(view: volcano.Queue) -> gangs.Queue:
    """See the module. KumiError for a quantity that can't be read."""
    meta, spec = view.metadata, view.spec
    path = tuple(part for part in meta.annotations.get(volcano.HIERARCHY_ANNOTATION, "").split("/") if part)
    weights = meta.annotations.get(volcano.HIERARCHY_WEIGHTS_ANNOTATION, "").split("/")
    state = STATES.get(view.status.state or "Open", gangs.QueueState.UNKNOWN)
    return gangs.Queue(
        name=meta.name,
        created_ms=parse_time(meta.creation_timestamp) or 0,
        weight=spec.weight,
        capability=on_nodes(amounts(spec.capability)),
        deserved=on_nodes(amounts(spec.deserved)),
        guarantee=on_nodes(amounts(spec.guarantee.resource)) if spec.guarantee is not None else (),
        reclaimable=spec.reclaimable is not False,
        priority=spec.priority,
        parent=spec.parent,
        state=gangs.QueueState.CLOSING if meta.deletion_timestamp is not None else state,
        hierarchy=path,
        weights=tuple(_weight(weights[at] if at < len(weights) else "") for at in range(len(path))),
        groups=_groups(spec.affinity),
        group_limits=_limits(meta.annotations.get(volcano.GROUP_LIMITS_ANNOTATION, "")),
    )


def amounts(written: JsonObject) -> gangs.Listed:
    """Quantities by resource, in base units."""
    return tuple(sorted((name, parse_amount(name, quantity)) for name, quantity in written.items()))


def on_nodes(listed: gangs.Listed) -> gangs.Listed:
    """Those that a node can have."""
    return tuple(one for one in listed if is_on_nodes(one[0]))


def _limits(text: str) -> tuple[tuple[str, gangs.Listed], ...] | None:
    if not text.strip():
        return ()
    try:
        by_group = msgspec.json.decode(text, type=dict[str, dict[str, str | int | float]])
        return tuple((group, on_nodes(amounts(limit))) for group, limit in sorted(by_group.items()))
    except (msgspec.MsgspecError, QuantityError):
        return None


def _weight(text: str) -> float:
    try:
        return max(1.0, float(text))
    except ValueError:
        return 1.0


def _groups(view: volcano.QueueAffinity | None) -> gangs.NodeGroups | None:
    if view is None:
        return None
    wanted, unwanted = view.node_group_affinity, view.node_group_anti_affinity
    return gangs.NodeGroups(
        required=tuple(wanted.required_during_scheduling_ignored_during_execution) if wanted else (),
        preferred=tuple(wanted.preferred_during_scheduling_ignored_during_execution) if wanted else (),
        anti_required=tuple(unwanted.required_during_scheduling_ignored_during_execution) if unwanted else (),
        anti_preferred=tuple(unwanted.preferred_during_scheduling_ignored_during_execution) if unwanted else (),
    )
