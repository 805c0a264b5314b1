"""Who waits, and how attempts ended, under the names that Kueue's users have on their boards.

The rule   kueue_pending_workloads            active: may be tried; inadmissible: set aside until something helps, or in a queue
                                              that admits nothing
           kueue_local_queue_pending_workloads    the same by LocalQueue; who is in no line (back-off) is inadmissible
           kueue_admission_attempts_total     success: admitted; inadmissible: told why it waits
           kueue_preempted_workloads_total    by the queue of whoever takes the place, and the rule
Cost       O(kinds of workloads) for ClusterQueues; O(pending) for LocalQueues.
Source     Kueue: Prometheus metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kumi.api.measures import Family, Sample
from kumi.engine.decisions import Admit, Decision, Evict, Hold
from kumi.engine.state import State

STATES = ("active", "inadmissible")


class Attempts:
    """Counts decisions."""

    def __init__(self) -> None:
        self.ended: Counter[str] = Counter()
        self.preempted: Counter[tuple[str, str]] = Counter()

    def count(self, state: State, decision: Decision) -> None:
        """One more."""
        match decision:
            case Admit():
                self.ended["success"] += 1
            case Hold():
                self.ended["inadmissible"] += 1
            case Evict(cause=cause, by=by) if cause:
                spot = state.queues.spot.get(by)
                held = state.holdings.admission.get(by)
                queue = spot.queue if spot is not None else held.cluster_queue if held is not None else ""
                self.preempted[queue, cause] += 1


def families(state: State, attempts: Attempts) -> Iterator[Family]:
    """See the module."""
    queues, doors = [], Counter[tuple[str, str]]()
    for name in sorted(state.catalog.cluster_queues):
        active, inadmissible = _of_queue(state, name)
        queues += [Sample((name, STATES[0]), active), Sample((name, STATES[1]), inadmissible)]
    closed = {name: state.catalog.closed(name) is not None for name in state.catalog.cluster_queues}
    for key, spot in state.queues.spot.items():
        idle = closed.get(spot.queue, True) or state.queues.set_aside(key) is not None
        doors[spot.door, STATES[idle]] += 1
    for key in state.aside:
        doors[state.workloads[key].queue, STATES[1]] += 1
    yield Family("kueue_pending_workloads", "Workloads that wait.", "gauge", ("cluster_queue", "status"), tuple(queues))
    told = []
    for door in sorted(state.catalog.local_queues):
        namespace, _, name = door.partition("/")
        told += [Sample((name, namespace, status), doors[door, status]) for status in STATES]
    labels = ("name", "namespace", "status")
    yield Family("kueue_local_queue_pending_workloads", "Workloads that wait.", "gauge", labels, tuple(told))
    ended = tuple(Sample((result,), attempts.ended[result]) for result in ("success", "inadmissible"))
    yield Family("kueue_admission_attempts_total", "Attempts to admit a workload.", "counter", ("result",), ended)
    taken = tuple(Sample(labels, n) for labels, n in sorted(attempts.preempted.items()))
    names = ("preempting_cluster_queue", "reason")
    yield Family("kueue_preempted_workloads_total", "Preempted workloads, by the rule.", "counter", names, taken)


def _of_queue(state: State, name: str) -> tuple[int, int]:
    queues = state.queues
    lanes = queues.lanes.get(name, {})
    everybody = sum(len(queues.line[lane]) for lane in lanes)
    if state.catalog.closed(name) is not None:
        return 0, everybody
    parked = sum(len(queues.members[lane].get(kind, ())) for lane in lanes for kind in queues.parked.get(name, ()))
    inadmissible = parked + len(queues.alone.get(name, ()))
    return everybody - inadmissible, inadmissible
