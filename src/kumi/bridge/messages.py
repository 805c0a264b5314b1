"""Reasons as the sentences that users read: in conditions, in events, in `kumi why`. The only place where they are made;
what each code says, with holes for names and amounts: sentences.py.

    sentence(reason)               one sentence: the layer's no, need and have
    summary(record)                the condition's message: the sentence, then who holds or is ahead
    condition_reason(reason)       the word of the condition QuotaReserved=False, as Kueue's users know it
    record_to_json / _from_json    the decision record that the Workload's `status.decision` carries
    why(record, workload)          two lines: what it waits for; who is ahead and what would help
    why_without_workload(job)      the same of a job that no queue has seen yet, or ever will, of a gang and of a pod
    why_unplaced(waits)            the same of whatever has pods that wait for nodes
    why_undecided(object)          the same of what nobody has said anything of yet

Record     {layer, code, message, resource, flavor, where, podSet, need, have, pods, nodes, detail, permanent, position,
           ahead, holders, helps, others, flavors, victims, time}. `need`, `have` and holders' amounts are quantities as text;
           `layer` and `code` are the names of kumi.engine.reasons. Every field is always given, null where it says
           nothing: a merge patch then leaves nothing of the record before.
Law        record_from_json(record_to_json(r)) == r, its time in whole seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kumi.api.errors import KumiError
from kumi.api.meta import format_time, parse_time
from kumi.api.quantity import format_amount, parse_amount
from kumi.api.wire import JsonObject
from kumi.bridge.scheduler_names import SCHEDULERS
from kumi.bridge.sentences import CONDITION_REASONS, SENTENCES
from kumi.engine.reasons import Ahead, Code, Considered, Reason, Record, Tried

NAMES_AT_MOST = 3
"""how many others a sentence names before it counts the rest"""

ONLY_POD_SET = "main"
"""the name of the pod set of a job that has just one: nobody wrote it, and it says nothing"""

SHARE = "share"
"""detail of a reason: a share of one GPU is wanted, and not whole ones"""

CLAIM_IS = {
    "unbound": "has no volume yet",
    "deleted": "is being deleted",
    "lost": "has lost its volume",
}
"""what is wrong with a claim that is there (kumi.bridge.into.volumeclaim)"""

CAUSES: dict[str, str] = {
    "InClusterQueue": "it goes before this one in their ClusterQueue",
    "InCohortReclamation": "its ClusterQueue takes back what is its own",
    "InCohortFairSharing": "its ClusterQueue has the smaller share",
    "InCohortReclaimWhileBorrowing": "its ClusterQueue may borrow before this one does",
}
"""by which rule a workload is preempted, by the reason of the condition Preempted"""

WHY_NOT: dict[str, str] = {
    "NotNeeded": "it fits without",
    "NotEnough": "it would still not fit",
    "Spoken": "another workload waits for its place already",
    "Policy": "the queue preempts nobody of its own",
    "Priority": "its priority is not lower",
    "ComesBack": "it would come back by preempting others",
}
"""why somebody who was considered for eviction stays"""

MODES: dict[str, str] = {
    "NoFit": "no",
    "NoCandidates": "nobody to preempt",
    "Preempt": "by preempting",
    "Reclaim": "by reclaiming",
    "Fit": "has quota",
}
"""how a flavor would do, as for quota"""

ENDS = ("Complete", "Succeeded", "Failed")
"""the conditions of a job of any kind that has ended"""

ENDED_PHASES = ("Succeeded", "Failed", "Completed")
"""of a pod, and of a PodGroup, that has ended"""

NOTHING_HELD = "no quota is held for it"

EVICTIONS: dict[str, str] = {
    "ClusterQueueStopped": "Its ClusterQueue is drained by its stopPolicy.",
    "LocalQueueStopped": "Its LocalQueue is drained by its stopPolicy.",
    "Deactivated": "The workload is deactivated (spec.active is false).",
    "NodeFailures": "A node that its pods were on is gone.",
    "Preempted": "Another workload takes its place.",
}
"""sentences for the reasons of the condition Evicted, where the decision has no reason of its own"""


def amount(resource: str, base: int) -> str:
    """An amount for people: `4 nvidia.com/gpu`, `2Gi memory`, `500m cpu`."""
    said = format_amount(resource, base)
    return f"{said} {'pod' if resource == 'pods' and said == '1' else resource}"


def sentence(reason: Reason) -> str:
    """One sentence without its full stop."""
    missing = reason.pods
    return SENTENCES[reason.code].format(
        where=reason.where or "(none)",
        here=f", {reason.where}," if reason.where else "",
        flavor=reason.flavor or "(none)",
        resource=reason.resource,
        detail=reason.detail or "(none)",
        claim=reason.where.rpartition("/")[2],
        shared="one pod alone may use"
        if reason.detail == "pod"
        else "one node alone may use: none has room for all of them",
        claim_is=CLAIM_IS.get(reason.detail, reason.detail),
        need=amount(reason.resource, reason.need) if reason.resource else "room",
        have=amount(reason.resource, reason.have) if reason.resource else "none",
        pods=missing,
        on_gpus="on one GPU" if reason.detail == SHARE else "that nobody shares",
        gpu_or_node="GPU" if reason.detail == SHARE else "node",
        fitting=reason.have,
        least=reason.need,
        are="is" if missing == 1 else "are",
        is_free="are" if _counted_in_many(reason) else "is",
        of_pod_set=f" of pod set {reason.pod_set}" if _is_named(reason.pod_set) else "",
        missing_of=f" ({reason.pod_set}: {reason.have} of {reason.need})" if _is_named(reason.pod_set) else "",
        of_flavor=f", flavor {reason.flavor}" if reason.flavor else "",
        unplaced=f" ({missing} of its pods {'has' if missing == 1 else 'have'} no place)" if missing else "",
    )


def _is_named(pod_set: str) -> bool:
    """Is it a pod set, or a role, that somebody named?"""
    return pod_set not in ("", ONLY_POD_SET)


def _counted_in_many(reason: Reason) -> bool:
    """Whether `have` takes a plural: things that are counted (GPUs, pods), and not just one of them."""
    counted = "/" in reason.resource or reason.resource == "pods"
    return counted and format_amount(reason.resource, reason.have) != "1"


def condition_reason(reason: Reason) -> str:
    """The reason of QuotaReserved=False."""
    return CONDITION_REASONS[reason.code]


def summary(record: Record) -> str:
    """The message of a condition or an event: it stays the same while only the place in the queue changes."""
    said = _sentence_case(sentence(record.reason)) + "."
    if record.holders:
        said += f" Held by {_names([_holder(h, record.reason.resource) for h in record.holders])}."
    if record.reason.permanent:
        said += f" It can't start unless {record.reason.code.helps}."
    return said


def unplaced_pod(reasons: tuple[Reason, ...]) -> str:
    """The message of a pod that has no node: how many nodes said which no, or what its Workload's place lacks."""
    by_nodes = [f"{_nodes(r.nodes)} {_node_sentence(r)}" for r in reasons if r.nodes]
    said = [sentence(r) for r in reasons if not r.nodes]
    if by_nodes:
        said.append(f"no node takes the pod: {', '.join(by_nodes)}")
    return f"{_sentence_case('; '.join(dict.fromkeys(said)) or 'no node has been tried yet')}."


