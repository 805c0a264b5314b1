"""Words: what the policy's words `queueOrder` and `line` mean for gangs.

The rule   line         where no actions are written, the action of that name stands in the place of allocate
           queueOrder   where it is written and no tiers are: the plug-in that orders so stands behind `priority` (in front, where
                        there is none), and those of the profile that order otherwise order no longer
                        time: none; shortest, deadline, leastSlack: shortest, deadline, least_slack; fair: drf
           lineDepth    the argument `depth` of the action, where none is written for it
Why        a policy says what it wants once; who writes actions and tiers has said it already.
Not here   pods on their own: singles.py; the file: ../../policy.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kumi.engine.placement.conf import Arguments, Conf, Option
from kumi.engine.settings import Discipline, QueueOrder, Settings

ORDERS = {
    QueueOrder.LEAST_SLACK: "least_slack",
    QueueOrder.SHORTEST: "shortest",
    QueueOrder.DEADLINE: "deadline",
    QueueOrder.FAIR: "drf",
}
"""the plug-in that orders gangs so"""
BEFORE = "priority"


def meant(conf: Conf, raw: Mapping[str, Any], settings: Settings) -> Conf:
    """The actions and tiers that a policy means which is written like this."""
    if raw.get("queueOrder") is not None and raw.get("tiers") is None:
        conf = replace(conf, tiers=_ordered(conf.tiers, ORDERS.get(settings.order)))
    if settings.line is Discipline.OPEN:
        return conf
    name = settings.line.value
    if raw.get("actions") is None:
        conf = replace(conf, actions=tuple(name if action == "allocate" else action for action in conf.actions))
    arguments = conf.of_action(name).raw
    return replace(
        conf, configurations={**conf.configurations, name: Arguments({"depth": settings.depth, **arguments})}
    )


def _ordered(tiers: tuple[tuple[Option, ...], ...], wanted: str | None) -> tuple[tuple[Option, ...], ...]:
    """With the plug-in `wanted` as the one that orders gangs of equal priority."""
    there = {option.name: option for tier in tiers for option in tier}
    new = there.get(wanted, _orders_only(wanted)) if wanted is not None else None
    made = []
    for tier in tiers:
        kept = [_silent(option) if option.name in ORDERS.values() else option for option in tier if option is not new]
        made.append([option for option in kept if option is not None])
    if new is not None:
        at = next(((n, m + 1) for n, tier in enumerate(made) for m, o in enumerate(tier) if o.name == BEFORE), (0, 0))
        if not made:
            made.append([])
        made[at[0]].insert(at[1], new)
    return tuple(tuple(tier) for tier in made)


def _orders_only(name: str) -> Option:
    plain = Option(name)
    return replace(plain, switches=plain.switches - {"enablePreemptable"})


def _silent(option: Option) -> Option | None:
    """The same without a say in who goes first; None where nothing is left."""
    if "enablePreemptable" not in option.switches:
        return None
    return replace(option, switches=option.switches - {"enableJobOrder"})
