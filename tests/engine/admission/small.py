"""Small trees by hand: queues with a quota of one flavor, who holds it, and somebody who needs some."""

from __future__ import annotations

from typing import Any

from kumi.engine.admission.candidates import Preemptor
from kumi.engine.model import ClusterQueue, Preemption, Profile, Put, Quota
from kumi.engine.settings import Settings
from kumi.engine.state import State
from kumi.testing.builders import flavor, workload

from .trees import FIXED, SPOT, groups

NOBODY = Preemption()


def pool(name: str, nominal: int, preemption: Preemption = NOBODY, cohort: str = "all", **fields: Any) -> ClusterQueue:
    """A queue with so much of SPOT, of the cohort `all` unless another is said; `fixed`: and so much of FIXED."""
    quotas = {SPOT: Quota(nominal)}
    if "fixed" in fields:
        quotas[FIXED] = Quota(fields.pop("fixed"))
    return ClusterQueue(name, groups(quotas), cohort=cohort, preemption=preemption, **fields)


def state_of(*nouns: Any, profile: str = "kumi", **chosen: Any) -> State:
    """A state of quota only that has seen these; `chosen` are its settings."""
    state = State(Profile(profile, places=False, settings=Settings(**chosen)))
    for noun in (flavor("spot"), flavor("fixed"), *nouns):
        state.apply(Put(noun))
    return state


def preemptor(state: State, queue: str = "q", asks: int = 1, priority: int = 5, **fields: Any) -> Preemptor:
    """Somebody who is short of SPOT."""
    incoming = workload("ns/in", priority=priority, created_ms=fields.pop("created_ms", 5))
    return Preemptor(incoming, state.catalog.cluster_queues[queue], {SPOT: asks}, (SPOT,), **fields)