def gang_waits(reasons: tuple[Reason, ...]) -> str:
    """The message of a gang that isn't placed: what it lacks, then what the nodes said to the next of its pods."""
    first, rest = reasons[0], reasons[1:]
    said = f"{_sentence_case(sentence(first))}."
    return f"{said} {unplaced_pod(rest)}" if rest else said


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"


def _node_sentence(reason: Reason) -> str:
    many = reason.nodes > 1
    if reason.code is Code.NODE_NOT_MATCHED:
        return {
            "not ready": "are not ready" if many else "is not ready",
            "cordoned": "are cordoned" if many else "is cordoned",
            "taint": "have a taint that it does not tolerate" if many else "has a taint that it does not tolerate",
            "selector": "do not match its node selector" if many else "does not match its node selector",
            "affinity": "do not match its node affinity" if many else "does not match its node affinity",
            "ports": "have a port in use that it asks for" if many else "has a port in use that it asks for",
            "pod affinity": f"{'are' if many else 'is'} too near to, or too far from, other pods",
            "spread": "would make it unevenly spread",
            "zone": "are not in the zone of its volume" if many else "is not in the zone of its volume",
            "volume limit": "take no more volumes of its driver" if many else "takes no more volumes of its driver",
            "volume": "do not reach its volume" if many else "does not reach its volume",
            "volume in use": f"{'are' if many else 'is'} not the one on which its ReadWriteOnce volume is used",
            "usage": f"{'are' if many else 'is'} busier than the plug-in usage allows",
            "nodegroup": f"{'are' if many else 'is'} of no node group that its queue uses",
            "tdm": f"{'are' if many else 'is'} lent out, and not to it now",
            "numa-aware": f"{'have' if many else 'has'} no cpus as its NUMA policy wants them",
            "resource-strategy-fit": f"{'keep' if many else 'keeps'} the rest for pods that ask for what is scarce there",
        }.get(reason.detail, f"said no ({reason.detail})")
    need, have = amount(reason.resource, reason.need), amount(reason.resource, reason.have)
    if reason.code is Code.GPUS_SPLIT:
        no_gpu = f"no one GPU with {need} free" if reason.detail == SHARE else f"no {need} that nobody shares"
        return f"{'have' if many else 'has'} {no_gpu} (the most is {have})"
    size = "too small" if reason.code is Code.NODE_TOO_SMALL else "full"
    return f"{'are' if many else 'is'} {size} (it needs {need}, the most that one has is {have})"


