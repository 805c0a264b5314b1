"""How many pods each set of a Deployment is to have: one step of a rollout.

    wanted W, surge S, missing M (one of them is above 0)       at most W + S pods, at least W - M available ones
The rule, rolling:
    scaled       W changed since the sets were last sized: the room W + S is shared out among the sets that have pods, each in
                 proportion to its part of the former room, the largest first, and so is what is left over
    new set up   by what fits under W + S, up to W
    old sets     down by what is above W - M, counting pods of the new set that are not available as if they were needed:
    down         first pods that are not available, then available ones; the oldest set first
The rule, recreating: old sets to 0; when their pods are gone, the new set to W.
Why          Neither bound is ever broken by a step, whatever the sets' states are: they are what the users set.
Laws         sum of sizes after <= max(W + S, sum before);  old sets never grow but by scaling;  no size is negative.
Source       Kubernetes: Deployments (rolling update, proportional scaling).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumi.api.apps import RollingUpdate
from kumi.api.shares import share_of


@dataclass(frozen=True)
class Size:
    """A set as a step sees it: how many pods it is to have and how many are available. `room`: the former W + S, 0 unknown."""

    name: str
    replicas: int
    available: int
    room: int = 0


@dataclass(frozen=True)
class Bounds:
    """W, S and M."""

    wanted: int
    surge: int
    missing: int

    @property
    def most(self) -> int:
        """Pods at most."""
        return self.wanted + self.surge if self.wanted else 0

    @property
    def least(self) -> int:
        """Available pods at least."""
        return self.wanted - self.missing


def bounds(wanted: int, rolling: RollingUpdate | None) -> Bounds:
    """The bounds of a rolling update; where both would be 0, one pod may be missing."""
    asked = rolling or RollingUpdate()
    surge = share_of(asked.max_surge, wanted, up=True)
    missing = min(share_of(asked.max_unavailable, wanted, up=False), wanted)
    return Bounds(wanted, surge, missing or (0 if surge else 1))


def grown(limits: Bounds, new: Size, old: Sequence[Size]) -> int:
    """The size of the new set after a step up, or down if it is too large."""
    total = new.replicas + sum(each.replicas for each in old)
    room = max(0, limits.wanted + limits.surge - total)
    return min(limits.wanted, new.replicas + room)


def shrunk(limits: Bounds, new: Size, old: Sequence[Size]) -> dict[str, int]:
    """The sizes of old sets (the oldest first) after a step down; those that stay are left out."""
    sizes = {each.name: each.replicas for each in old}
    total = new.replicas + sum(sizes.values())
    spare = max(0, total - limits.least - max(0, new.replicas - new.available))
    for each in old:
        lame = min(spare, max(0, each.replicas - each.available))
        sizes[each.name] -= lame
        spare -= lame
    ready = new.available + sum(min(each.available, sizes[each.name]) for each in old)
    spare = min(spare, max(0, ready - limits.least))
    for each in old:
        less = min(spare, sizes[each.name])
        sizes[each.name] -= less
        spare -= less
    return {each.name: sizes[each.name] for each in old if sizes[each.name] != each.replicas}


def shared(limits: Bounds, sets: Sequence[Size]) -> dict[str, int]:
    """The sizes after the number wanted changed in the middle of a rollout (`sets` the newest first); `{}`: all fit."""
    active = [each for each in sets if each.replicas > 0]
    total = sum(each.replicas for each in active)
    more = limits.most - total
    if not more or not active:
        return {}
    order = sorted(range(len(active)), key=lambda i: (-active[i].replicas, i if more > 0 else -i))
    sizes = {each.name: each.replicas for each in active}
    left = more
    for index in order:
        each = active[index]
        part = _rounded(each.replicas * limits.most, each.room or total) - each.replicas
        part = max(0, min(part, left)) if more > 0 else min(0, max(part, left, -each.replicas))
        sizes[each.name] += part
        left -= part
    for index in order:
        name = active[index].name
        rest = max(left, -sizes[name])
        sizes[name] += rest
        left -= rest
    return {each.name: sizes[each.name] for each in active if sizes[each.name] != each.replicas}


def _rounded(number: int, by: int) -> int:
    """number / by, halves up."""
    return (2 * number + by) // (2 * by)
