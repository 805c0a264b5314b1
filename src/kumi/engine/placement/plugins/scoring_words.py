"""Scoring words: what the policy's word `scoring` and its arguments mean.

The rule   scoringArguments   seed (random): a whole number; typical (fragmentation): the typical tasks (typical.py). Other words
                              have none. In a profile they are text: `seed`, and `typical` as JSON
           gangs              where the word is written and no tiers are: of the profile's tiers, what looks at how full nodes are
                              is left out (binpack, and node order's own part of it), and the plug-in of the word's name stands
                              behind node order, with the arguments; spread is node order's own part, and nothing else. binpack
                              and nodeorder leave the tiers as they are: they say how pods on their own are placed
Why        a policy says what it wants once; who writes tiers has said it already.
Not here   pods on their own: __init__.py; the file: ../../policy.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kumi.api.errors import FieldError
from kumi.engine.placement.conf import Arguments, Conf, Option
from kumi.engine.placement.plugins import typical

FIELD = "scoringArguments"
OF_WORD = {"random": "seed", "fragmentation": "typical"}
"""the argument of each word that has one"""
PODS_ALONE = ("binpack", "nodeorder")
SPREAD = "spread"
_LOADS = ("leastrequested.weight", "mostrequested.weight", "balancedresource.weight")


def arguments(raw: Mapping[str, Any], word: str, errors: list[FieldError]) -> dict[str, str]:
    """What the policy says, as a profile has it. What is wrong with it goes to `errors`."""
    written = raw.get(FIELD)
    if written is None:
        return {}
    if not isinstance(written, Mapping):
        errors.append(FieldError(FIELD, "must be a mapping", "FieldValueTypeInvalid"))
        return {}
    known = OF_WORD.get(word)
    for key in written:
        if key != known:
            errors.append(FieldError(f"{FIELD}.{key}", f"{word} has no such argument", "FieldValueForbidden"))
    if known is None or known not in written:
        return {}
    if known == "typical":
        return {"typical": typical.to_text(typical.parse(written["typical"], f"{FIELD}.typical", errors))}
    seed = written["seed"]
    if isinstance(seed, bool) or not isinstance(seed, int):
        errors.append(FieldError(f"{FIELD}.seed", "must be a whole number", "FieldValueInvalid", seed))
        return {}
    return {"seed": str(seed)}


def meant(conf: Conf, raw: Mapping[str, Any], word: str) -> Conf:
    """The tiers that a policy means which is written like this, and can be read."""
    if raw.get("scoring") is None or raw.get("tiers") is not None or word in PODS_ALONE:
        return conf
    said = raw.get(FIELD) or {}
    own = Option(word, arguments=Arguments({f"{word}.{key}": value for key, value in said.items()}))
    tiers = []
    for tier in conf.tiers:
        options = []
        for option in tier:
            if option.name == "nodeorder":
                options += [_node_order(option, word)] if word == SPREAD else [_node_order(option, word), own]
            elif option.name != "binpack":
                options.append(option)
        tiers.append(tuple(options))
    return replace(conf, tiers=tuple(tiers))


def _node_order(option: Option, word: str) -> Option:
    rest = {key: value for key, value in option.arguments.raw.items() if key not in _LOADS}
    return replace(option, arguments=Arguments(rest if word == SPREAD else {**rest, **dict.fromkeys(_LOADS, 0)}))
