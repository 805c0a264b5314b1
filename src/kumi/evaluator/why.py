"""Why: what is said of jobs that never ran to their end.

The rule   runs         it has no end of its own, or the run was over before it
           WORKLOAD     its decision record; admission checks that nobody answered; or, admitted, as for pods
           GANG         what its pod group was told
           POD          what the first of its waiting pods was told
Why        these are the engine's own reasons, in the words that users of a cluster read.
Cost       O(pods) a job.
Not here   the sentences: kumi.bridge.messages.
"""

from __future__ import annotations

from kumi.bridge.messages import gang_waits, sentence, summary, unplaced_pod
from kumi.engine.state import State
from kumi.evaluator.life import Life
from kumi.evaluator.model import Via

ENDLESS = "It runs until it is deleted, and nothing deletes it."
STILL_RUNS = "It runs, and has not come to its end."
NOBODY_PLACES = "The policy leaves placement to the cluster's own scheduler, and this pod has no queue."
UNTOLD = "Nothing was decided about it."


def why(state: State, life: Life) -> str:
    """One or two sentences."""
    if life.started_ms is not None:
        return ENDLESS if life.job.runs_ms is None else STILL_RUNS
    if life.via is Via.WORKLOAD:
        return _of_workload(state, life)
    if life.via is Via.GANG:
        told = state.answers.told.get(life.job.key)
        if told is not None and told.reasons:
            return gang_waits(told.reasons)
    if not state.profile.places:
        return NOBODY_PLACES
    return _of_pods(state, life)


def _of_workload(state: State, life: Life) -> str:
    key = life.workload
    record = state.records.get(key)
    if record is not None:
        return summary(record)
    if life.pods:
        return _of_pods(state, life)
    held = state.workloads.get(key)
    if held is not None and held.admission is not None and not held.admitted:
        return "It has its quota, and waits for admission checks that nobody answers."
    aside = state.aside.get(key)
    return f"{_capital(sentence(aside))}." if aside is not None else UNTOLD


def _of_pods(state: State, life: Life) -> str:
    waiting = [uid for uid in life.pods if uid not in life.nodes]
    told = next((state.refusals[uid] for uid in waiting if uid in state.refusals), None)
    if told is None:
        return UNTOLD
    said = unplaced_pod(told)
    have = len(life.nodes)
    return f"{have} of its {len(life.pods)} pods have a node. {said}" if have else said


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
