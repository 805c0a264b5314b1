"""Explain: the decision records of one job over its life.

    find(load, said)      the job that is meant, by its key or its name; KumiError names near ones
    Explainer(key)        an Observer: keeps what happens to the job, what is decided about it, and whom it makes go
    to_json / lines       what was kept, for programs and for people

Rule       a decision is about the job that it names: by its workload, its gang, or one of its pods, whose uids name its
           key. Decisions of one instant stay in their order, before what they bring about. For people, pods that get nodes, or
           have to go, at one instant are one line.
Again      where nothing but the place in the queue changes, people are told how often and until when; programs get every record.
Units      `at_s` seconds since the run's start, with milliseconds; `time` the virtual clock's, as the API writes times.
Cost       a dictionary look-up a decision; nothing is kept of other jobs.
Not here   sentences: kumi.bridge.messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import groupby
from typing import Any

from kumi.api.errors import KumiError
from kumi.api.meta import format_time
from kumi.bridge.messages import amount, evicted, gang_waits, record_to_json, unplaced_pod, why
from kumi.engine.decisions import Admit, Bind, Decision, Evict, EvictPod, Finish, GangPhase, Hold, Nominate, Unplaced
from kumi.engine.model import Delta
from kumi.evaluator.model import Arrive, Job, Load, Places, Role, What
from kumi.evaluator.span import span

NEAR_AT_MOST = 5
"""how many names are offered for one that there is not"""
NODES_AT_MOST = 4
"""how many nodes a line names before it counts the rest"""


@dataclass(frozen=True, slots=True)
class Entry:
    """At that time. `what`: arrived, held, admitted ... in one word; `message`: a sentence; `more`: fields of the record."""

    at_ms: int
    what: str
    message: str
    more: dict[str, Any] = field(default_factory=dict)


def find(load: Load, said: str) -> str:
    """The key of the job that `said` means: its key, or its name where just one job has that. KumiError."""
    keys = list(dict.fromkeys(event.job.key for event in load.events() if isinstance(event, Arrive)))
    if said in keys:
        return said
    named = [key for key in keys if key.partition("/")[2] == said]
    if len(named) == 1:
        return named[0]
    if named:
        raise KumiError(f"{len(named)} jobs are named {said}: write {', or '.join(named[:NEAR_AT_MOST])}")
    by_name = {key.partition("/")[2]: key for key in keys}
    near = (
        get_close_matches(said, keys, NEAR_AT_MOST) if "/" in said else get_close_matches(said, by_name, NEAR_AT_MOST)
    )
    if near:
        hint = f"is it one of {', '.join(by_name.get(one, one) for one in near)}?"
    else:
        more = " ..." if len(keys) > NEAR_AT_MOST else ""
        hint = f"it has {', '.join(keys[:NEAR_AT_MOST])}{more}" if keys else "it has none at all"
    raise KumiError(f"no job of {load.name} is named {said}; {hint}")


def job_of(name: str) -> str:
    """The key of the job that a workload, a gang or a pod's uid belongs to (life.py makes them)."""
    return "/".join(name.rpartition("#")[2].split("/", 2)[:2])