def evicted(why: str, reason: Reason | None, by: str = "", cause: str = "") -> str:
    """The message of the condition Evicted. `why` is its reason; `by` the workload that takes its place, by the rule `cause`."""
    if reason is not None:
        return f"{_sentence_case(sentence(reason))}."
    if by:
        rule = CAUSES.get(cause, cause)
        return f"Workload {by} takes its place{f': {rule}' if rule else ''}."
    return EVICTIONS.get(why, f"It is stopped: {why}.")


def preempted(victim: Considered) -> str:
    """What the preemptor's event says of one of its victims."""
    return f"{victim.job or victim.workload} is preempted for it ({victim.cause})."


def record_to_json(record: Record) -> JsonObject:
    """See the module."""
    return {
        **_reason_to_json(record.reason),
        "message": _sentence_case(sentence(record.reason)) + ".",
        "helps": record.reason.code.helps,
        "position": record.position,
        "ahead": [_ahead_to_json(a, record.reason.resource) for a in record.ahead],
        "holders": [_ahead_to_json(a, record.reason.resource) for a in record.holders],
        "others": [{k: v for k, v in _reason_to_json(r).items() if v is not None} for r in record.others],
        "flavors": [_tried_to_json(t) for t in record.tried],
        "victims": [_considered_to_json(c) for c in record.considered],
        "time": format_time(record.at_ms),
    }


