"""What is asked of a freshly opened session: PROBES, name -> function(case, framework) -> part of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from kumi.api import core, volcano
from kumi.bridge.into.pod import pod
from kumi.bridge.into.podgroup import podgroup
from kumi.bridge.into.shape import Shapes
from kumi.engine.gangs import PriorityClass
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.tasks import Job, Status
from volcano_cases.fakes import plugins
from volcano_cases.session import Opened

WORDS = {
    Fit.OK: "Success",
    Fit.UNSCHEDULABLE: "Unschedulable",
    Fit.BEYOND: "Unschedulable",
    Fit.UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Fit.ERROR: "Error",
}


def run(case: dict[str, Any], at: Opened) -> dict[str, Any]:
    """Everything that the case asks for."""
    result: dict[str, Any] = {}
    asked = [p for p in case["input"].get("probe", ()) if p in PROBES]
    if asked:
        with at.around.journal.trial():
            framework = Framework(at.around, at.conf, plugins(case))
            for probe in asked:
                result |= PROBES[probe](case, framework)
    return result


def _pending(framework: Framework) -> Any:
    for job in framework.jobs():
        for status in (Status.PENDING, Status.BOUND):
            for uid in job.by_status.get(status, ()):
                yield framework.tasks.pods[uid]


def overused(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    return {"overused": {q.name: framework.overused(q) for q in framework.tasks.queues.values()}}


def predicates(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    found = {}
    rows = framework.nodes.row_by_name
    for task in _pending(framework):
        before = framework.pre_predicate(task)
        said = framework.predicate(task)
        found[task.key] = {n: WORDS[before if before is not Fit.OK else Fit(int(said[row]))] for n, row in rows.items()}
    return {"predicates": found}


def node_scores(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    found = {}
    rows, names = framework.nodes.by_name(), framework.nodes.names()
    for task in _pending(framework):
        scores = framework.single_scores(task, rows, np.zeros(rows.size, dtype=np.int64))
        found[task.key] = dict(zip(names, scores.tolist(), strict=True))
    return {"nodeScores": found}


def total_node_scores(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    found = {}
    rows, names = framework.nodes.by_name(), framework.nodes.names()
    for task in _pending(framework):
        scores = framework.node_scores(task, rows, np.zeros(rows.size, dtype=np.int64))
        batch = framework.batch_scores(task, rows)
        total = scores if batch is None else scores + batch
        found[task.key] = dict(zip(names, total.tolist(), strict=True))
    return {"totalNodeScores": found}


def job_order(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    heap = Heap(framework.job_less, framework.jobs())
    return {"jobOrder": [heap.pop().key for _ in range(len(heap))]}


def queue_order(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    queues = {job.group.queue for job in framework.jobs() if job.group is not None}
    heap = Heap(framework.queue_less, (framework.tasks.queues[name] for name in sorted(queues)))
    return {"queueOrder": [heap.pop().name for _ in range(len(heap))]}


def task_order(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    found = {}
    for job in framework.jobs():
        heap = Heap(framework.task_less, [framework.tasks.pods[uid] for uid in job.tasks])
        found[job.key] = [heap.pop().name for _ in range(len(heap))]
    return {"taskOrder": found}


def enqueueable(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    return {"enqueueable": {job.key: framework.job_enqueueable(job) for job in _bare(case) or framework.jobs()}}


def job_order_less(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    one, other = _bare(case)
    return {"jobOrderLess": framework.job_less(one, other)}


def _bare(case: dict[str, Any]) -> list[Job]:
    """Jobs of which only the waiting time is said."""
    jobs = []
    for said in case["input"].get("jobs", ()):
        words = {volcano.SLA_ANNOTATION: said["waitingTime"]} if said["waitingTime"] else {}
        view = msgspec.convert({"metadata": {"name": said["name"], "annotations": words}}, volcano.PodGroup)
        job = Job(view.key)
        job.group = podgroup(view)
        jobs.append(job)
    return jobs


def victim_count(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    running = [framework.tasks.pods[uid] for job in framework.jobs() for uid in job.by_status.get(Status.RUNNING, ())]
    return {"victimCount": len(framework.victim_tasks(running))}


def preemptable(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    shapes = Shapes()
    offered = [pod(msgspec.convert(said, core.Pod), shapes) for said in case["input"]["candidates"]]
    return {"preemptable": [one.key for one in framework.preemptable(offered[0], offered)]}


def gang_victims(case: dict[str, Any], framework: Framework, *, reclaim: bool) -> list[str]:
    """Of the running tasks, for a gang of the priority that the case says."""
    evictor = Job("evictor")
    view = msgspec.convert(
        {"metadata": {"name": "evictor"}, "spec": {"priorityClassName": "evictor"}}, volcano.PodGroup
    )
    evictor.group = podgroup(view)
    framework.tasks.put(PriorityClass("evictor", case["input"]["evictorPriority"]))
    running = [framework.tasks.pods[uid] for job in framework.jobs() for uid in job.by_status.get(Status.RUNNING, ())]
    return [one.key for one in framework.evictable(evictor, running, reclaim=reclaim)]


def gang_reclaim_victims(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    return {"gangReclaimVictims": gang_victims(case, framework, reclaim=True)}


def gang_preempt_victims(case: dict[str, Any], framework: Framework) -> dict[str, Any]:
    return {"gangPreemptVictims": gang_victims(case, framework, reclaim=False)}


PROBES: dict[str, Callable[[dict[str, Any], Framework], dict[str, Any]]] = {
    "overused": overused,
    "predicates": predicates,
    "nodeScores": node_scores,
    "totalNodeScores": total_node_scores,
    "jobOrder": job_order,
    "queueOrder": queue_order,
    "taskOrder": task_order,
    "enqueueable": enqueueable,
    "jobOrderLess": job_order_less,
    "victimCount": victim_count,
    "preemptable": preemptable,
    "gangReclaimVictims": gang_reclaim_victims,
    "gangPreemptVictims": gang_preempt_victims,
}
