"""Agreeing: whom plug-ins let go together, of the victims that each names.

The rule, as Volcano has it (starting_anew)
    one that has no opinion is passed over; one that names nobody ends the tier with nobody; where the common part becomes
    empty, the next plug-in starts anew with whom it names
The rule, as Kumi has it (by_all)
    whoever is named by all that have an opinion
Tiers      the first that lets somebody go decides. As Kumi has it (as_one) this is so among gangs of one queue; of what a queue
           takes back from others whoever is named by all plug-ins with an opinion, of whichever tier
Why        with the first one a victim that two plug-ins spare, each for a reason of its own, goes because a third was asked
           after them. And a first tier that knows no shares, as Volcano's guides have it (priority, gang), would let queues that
           lack something take from each other for ever, past what any of them deserves.
Order      that of the first answer.
Source     Volcano: session plug-in functions. The second is Kumi's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from kumi.engine.model import Pod

Answers: TypeAlias = Iterable[list[Pod] | None]
"""of one plug-in after the other; asked only as far as needed"""
Agree: TypeAlias = Callable[[Answers], list[Pod]]
Tiers: TypeAlias = list[list[Any]]
"""the plug-ins' methods, by tier"""
Join: TypeAlias = Callable[[Tiers], Tiers]


def starting_anew(answers: Answers) -> list[Pod]:
    """As Volcano does."""
    common: list[Pod] = []
    for said in answers:
        if said is None:
            continue
        if not said:
            return []
        common = _named_too(common, said) if common else list(said)
    return common


def by_all(answers: Answers) -> list[Pod]:
    """As Kumi does."""
    common: list[Pod] | None = None
    for said in answers:
        if said is not None:
            common = list(said) if common is None else _named_too(common, said)
        if common == []:
            break
    return common or []


def as_written(tiers: Tiers) -> Tiers:
    """As Volcano does."""
    return tiers


def as_one(tiers: Tiers) -> Tiers:
    """As Kumi does."""
    return [[hook for tier in tiers for hook in tier]]


def _named_too(common: list[Pod], said: list[Pod]) -> list[Pod]:
    uids = {pod.uid for pod in said}
    return [pod for pod in common if pod.uid in uids]
