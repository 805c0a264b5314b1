"""When a pod is available: ready for as long as its set asks for (minReadySeconds), by the pod's own condition."""

from __future__ import annotations

from kumi.api.core import Pod
from kumi.api.meta import find_condition, parse_time


def available_at_ms(pod: Pod, min_ready_seconds: int) -> int | None:
    """When a pod is or was available: ready for that long. None: it is not ready."""
    ready = find_condition(pod.status.conditions, "Ready")
    if ready is None or ready.status != "True":
        return None
    return (parse_time(ready.last_transition_time) or 0) + 1000 * min_ready_seconds