class Explainer:
    """See the module."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.entries: list[Entry] = []

    def happened(self, now_ms: int, what: What, job: Job, kept_ms: int) -> None:
        """An event of a job."""
        if job.key == self.key:
            self._add(now_ms, what.value, HAPPENED[what].format(job=_asks(job), kept=span(kept_ms)), keptMs=kept_ms)

    def placed(self, now_ms: int, job: Job, places: Places) -> None:
        """Its Binds have said so."""

    def left(self, now_ms: int, job: Job, places: Places) -> None:
        """What happened to it says so."""

    def changed(self, now_ms: int, delta: Delta) -> None:
        """Nothing is decided by that."""

    def decided(self, now_ms: int, decision: Decision) -> None:
        """Kept, if it is about the job."""
        match decision:
            case Hold() | Admit() | Evict() | Finish():
                if decision.workload == self.key:
                    self._of_workload(now_ms, decision)
                elif isinstance(decision, Evict | Finish) and decision.by == self.key:
                    self._add(
                        now_ms, "preempts", f"{decision.workload} goes to make room for it", victim=decision.workload
                    )
            case GangPhase():
                if decision.group == self.key:
                    self._of_gang(now_ms, decision)
            case _:
                self._of_pod(now_ms, decision)

    def closed(self, now_ms: int, waiting: Sequence[tuple[str, str]]) -> None:
        """Whether it was left waiting."""
        for key, reason in waiting:
            if key == self.key:
                self._add(now_ms, "left", f"never ran to its end: {reason}")

    def _of_workload(self, now_ms: int, decision: Hold | Admit | Evict | Finish) -> None:
        match decision:
            case Hold(record=record):
                kept = record_to_json(record)
                self._add(
                    now_ms,
                    "held",
                    "; ".join(why(kept, {})),
                    **{k: v for k, v in kept.items() if k not in SAID_BY_ENTRY},
                )
            case Admit(admission=given):
                sets = [
                    {"name": s.name, "count": s.count, "flavors": dict(s.flavors), "nodes": dict(s.nodes)}
                    for s in given.pod_sets
                ]
                flavors = ", ".join(dict.fromkeys(flavor for one in given.pod_sets for _, flavor in one.flavors))
                said = f"ClusterQueue {given.cluster_queue} admits it{f' on {flavors}' if flavors else ''}"
                self._add(now_ms, "admitted", said, clusterQueue=given.cluster_queue, podSets=sets)
            case Evict(why=reason, reason=cause):
                self._add(
                    now_ms,
                    "evicted",
                    _mid(evicted(reason, cause, decision.by, decision.cause)),
                    why=reason,
                    by=decision.by,
                    cause=decision.cause,
                )
            case Finish(by=by):
                self._add(now_ms, "replaced", f"its place is {by}'s from now on", by=by)

    def _of_gang(self, now_ms: int, decision: GangPhase) -> None:
        said = f"the gang is {decision.phase.value or 'new'}"
        if decision.reasons:
            said += f": {_mid(gang_waits(decision.reasons))}"
        counts = {"running": decision.running, "succeeded": decision.succeeded, "failed": decision.failed}
        self._add(now_ms, "gang", said, phase=decision.phase.value, **counts)

    def _of_pod(self, now_ms: int, decision: Decision) -> None:
        match decision:
            case Bind(pod, node) if job_of(pod) == self.key:
                self._add(now_ms, "bound", f"a pod of it gets node {node}", pod=pod, node=node)
            case Unplaced(pod, reasons) if job_of(pod) == self.key:
                self._add(
                    now_ms, "unplaced", _mid(unplaced_pod(reasons)), pod=pod, reasons=[r.code.name for r in reasons]
                )
            case EvictPod(pod, by) if job_of(pod) == self.key:
                said = f"a pod of it makes room for {job_of(by)}" if by else "a pod of it has to go"
                self._add(now_ms, "evicted", said, pod=pod, by=job_of(by))
            case EvictPod(pod, by) if by and job_of(by) == self.key:
                self._add(
                    now_ms, "preempts", f"a pod of {job_of(pod)} goes to make room for it", pod=pod, victim=job_of(pod)
                )
            case Nominate(pod, node) if job_of(pod) == self.key:
                self._add(now_ms, "promised", f"node {node} is cleared for a pod of it", pod=pod, node=node)

    def _add(self, now_ms: int, what: str, message: str, **more: Any) -> None:
        self.entries.append(Entry(now_ms, what, message, more))


HAPPENED = {
    What.ARRIVED: "arrives: {job}",
    What.STARTED: "runs",
    What.FINISHED: "is done",
    What.PREEMPTED: "is preempted; {kept} of its work is kept",
    What.LOST: "its node is gone; {kept} of its work is kept",
    What.CANCELLED: "is deleted by its owner",
    What.REFUSED: "can't be in this cluster at all",
}
SAID_BY_ENTRY = ("message", "time")
"""fields of a decision record that an entry has itself"""


def to_json(entries: Sequence[Entry], start_ms: int) -> list[dict[str, Any]]:
    """Every record, in order."""
    return [
        {
            "time": format_time(entry.at_ms),
            "at_s": (entry.at_ms - start_ms) / 1000,
            "what": entry.what,
            "message": entry.message,
            **entry.more,
        }
        for entry in entries
    ]


def lines(entries: Sequence[Entry], start_ms: int) -> Iterator[str]:
    """For people: the time since the start, and what happened; what happens again is told once."""
    for (what, message), group in groupby(_merged(entries), key=lambda entry: (entry.what, _steady(entry))):
        told = list(group)
        again = f" (and {len(told) - 1} times more, until {span(told[-1].at_ms - start_ms)})" if len(told) > 1 else ""
        yield f"{span(told[0].at_ms - start_ms):>12}  {what:<10} {told[0].message if what == 'held' else message}{again}"


def _steady(entry: Entry) -> str:
    """What stays the same while only the place in the queue changes."""
    return str(entry.more.get("code")) + str(entry.more.get("need")) if entry.what == "held" else entry.message


def _merged(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Pods of one instant as one entry."""
    for (at_ms, what, whose, of_pods), group in groupby(entries, key=_together):
        told = list(group)
        count = f"{len(told)} pods of"
        if len(told) == 1 or not of_pods:
            yield from told
        elif what == "bound":
            yield Entry(at_ms, what, f"{count} it get {_nodes([str(e.more['node']) for e in told])}")
        elif what == "preempts":
            yield Entry(at_ms, what, f"{count} {whose} go to make room for it")
        elif what == "evicted":
            yield Entry(at_ms, what, f"{count} it {f'make room for {whose}' if whose else 'have to go'}")
        else:
            yield from told


def _together(entry: Entry) -> tuple[int, str, str, bool]:
    """Entries of which this is equal are one: when, what, whose victim or whose room, and whether they are of pods."""
    return entry.at_ms, entry.what, str(entry.more.get("victim") or entry.more.get("by") or ""), "pod" in entry.more


def _nodes(named: list[str]) -> str:
    counts = {node: named.count(node) for node in dict.fromkeys(named)}
    said = [f"{node} ({count})" if count > 1 else node for node, count in list(counts.items())[:NODES_AT_MOST]]
    rest = len(counts) - len(said)
    return f"{', '.join(said)}{f' and {rest} nodes more' if rest else ''}"


def _asks(job: Job) -> str:
    return " and ".join(_asks_role(role) for role in job.roles)


def _asks_role(role: Role) -> str:
    asked = ", ".join(amount(resource, base) for resource, base in role.shape.requests if base)
    return f"{role.count} pod{'' if role.count == 1 else 's'} of {asked or 'nothing'}"


def _mid(sentence: str) -> str:
    """As part of a line: without its full stop, and its first letter small unless the first word is a kind's name."""
    plain = sentence.rstrip(".")
    first = plain.split(" ", 1)[0]
    return plain[:1].lower() + plain[1:] if first[1:] == first[1:].lower() else plain
