"""Decisions as writes: one file a decision, each a pure function of the decision and the object that it is about.

step(token, decision, about, now_ms) -> Step       about: the Workload of Admit, Hold, Evict, Finish; the Pod of Bind, Unplaced,
                                                   EvictPod, Nominate; the PodGroup of GangPhase
"""

from __future__ import annotations

from kumi.api import core, kueue, volcano
from kumi.api.meta import Object
from kumi.bridge.out.admit import admit
from kumi.bridge.out.bind import bind
from kumi.bridge.out.evict import evict
from kumi.bridge.out.evict_pod import evict_pod
from kumi.bridge.out.finish import finish
from kumi.bridge.out.gang_phase import gang_phase
from kumi.bridge.out.hold import hold
from kumi.bridge.out.nominate import nominate
from kumi.bridge.out.unplaced import unplaced
from kumi.engine.decisions import Admit, Bind, Decision, Evict, EvictPod, Finish, GangPhase, Hold, Nominate, Unplaced
from kumi.runtime.decider import Step


def step(token: str, decision: Decision, about: Object, now_ms: int, preemptor: str = "") -> Step:
    """The decision's writes and events. `preemptor`: who a pod that is evicted makes room for. TypeError if `about` is not what
    the decision is about."""
    match decision, about:
        case Admit(), kueue.Workload():
            return admit(token, decision, about, now_ms)
        case Hold(), kueue.Workload():
            return hold(token, decision, about, now_ms)
        case Evict(), kueue.Workload():
            return evict(token, decision, about, now_ms)
        case Finish(), kueue.Workload():
            return finish(token, decision, about, now_ms)
        case Bind(), core.Pod():
            return bind(token, decision, about)
        case Unplaced(), core.Pod():
            return unplaced(token, decision, about, now_ms)
        case EvictPod(), core.Pod():
            return evict_pod(token, decision, about, now_ms, preemptor)
        case Nominate(), core.Pod():
            return nominate(token, decision, about)
        case GangPhase(), volcano.PodGroup():
            return gang_phase(token, decision, about, now_ms)
    raise TypeError(f"{type(decision).__name__} is not about a {type(about).__name__}")