def record_from_json(data: JsonObject) -> Record:
    """See the module. KumiError if it is not a record."""
    try:
        reason = _reason_from_json(data)
        return Record(
            reason,
            others=tuple(_reason_from_json(o) for o in data.get("others") or ()),
            holders=tuple(_ahead_from_json(a, reason.resource) for a in data.get("holders") or ()),
            ahead=tuple(_ahead_from_json(a, reason.resource) for a in data.get("ahead") or ()),
            position=int(data.get("position") or 0),
            at_ms=parse_time(data.get("time")) or 0,
            tried=tuple(_tried_from_json(t) for t in data.get("flavors") or ()),
            considered=tuple(_considered_from_json(c) for c in data.get("victims") or ()),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise KumiError(f"the decision record can't be read: {error!r}") from error


def why(record: JsonObject | None, workload: JsonObject, warning: str = "") -> tuple[str, str]:
    """Two lines about a Workload: what it waits for with need and have; who is ahead, who holds what it wants, and what
    would change the answer. About a job that has none, and `warning`: see why_without_workload."""
    status = workload.get("status") or {}
    conditions = {c.get("type"): c for c in status.get("conditions") or [] if c.get("status") == "True"}
    if "Finished" in conditions:
        ended = conditions["Finished"]
        return f"it has finished: {ended.get('reason', '')}", str(ended.get("message") or NOTHING_HELD)
    admission = status.get("admission") or {}
    if "Evicted" in conditions and admission:
        said = conditions["Evicted"]
        return (
            f"it is being stopped: {said.get('message') or said.get('reason', '')}",
            "its quota is kept until its pods are gone",
        )
    if admission and "Admitted" not in conditions:
        return _checked(status.get("admissionChecks") or [], str(admission.get("clusterQueue", "")))
    if admission:
        since = (conditions.get("QuotaReserved") or {}).get("lastTransitionTime") or "an unknown time"
        return (
            f"it was admitted by ClusterQueue {admission.get('clusterQueue', '')} at {since}",
            "nothing holds it back",
        )
    return _waiting(record) if record else why_undecided(workload, warning)


def _checked(checks: list[JsonObject], queue: str) -> tuple[str, str]:
    """Of one that holds quota and may not start yet."""
    open_ones = [c for c in checks if c.get("state") != "Ready"]
    said = [f"{c['name']} ({c.get('message') or c.get('state')})" for c in open_ones]
    first = f"it waits for admission checks: {_names(said)}" if said else "it waits for its admission checks"
    return first, f"ClusterQueue {queue} keeps its quota until they have answered"


def why_without_workload(job: JsonObject, warning: str = "", waits: Unplaced | None = None) -> tuple[str, str]:
    """Two lines about a job that has no Workload, a gang or a pod. `warning`: the message of the last warning event about it, or
    about those whom it depends on."""
    from kumi.api.kueue import QUEUE_LABEL  # here: what the engine says is put into words without the kinds of the API

    status = job.get("status") or {}
    conditions = status.get("conditions") or []
    if status.get("phase") in ENDED_PHASES:
        return f"it has finished: {status['phase']}", NOTHING_HELD
    ended = next((c for c in conditions if c.get("status") == "True" and c.get("type") in ENDS), None)
    if ended is not None:
        return f"it has finished: {ended['type']}", str(ended.get("message") or NOTHING_HELD)
    if (job.get("metadata", {}).get("labels") or {}).get(QUEUE_LABEL):
        if warning:
            return f"it waits: {_mid_sentence(warning.rstrip('.'))}", "its Workload is made when that is put right"
        return "it waits: its Workload is not made yet", "are the controllers running (kumi status)?"
    spec = job.get("spec") or {}
    by_kind = (("spec.suspend", spec), ("spec.runPolicy.suspend", spec.get("runPolicy") or {}))
    field = next((name for name, holder in by_kind if holder.get("suspend")), "")
    if field:
        return f"it is suspended by hand: {field} is true", f"it starts when {field} is set to false"
    if waits is not None and (said := why_unplaced(waits)) is not None:
        return said
    if waits is not None and waits.alive() and not waits.waiting():
        have = "its pod has" if len(waits.alive()) == 1 else f"each of its {len(waits.alive())} pods has"
        return f"it waits for nothing: {have} a node", "nothing holds it back"
    if waits is not None and not waits.pods and status.get("phase") == "Inqueue":
        return "it waits for its pods: none is there yet", "it is Inqueue: whoever makes them may do so"
    if warning or (waits is not None and (waits.pods or waits.gang)):
        return why_undecided(job, warning)
    return f"no queue holds it back: it has no label {QUEUE_LABEL}", "its pods start as soon as nodes have room"


def why_undecided(waits: JsonObject, warning: str) -> tuple[str, str]:
    """Two lines about a Workload, a job, a gang or a pod of which nothing is said. `warning`: as of why_without_workload."""
    if warning:
        return f"it waits: {_mid_sentence(warning.rstrip('.'))}", "it is decided about when that is put right"
    since = (waits.get("metadata") or {}).get("creationTimestamp") or "an unknown time"
    return f"it waits: nothing has been decided about it yet, since {since}", "is the scheduler running (kumi status)?"


@dataclass(frozen=True)
class Unplaced:
    """Pods, by name, that may wait for nodes. `gang`: the namespace/name of the PodGroup that they are of, `gang_says`: why it
    has not its minimum; "" where there is nothing to say."""

    pods: Sequence[JsonObject]
    gang: str = ""
    gang_says: str = ""

    def alive(self) -> list[JsonObject]:
        """Those that have not ended."""
        return [pod for pod in self.pods if (pod.get("status") or {}).get("phase") not in ENDED_PHASES]

    def waiting(self) -> list[JsonObject]:
        """Those of them that have no node."""
        return [pod for pod in self.alive() if not (pod.get("spec") or {}).get("nodeName")]


def why_unplaced(waits: Unplaced) -> tuple[str, str] | None:
    """Two lines about pods that wait for nodes: how many of how many; why, as their gang says, else the first of them that says
    so; and of whom that is said. None: none of them waits, or nobody says why."""
    alive, waiting = waits.alive(), waits.waiting()
    if waits.gang_says:
        told, about = waits.gang_says, f"gang {waits.gang} (kumi gangs)"
    else:
        told, about = next(((said, _pod(pod)) for pod in waiting if (said := _not_placed(pod))), ("", ""))
    if not told:
        return None
    who = f"{len(waiting)} of its {len(alive)} pods {'has' if len(waiting) == 1 else 'have'}"
    who = "its pod has" if len(alive) == 1 else who
    return (
        f"{f'{who} no node' if waiting else 'it waits'}: {_mid_sentence(told.rstrip('.'))}",
        f"that is said of {about}",
    )


def _pod(pod: JsonObject) -> str:
    return f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _not_placed(pod: JsonObject) -> str:
    """Why it has no node, as its condition says."""
    conditions: list[JsonObject] = (pod.get("status") or {}).get("conditions") or []
    said = next((c for c in conditions if c.get("type") == "PodScheduled" and c.get("status") == "False"), {})
    if said.get("message"):
        return str(said["message"])
    gates = [str(gate.get("name")) for gate in (pod.get("spec") or {}).get("schedulingGates") or ()]
    if gates:
        return f"it has scheduling gates, and is looked at when they are gone: {_names(gates)}"
    scheduler = str((pod.get("spec") or {}).get("schedulerName") or "")
    return f"it names the scheduler {scheduler}, which is not Kumi" if scheduler not in SCHEDULERS else ""


def _tried_to_json(tried: Tried) -> JsonObject:
    made: JsonObject = {"podSet": tried.pod_set, "flavor": tried.flavor, "mode": tried.mode}
    return {**made, "borrowing": tried.level} if tried.level else made


def _tried_from_json(data: dict[str, Any]) -> Tried:
    return Tried(str(data["podSet"]), str(data["flavor"]), str(data["mode"]), int(data.get("borrowing") or 0))


def _considered_to_json(considered: Considered) -> JsonObject:
    said = {
        "workload": considered.workload,
        "job": considered.job,
        "cause": considered.cause,
        "whyNot": considered.why_not,
    }
    return {k: v for k, v in said.items() if v}


def _considered_from_json(data: dict[str, Any]) -> Considered:
    said = (str(data.get(key) or "") for key in ("workload", "job", "cause", "whyNot"))
    return Considered(*said)


def _waiting(record: JsonObject) -> tuple[str, str]:
    said = str(record.get("message") or "").rstrip(".")
    layer = str(record.get("layer") or "queue").lower()
    resource = str(record.get("resource") or "")
    first = f"it waits at the {layer}: {_mid_sentence(said)}"
    parts = []
    position = int(record.get("position") or 0)
    if position:
        parts.append(f"number {position} in its queue")
    ahead = [str(a.get("job") or a.get("workload")) for a in record.get("ahead") or ()]
    if ahead:
        parts.append(f"ahead: {_names(ahead)}")
    holders = [_holder_text(h, resource) for h in record.get("holders") or ()]
    if holders:
        parts.append(f"held by {_names(holders)}")
    parts += _about_victims(record.get("victims") or [])
    flavors = dict.fromkeys(f"{f['flavor']} ({MODES.get(f['mode'], f['mode'])})" for f in record.get("flavors") or ())
    if len(flavors) > 1:
        parts.append(f"flavors tried: {', '.join(flavors)}")
    if record.get("helps"):
        parts.append(f"{'it can start only if' if record.get('permanent') else 'next chance: when'} {record['helps']}")
    return first, "; ".join(parts) or "nobody is ahead of it"


def _about_victims(victims: list[JsonObject]) -> list[str]:
    """Who goes for it; or, where nobody does, why each of those who were thought of stays."""
    going = [str(v.get("job") or v["workload"]) for v in victims if v.get("cause")]
    if going:
        return [f"preempted for it: {_names(going)}"]
    stays = [f"{v.get('job') or v['workload']} ({WHY_NOT.get(v['whyNot'], v['whyNot'])})" for v in victims]
    return [f"not preempted: {_names(stays)}"] if stays else []


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def _mid_sentence(text: str) -> str:
    """Its first letter small, unless the first word is a kind's name (`ClusterQueue`)."""
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first[1:] == first[1:].lower() else text


def _names(names: list[str]) -> str:
    more = len(names) - NAMES_AT_MOST
    return ", ".join(names[:NAMES_AT_MOST]) + (f" and {more} more" if more > 0 else "")


def _holder(holder: Ahead, resource: str) -> str:
    held = f" ({amount(resource, holder.amount)})" if resource and holder.amount else ""
    return (holder.job or holder.workload) + held


def _holder_text(holder: dict[str, Any], resource: str) -> str:
    held = f" ({holder['amount']} {resource})" if resource and holder.get("amount") else ""
    return str(holder.get("job") or holder.get("workload")) + held


def _reason_to_json(reason: Reason) -> JsonObject:
    resource = reason.resource
    return {
        "layer": reason.code.layer.name.capitalize(),
        "code": reason.code.name,
        "resource": resource or None,
        "flavor": reason.flavor or None,
        "where": reason.where or None,
        "podSet": reason.pod_set or None,
        "need": format_amount(resource, reason.need) if resource else None,
        "have": format_amount(resource, reason.have) if resource else None,
        "pods": reason.pods or None,
        "nodes": reason.nodes or None,
        "detail": reason.detail or None,
        "permanent": reason.permanent or None,
    }


def _reason_from_json(data: dict[str, Any]) -> Reason:
    resource = data.get("resource") or ""
    return Reason(
        Code[data["code"]],
        resource=resource,
        flavor=data.get("flavor") or "",
        where=data.get("where") or "",
        pod_set=data.get("podSet") or "",
        need=parse_amount(resource, data.get("need") or "0") if resource else 0,
        have=parse_amount(resource, data.get("have") or "0") if resource else 0,
        pods=int(data.get("pods") or 0),
        nodes=int(data.get("nodes") or 0),
        detail=str(data.get("detail") or ""),
        permanent=bool(data.get("permanent")),
    )


def _ahead_to_json(ahead: Ahead, resource: str) -> JsonObject:
    said: JsonObject = {"workload": ahead.workload, "job": ahead.job}
    if resource and ahead.amount:
        said["amount"] = format_amount(resource, ahead.amount)
    return said


def _ahead_from_json(data: dict[str, Any], resource: str) -> Ahead:
    held = parse_amount(resource, data["amount"]) if resource and data.get("amount") else 0
    return Ahead(str(data["workload"]), str(data.get("job") or ""), held)
