"""Allocate, kept: what gangs were promised is theirs before anybody else has a turn.

The rule   each gang that the last session promised places, which others were still leaving, gets a turn for each of them, in
           the order of gangs: it takes what is free by now, here or elsewhere, else it is promised room again
           then as allocate.py
Why        somebody was evicted for it. Were the room anybody's, a gang whose turn comes first would take it, and one more would
           have to go for the first one, and so on; who matters more comes in time to find nothing promised, or evicts in turn.
Cost       a turn for each place that is promised.
Source     Kumi's own; Kubernetes: nominated nodes.
Not here   pods on their own, who find these places taken: gang_session.py (held_back).
"""

from __future__ import annotations

from kumi.engine.placement.actions import allocate
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.statement import Outcome


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    tasks, places = framework.tasks, dict[str, int]()
    for uid in framework.around.promised:
        if uid in tasks.pods:
            key = tasks.pods[uid].member.group
            places[key] = places.get(key, 0) + 1
    let_in = [job for job in allocate.let_in(framework) if job.key in places] if places else []
    for job in framework.jobs_in_order(let_in):
        waiting = allocate.tasks_of(framework, job)
        for _ in range(places[job.key]):
            if not len(waiting) or not allocate.turn(framework, outcome, job, waiting):
                break
    allocate.run(framework, outcome)
