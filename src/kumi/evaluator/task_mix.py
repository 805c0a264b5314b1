"""Task mix: what the tasks of a load are like, for a policy that wants to know and says nothing itself.

The rule       a policy that scores by fragmentation and names no typical tasks (kumi.engine.placement.plugins.typical) is given
               those of the load: all pods of the jobs that arrive, of the first LOOKED_AT jobs
Why            the authors of that score give it the mix of their trace, and compare by that. A scheduler of a cluster knows what
               its tasks are like from the months before; a run begins with an empty one.
Elsewhere      in a cluster the score looks at the pods that are known.
Cost           one more pass over the events of the load, for such a policy alone.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice

from kumi.engine.model import PodShape, Profile
from kumi.engine.placement.conf import Arguments, Option
from kumi.engine.placement.plugins import looks_at_mix
from kumi.engine.placement.plugins.typical import Table, of_shapes, to_text
from kumi.evaluator.model import Arrive, Load, Policy

LOOKED_AT = 100_000
WORD, ARGUMENT = "fragmentation", "fragmentation.typical"


def profile_for(policy: Policy, load: Load, seed: int) -> Profile:
    """The profile for a run of that load with that seed."""
    profile = policy.seeded(seed)
    if not looks_at_mix(profile):
        return profile
    text = to_text(mix_of(load))
    conf = replace(
        profile.conf, tiers=tuple(tuple(_told(option, text) for option in tier) for tier in profile.conf.tiers)
    )
    return replace(profile, arguments={"typical": text, **profile.arguments}, conf=conf)


def mix_of(load: Load) -> Table:
    """The tasks of the load."""
    counts: dict[PodShape, int] = {}
    arrivals = (event.job for event in load.events() if isinstance(event, Arrive))
    for job in islice(arrivals, LOOKED_AT):
        for role in job.roles:
            counts[role.shape] = counts.get(role.shape, 0) + role.count
    return of_shapes(counts.items())


def _told(option: Option, text: str) -> Option:
    if option.name != WORD or ARGUMENT in option.arguments.raw:
        return option
    return replace(option, arguments=Arguments({**option.arguments.raw, ARGUMENT: json.loads(text)}))
