"""Whom a workload evicts: preemption, preemption_fair, candidate_ordering."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kumi.bridge.into import Deltas
from kumi.engine.admission.assignment import Assignment, Chosen, Mode, PodSetChosen
from kumi.engine.admission.candidates import Preemptor, round_of, sources
from kumi.engine.admission.requests import asked
from kumi.engine.admission.victims import Search
from kumi.engine.model import (
    Admission,
    ClusterQueue,
    Evictable,
    LocalQueue,
    PodSetAssigned,
    Preemption,
    Profile,
    Put,
    Workload,
)
from kumi.engine.state import State

from .reading import put, settings_of, state_of

Case = dict[str, Any]
SHORT = ("f", "cpu")
MODES = {"Preempt": Mode.PREEMPT, "Fit": Mode.FIT, "NoFit": Mode.NO_FIT}


def targets(case: Case) -> dict[str, Any]:
    """The victims of the incoming workload, for the assignment that the case says."""
    deltas = Deltas(settings=settings_of(case))
    state = state_of(case, deltas=deltas)
    noun = put(deltas, case["input"]["incoming"]).noun
    assert isinstance(noun, Workload)
    queue = state.catalog.cluster_queues[case["input"]["targetClusterQueue"]]
    found = Search(state, noun, queue).find(_assignment(case, noun, queue))
    new = [t for t in found.targets if not state.is_stopping(t.workload)]
    return {
        "targets": [{"workload": t.workload, "reason": t.cause} for t in found.targets],
        "preempted": [{"workload": t.workload, "reason": t.cause} for t in new],
        "evicted": [{"workload": t.workload, "reason": "Preempted"} for t in new],
    }


def _assignment(case: Case, workload: Workload, queue: ClusterQueue) -> Assignment:
    by_name = {pods.name: pods for pods in workload.pod_sets}
    pod_sets, usage = [], {}
    for given in case["input"]["assignment"]:
        asks = asked(by_name[given["name"]], queue, given["count"])
        flavors = {r: Chosen(said["flavor"], MODES[said["mode"]]) for r, said in given["flavors"].items()}
        for resource, chosen in flavors.items():
            fr = (chosen.flavor, resource)
            usage[fr] = usage.get(fr, 0) + asks.get(resource, 0)
        pod_sets.append(PodSetChosen(given["name"], given["count"], asks, Mode.PREEMPT, flavors))
    return Assignment(queue.name, Mode.PREEMPT, tuple(pod_sets), usage)


def order(case: Case) -> dict[str, Any]:
    """Candidates of several queues in the order in which they are thought of: all of them hold one of something of which no
    queue of their cohort has any."""
    settings = settings_of(case)
    state, deltas = State(Profile("kueue", places=False, settings=settings)), Deltas(settings=settings)
    own, names = case["input"]["preemptorClusterQueue"], {}
    anybody = Preemption(Evictable.ANY, Evictable.ANY)
    for given in case["input"]["candidates"]:
        queue = given["clusterQueue"] or "of nobody"
        noun = put(deltas, given["workload"]).noun
        assert isinstance(noun, Workload)
        past = (("cpu", float(given.get("localQueueUsage") or 0)),)
        state.apply(Put(ClusterQueue(queue, (), cohort="all", preemption=anybody, by_usage=True)))
        state.apply(Put(LocalQueue(noun.queue, queue, consumed=past, consumed_ms=1)))
        held = Admission(queue, (PodSetAssigned("main", 1, (("cpu", "f"),), (("cpu", 1),)),))
        evicted = any(
            c["type"] == "Evicted" and c["status"] == "True" for c in given["workload"]["status"]["conditions"]
        )
        state.apply(Put(replace(noun, admission=held, evicted=evicted)))
        names[noun.key] = given["workload"]["metadata"]["name"]
    state.apply(Put(ClusterQueue(own, (), cohort="all", preemption=anybody, by_usage=True)))
    incoming = Workload("/in", "in", "", "", 0, 0, ())
    preemptor = Preemptor(incoming, state.catalog.cluster_queues[own], {SHORT: 1}, (SHORT,))
    found = round_of(state, preemptor, sources(state, preemptor), borrowing=False)
    return {"order": [names[candidate.key] for candidate in found]}


SUITES = {"preemption": targets, "preemption_fair": targets, "candidate_ordering": order}
