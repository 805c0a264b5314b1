"""Reverse: nobody is evicted who would come back by evicting others.

The rule       a preemptor that takes by share, or borrows while it takes, has no right to what it takes; its victims may have
               one. With all victims gone and the preemptor there, each such victim is tried as it will be when it comes
               again. If it would evict somebody of another queue, the eviction doesn't last: the victim's queue is left out, and
               victims are looked for anew.
By right       a queue that takes back what is its own is not asked: it ends up within it, and nobody can take that back.
Own queue      what a victim would take from its own queue it takes by priority or age: that comes to an end.
Why            two who may take from each other go on for ever, and so do three: shares are counted by resource, nominal quota by
               flavor, and who borrows for its higher priority takes what others have a right to. Who has it keeps it.
One step       what the victim would find is not asked again whether that lasts.
Cost           an attempt a victim that is taken without a right, of queues that evict anybody at all.
Source         Kumi's own. Kueue lets them go on.
Not here       victims: victims.py; which profile asks: nominate.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kumi.engine.admission import flavors
from kumi.engine.admission.assignment import Assignment, Mode
from kumi.engine.admission.candidates import FAIR_SHARING, RECLAIM_WHILE_BORROWING
from kumi.engine.admission.question import Aim
from kumi.engine.admission.victims import Found, Search, Target
from kumi.engine.decisions import Admit, Finish
from kumi.engine.model import Evictable
from kumi.engine.reasons import Considered

if TYPE_CHECKING:
    from kumi.engine.state import State

COMES_BACK = "ComesBack"
NO_RIGHT = (FAIR_SHARING, RECLAIM_WHILE_BORROWING)
GONE = "Preempted"


def at_once(search: Search, wanted: Assignment) -> Found:
    """Whoever has to go, whether that lasts or not."""
    return search.find(wanted)


def lasting(search: Search, wanted: Assignment) -> Found:
    """Whoever has to go, of those who would not come back so."""
    told: dict[str, Considered] = {}
    while True:
        found = search.find(wanted)
        back = _who_takes_back(search, found)
        if not back:
            others = (c for c in found.considered if c.workload not in told)
            return replace(found, considered=(*others, *told.values())) if told else found
        for victim in back:
            job = search.state.workloads[victim.workload].job
            told[victim.workload] = Considered(victim.workload, job, why_not=COMES_BACK)
        search = replace(search, left_out=(*search.left_out, *dict.fromkeys(victim.queue for victim in back)))


def _who_takes_back(search: Search, found: Found) -> list[Target]:
    """The first victim of each queue that would."""
    state, workload = search.state, search.workload
    others = [target for target in found.targets if target.cause in NO_RIGHT and _evicts(state, target.queue)]
    if not others or found.plan is None:
        return []
    first: dict[str, Target] = {}
    with state.trial():
        for target in found.targets:
            _leave(state, target.workload)
        if workload.replaces in state.holdings.admission:
            state.assume(Finish(workload.replaces, GONE, workload.key))
        state.assume(Admit(workload.key, found.plan.admission()))
        for target in others:
            if target.queue not in first and _comes_back(state, target):
                first[target.queue] = target
    return list(first.values())


def _evicts(state: State, queue: str) -> bool:
    """Does the queue ever take from others?"""
    known = state.catalog.cluster_queues.get(queue)
    return known is not None and known.preemption.reclaim is not Evictable.NEVER


def _leave(state: State, workload: str) -> None:
    """It holds nothing any more, and its pods are gone."""
    pods = [state.pods.by_uid[uid] for uid in state.pods.of_workload.get(workload, ())]
    if state.profile.places:
        for pod in pods:
            node = state.pods.node_of.get(pod.uid)
            if node:
                state.nodes.use(node, pod.shape.requests, -1)
                state.nodes.devices.unseat_pod(pod)
    state.assume(Finish(workload, GONE, ""))


def _comes_back(state: State, target: Target) -> bool:
    """Would the victim evict somebody of another queue?"""
    victim, queue = state.workloads[target.workload], state.catalog.cluster_queues[target.queue]
    search = Search(state, victim, queue)
    for option in flavors.options(state, victim, queue, search, Aim()):
        if option.mode is Mode.FIT:
            return False
        if option.mode.evicts:
            targets = search.find(option).targets
            if targets:
                return any(t.queue != target.queue for t in targets)
    return False
