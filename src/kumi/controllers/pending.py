"""The line of a ClusterQueue as people see it: who waits, in which order, in which LocalQueue.

The rule   the order is the engine's own (kumi.engine.queues): what is set aside keeps its place in it. A position in a LocalQueue
           counts those of the line that came through the same door.
Cost       O(the line), a step at a time: whoever wants the first hundred goes no further.
Source     Kueue: visibility API.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from kumi.api import kueue
from kumi.api.wire import JsonObject
from kumi.engine.state import State
from kumi.runtime.visibility import Pending


def line(state: State, workloads: Mapping[str, kueue.Workload], cluster_queue: str) -> Iterator[Pending]:
    """Everybody in the line, the head first. `workloads`: the objects by key."""
    doors: Counter[str] = Counter()
    for position, key in enumerate(state.queues.in_order(cluster_queue)):
        noun, view = state.workloads[key], workloads.get(key)
        yield Pending(
            metadata=_metadata(view) if view is not None else {"name": key.partition("/")[2]},
            priority=noun.priority,
            local_queue=noun.queue.partition("/")[2],
            position=position,
            position_in_local_queue=doors[noun.queue],
        )
        doors[noun.queue] += 1


def _metadata(view: kueue.Workload) -> JsonObject:
    meta = view.metadata
    made: JsonObject = {"name": meta.name, "namespace": meta.namespace, "creationTimestamp": meta.creation_timestamp}
    if meta.owner_references:
        owners = [msgspec.to_builtins(owner) for owner in meta.owner_references]
        made["ownerReferences"] = [{k: v for k, v in owner.items() if v is not None} for owner in owners]
    return made
