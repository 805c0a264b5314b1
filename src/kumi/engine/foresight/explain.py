"""Explain: why a workload waits, asked at any time.

The rule       inside a trial that is taken back: what may be brought back is; then the workload is attempted, wherever it stands
               in line, and its record is what that attempt met. One that would fit and isn't at the head is BEHIND_HEAD.
Answer         None for a workload that doesn't wait: it holds an admission, has finished, or will start with the next cycle.
Why            records are written when a workload is attempted; the place in line and the amounts go on between attempts.
Cost           one attempt.
Not here       sentences: kumi.bridge.messages.
"""

from __future__ import annotations

from dataclasses import replace

from kumi.api.errors import KumiError
from kumi.engine.admission import records, requeue
from kumi.engine.admission.live import judge
from kumi.engine.admission.nominate import nominate
from kumi.engine.admission.verdicts import Outcome, Verdict
from kumi.engine.model import Strategy
from kumi.engine.queues import Parked
from kumi.engine.reasons import Code, Reason, Record
from kumi.engine.state import State


def explain(state: State, workload_key: str, now_ms: int) -> Record | None:
    """See the module. KumiError: no such workload."""
    if workload_key not in state.workloads:
        raise KumiError(f"there is no Workload {workload_key}")
    with state.trial(), state.claims.promised(state):
        requeue.bring_back(state, now_ms)
        record = _record(state, workload_key)
    return None if record is None else replace(record, at_ms=now_ms)


def _record(state: State, key: str) -> Record | None:
    spot = state.queues.spot.get(key)
    if spot is None or state.catalog.closed(spot.queue) is not None or key in state.claims.of:
        return records.standing(state, key)
    queue = state.catalog.cluster_queues[spot.queue]
    entry = nominate(state, state.workloads[key], queue)
    verdict = Verdict(entry, judge(state, entry))
    first = queue.strategy is not Strategy.STRICT or state.queues.position(key) == 1
    if verdict.outcome is Outcome.ADMITTED:
        return None if first else records.in_line(state, key, Parked(Reason(Code.BEHIND_HEAD, where=spot.queue)))
    parked = records.parked(state, verdict)
    if first:
        return records.in_line(state, key, parked)
    others = (parked.reason, *parked.others)
    return records.in_line(
        state, key, replace(parked, reason=Reason(Code.BEHIND_HEAD, where=spot.queue), others=others)
    )
