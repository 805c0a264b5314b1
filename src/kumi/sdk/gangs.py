"""Pod groups and Volcano's queues as people ask for them: who holds what, who waits for what, and why.

The rule   a gang holds what its pods ask for that are on a node and have not ended
           it waits while it has pods without a node, or fewer pods than it needs: for what these ask for, else for what it says
           that it needs in all
           why: the message of its condition Unschedulable, while that is true; else what the first of its pods without a node
           says: one that runs may have pods that wait; and the last warning about it where nobody says why, or nobody can decide
           a queue holds and counts what its own status says
Order      by queue, by namespace and name.
Cost       three lists; a fourth where one waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import msgspec

from kumi.api import core, volcano
from kumi.api.pod_requests import pod_requests
from kumi.api.quantity import format_amount, is_on_nodes, parse_amount
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.runtime.client import Reader
from kumi.runtime.decider import FAILED_TO_DECIDE


@dataclass(frozen=True)
class Gang:
    """One PodGroup. Amounts are quantities as text, by resource; `pods`: those that it has, `placed`: those of them on a node."""

    namespace: str
    name: str
    queue: str
    phase: str
    least: int
    pods: int = 0
    placed: int = 0
    holds: dict[str, str] = field(default_factory=dict)
    waits_for: dict[str, str] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True)
class Queue:
    """One Queue, and its gangs by whether they wait."""

    name: str
    parent: str
    state: str
    weight: int
    holds: dict[str, str]
    capability: dict[str, str]
    deserved: dict[str, str]
    running: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


async def look(client: Reader, namespace: str = "") -> tuple[list[Queue], list[Gang]]:
    """The queues, and the gangs of a namespace ("": of all)."""
    kinds = (SCHEME.of(volcano.PodGroup), SCHEME.of(core.Pod))
    queues, groups, pods = await asyncio.gather(
        client.list(SCHEME.of(volcano.Queue)), *(client.list(kind, namespace) for kind in kinds)
    )
    found = gangs(groups.items, pods.items)
    if any(gang.waits_for for gang in found):
        warned = await _warnings(client, namespace)
        found = [
            replace(g, why=_why(g.why, warned.get((g.namespace, g.name), {}))) if g.waits_for else g for g in found
        ]
    return [_queue(queue, found) for queue in sorted(queues.items, key=lambda q: str(q["metadata"]["name"]))], found


def _why(said: str, warning: JsonObject) -> str:
    """Why a gang waits, and that nobody can decide, if that is so."""
    told = str(warning.get("message") or "")
    if said and warning.get("reason") == FAILED_TO_DECIDE:
        return f"{said} At {warning.get('lastTimestamp')}: {told}"
    return said or told


async def _warnings(client: Reader, namespace: str) -> dict[tuple[str, str], JsonObject]:
    """PodGroup, by namespace and name -> the last warning event about it."""
    wanted = "involvedObject.kind=PodGroup,type=Warning"
    page = await client.list(SCHEME.of(core.Event), namespace, fields=wanted)
    told = sorted(page.items, key=lambda event: (event.get("lastTimestamp") or "", event["metadata"]["name"]))
    return {(e["metadata"]["namespace"], str(e["involvedObject"].get("name") or "")): e for e in told}


def gangs(groups: Iterable[JsonObject], pods: Iterable[JsonObject]) -> list[Gang]:
    """Of these PodGroups and pods."""
    members: dict[tuple[str, str], list[core.Pod]] = {}
    for pod in pods:
        group = (pod["metadata"].get("annotations") or {}).get(volcano.GROUP_NAME_ANNOTATION)
        if group:
            view = msgspec.convert(pod, core.Pod)
            members.setdefault((pod["metadata"]["namespace"], group), []).append(view)
    made = [
        _gang(
            msgspec.convert(g, volcano.PodGroup), members.get((g["metadata"]["namespace"], g["metadata"]["name"]), [])
        )
        for g in groups
    ]
    return sorted(made, key=lambda gang: (gang.queue, gang.namespace, gang.name))


def _gang(group: volcano.PodGroup, pods: list[core.Pod]) -> Gang:
    spec, meta = group.spec, group.metadata
    alive = [pod for pod in pods if pod.status.phase not in ("Succeeded", "Failed")]
    placed = [pod for pod in alive if pod.spec.node_name]
    waiting = [pod for pod in alive if not pod.spec.node_name]
    short = len(pods) < spec.min_member and group.status.phase != "Completed"
    wants = spec.min_resources if short and not waiting else {}
    unschedulable = next((c for c in group.status.conditions if c.get("type") == "Unschedulable"), {})
    return Gang(
        meta.namespace,
        meta.name,
        spec.queue,
        group.status.phase or "Pending",
        spec.min_member,
        len(pods),
        len(placed),
        _sum(placed),
        _sum(waiting) or {r: str(q) for r, q in sorted(wants.items()) if is_on_nodes(r)},
        str(unschedulable.get("message", "")) if unschedulable.get("status") == "True" else _first_said(waiting),
    )


def _first_said(waiting: list[core.Pod]) -> str:
    """Why the first of the pods, by name, that says why has no node."""
    for pod in sorted(waiting, key=lambda pod: pod.metadata.name):
        for condition in pod.status.conditions:
            if condition.type == "PodScheduled" and condition.status == "False" and condition.message:
                return condition.message
    return ""


def _sum(pods: list[core.Pod]) -> dict[str, str]:
    total = {"pods": parse_amount("pods", len(pods))} if pods else {}
    for pod in pods:
        for resource, amount in pod_requests(pod.spec).items():
            total[resource] = total.get(resource, 0) + amount
    return {resource: format_amount(resource, amount) for resource, amount in sorted(total.items())}


def _queue(raw: JsonObject, all_gangs: list[Gang]) -> Queue:
    view = msgspec.convert(raw, volcano.Queue)
    name = view.metadata.name
    mine = [gang for gang in all_gangs if gang.queue == name]
    return Queue(
        name,
        view.spec.parent or ("" if name == "root" else "root"),
        view.status.state or "Open",
        view.spec.weight,
        {r: str(q) for r, q in sorted(view.status.allocated.items())},
        {r: str(q) for r, q in sorted(view.spec.capability.items())},
        {r: str(q) for r, q in sorted(view.spec.deserved.items())},
        tuple(f"{g.namespace}/{g.name}" for g in mine if g.phase == "Running"),
        tuple(f"{g.namespace}/{g.name}" for g in mine if g.waits_for or g.phase in ("Pending", "Inqueue")),
    )
