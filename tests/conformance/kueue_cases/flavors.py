"""Suites flavorassigner and flavor_preference: one search for flavors, with a stub in place of the oracle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kumi.bridge.into import Deltas
from kumi.bridge.into.clusterqueue import clusterqueue
from kumi.engine import model
from kumi.engine.admission.assignment import Assignment, Attempt, Mode, NoFit, PodSetChosen
from kumi.engine.admission.flavors import options
from kumi.engine.admission.fungibility import better
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.model import Put
from kumi.engine.state import State

from . import reading

Case = dict[str, Any]

MODES = {
    "NoFit": Mode.NO_FIT,
    "NoCandidates": Mode.NO_CANDIDATES,
    "NoPreemptionCandidates": Mode.NO_CANDIDATES,
    "Preempt": Mode.PREEMPT,
    "Reclaim": Mode.RECLAIM,
    "Fit": Mode.FIT,
}
POSSIBILITIES = {Mode.NO_CANDIDATES: "NoCandidates", Mode.PREEMPT: "Preempt", Mode.RECLAIM: "Reclaim"}


class Stub:
    """Says what the case says."""

    def __init__(self, case_input: dict[str, Any]) -> None:
        self._said = {(s["flavor"], s["resource"]): s for s in case_input.get("simulation") or ()}
        self._default = case_input["simulationDefault"]

    def possibility(self, fr: FlavorResource, amount: int) -> tuple[Mode, int]:
        """The case's answer."""
        said = self._said.get(fr, self._default)
        return MODES[said["possibility"]], int(said["borrowAfter"])


def assign(case: Case) -> dict[str, Any]:
    """One search."""
    state, asked = reading.state_of(case), case["input"]
    noun = Deltas(settings=state.profile.settings).put(reading.decoded(asked["workload"])).noun
    assert isinstance(noun, model.Workload)
    for queue, table in (asked.get("usage") or {}).items():
        for fr, amount in reading.amounts(table).items():
            state.quotas.add(queue, fr, amount)
    queue = state.catalog.cluster_queues[asked["clusterQueue"]]
    if asked.get("replacedWorkloadSlice"):
        noun = _slice(state, noun, queue.name, asked["replacedWorkloadSlice"])
    (found,) = options(state, noun, queue, Stub(asked))
    return _written(found)


def _slice(state: State, workload: model.Workload, queue: str, pod_sets: list[dict[str, Any]]) -> model.Workload:
    """The slice that is replaced, as a holder in the state; the cases have its usage in none of the queues."""
    given = []
    for one in pod_sets:
        usage = tuple((r, reading.amount(r, n)) for r, n in sorted(one.get("requests", {}).items()))
        given.append(
            model.PodSetAssigned(one["name"], one["count"], tuple(sorted(one.get("flavors", {}).items())), usage)
        )
    old = replace(
        workload, key=f"{workload.key}-old", uid="old", replaces="", admission=model.Admission(queue, tuple(given))
    )
    state.apply(Put(old))
    for one in given:
        flavors = dict(one.flavors)
        for resource, amount in one.usage:
            if resource in flavors:
                state.quotas.add(queue, (flavors[resource], resource), -amount)
    return replace(workload, replaces=old.key)


def _written(found: Assignment) -> dict[str, Any]:
    return {
        "representativeMode": _mode(found.mode),
        "borrowing": found.level,
        "noFitReason": found.no_fit.value,
        "usage": reading.integers(found.usage),
        "podSets": [_pod_set(one) for one in found.pod_sets],
    }


def _pod_set(one: PodSetChosen) -> dict[str, Any]:
    return {
        "name": one.name,
        "count": one.count,
        "mode": _mode(one.mode),
        "requests": reading.quantities(one.requests),
        "flavors": {
            resource: {"flavor": c.flavor, "mode": _mode(c.mode), "borrow": c.level, "triedFlavorIdx": c.tried}
            for resource, c in one.flavors.items()
        },
        "attempts": [_attempt(attempt) for attempt in one.attempts],
        "error": False,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    written: dict[str, Any] = {"flavor": attempt.flavor, "mode": _mode(attempt.mode), "borrow": attempt.level}
    if attempt.mode.evicts:
        written["preemptionPossibility"] = POSSIBILITIES[attempt.mode]
    if attempt.no_fit is not NoFit.NONE:
        written["noFitReason"] = attempt.no_fit.value
    return written


def _mode(mode: Mode) -> str:
    return "Preempt" if mode.evicts else "Fit" if mode is Mode.FIT else "NoFit"


def prefer(case: Case) -> dict[str, Any]:
    """Which of two flavors is better."""
    asked = case["input"]
    manifest = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {"flavorFungibility": asked["flavorFungibility"]},
    }
    how = clusterqueue(reading.decoded(manifest)).fungibility  # type: ignore[arg-type]
    one, other = ((MODES[asked[side]["mode"]], int(asked[side]["borrowingLevel"])) for side in ("a", "b"))
    return {"aPreferred": better(one, other, how)}


SUITES = {"flavorassigner": assign, "flavor_preference": prefer}
