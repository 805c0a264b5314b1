"""Policies: what a run decides by, by name or from a file.

    default                  as `kumi up` decides where nobody says how
    fifo                     one line by time, strict: nobody passes the first that doesn't fit
    priority                 by priority, then time; who matters more takes from who matters less; whoever fits may pass
    drf                      gangs by their dominant share, the smaller first
    fair                     tenants (namespaces, LocalQueues) by their dominant share, the smaller first
    least-slack              who has the least time to lose first
    least-slack-preemptive   the same, and who would miss its deadline by waiting takes the place of those of its priority that
                             make theirs when they start anew after it
    shortest                 who takes the least time first
    earliest-deadline        the earliest deadline first
    easy, conservative       backfill: past who waits goes who delays not the first of them, or none
    binpack, best-fit, utilization, fewest-free, fragmentation, spread, random
                             which node: the word `scoring` of the policy that is named alike (kumi.engine.policy)

A file is any of these, by what is in it:
    YAML, JSON    documents, in any order: a policy of Kumi's, a Configuration of Kueue's or a scheduler file of Volcano's (one of
                  them at most), and objects: a quota tree (ClusterQueues, LocalQueues, Cohorts, ResourceFlavors ...), Queues,
                  PriorityClasses. They take the place of the setting's objects of the same kinds
    Python        a plug-in (docs/adding.md): the profile's tiers, with it in front of those behind `priority`
The rule      a policy that writes actions or tiers, or has plug-ins, is about gangs: jobs that come as pods come as gangs then.
              The name of a policy from a file is the file's, without its ending.
Errors        KumiError with the file and the line.
Not here      what the words mean: kumi.engine.policy; the reading of objects: manifests.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kumi.api.errors import KumiError
from kumi.evaluator.model import Policy

if TYPE_CHECKING:
    from kumi.engine.model import Profile

GANGS = ("actions", "tiers", "configurations", "plugins")
"""what a policy that is about gangs says"""

_PREEMPTIVE = {
    "actions": "allocate, gangpreempt, backfill",
    "tiers": [
        {"plugins": [{"name": n} for n in ("priority", "conformance")]},
        {
            "plugins": [
                {"name": "least_slack", "arguments": {"least_slack.onlyBySlack": True}},
                *({"name": n} for n in ("gang", "predicates", "binpack")),
            ]
        },
    ],
    "configurations": [{"name": "gangpreempt", "arguments": {"equalPriority": True}}],
}
_DRF = {
    "actions": "allocate, backfill",
    "tiers": [
        {"plugins": [{"name": n} for n in ("priority", "drf", "gang", "conformance", "predicates", "binpack")]},
    ],
}

BUILTIN: dict[str, Mapping[str, Any]] = {
    "default": {},
    "fifo": {"queueOrder": "time", "line": "strict"},
    "priority": {"queueOrder": "time"},
    "drf": _DRF,
    "fair": {"queueOrder": "fair", "fairSharing": {}},
    "least-slack": {"queueOrder": "leastSlack"},
    "least-slack-preemptive": _PREEMPTIVE,
    "shortest": {"queueOrder": "shortest"},
    "earliest-deadline": {"queueOrder": "deadline"},
    "easy": {"queueOrder": "time", "line": "easy"},
    "conservative": {"queueOrder": "time", "line": "conservative"},
    "binpack": {"scoring": "binpack"},
    "best-fit": {"scoring": "bestFit"},
    "utilization": {"scoring": "utilization"},
    "fewest-free": {"scoring": "fewestFree"},
    "fragmentation": {"scoring": "fragmentation"},
    "spread": {"scoring": "spread"},
    "random": {"scoring": "random"},
}
"""name -> the policy, as it would stand in a file"""


ALSO = {
    "fcfs": "fifo",
    "fair-sharing": "fair",
    "dominant-resource-fairness": "drf",
    "least-slack-time": "least-slack",
    "shortest-job-first": "shortest",
    "sjf": "shortest",
    "earliest-deadline-first": "earliest-deadline",
    "edf": "earliest-deadline",
    "easy-backfill": "easy",
    "conservative-backfill": "conservative",
    "bestfit": "best-fit",
    "fragmentation-gradient-descent": "fragmentation",
    "fgd": "fragmentation",
}
"""what else some are called"""


def known(said: str) -> str:
    """The built-in policy that is meant, "" for none: `Best_Fit` and `bestFit` are best-fit."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", said).replace("_", "-").lower()
    name = ALSO.get(name, name)
    return name if name in BUILTIN else ""


def policy(named: str | Path, plugins: Sequence[Path] = ()) -> Policy:
    """The built-in policy of that name, under the name that it is called by, or the one in that file. `plugins`: Python files
    with plug-ins that have a say in it, besides those that it names itself. KumiError."""
    if built := known(str(named)):
        return _with(replace(built_in(built), name=str(named)), str(named), plugins)
    path = Path(named)
    if not path.is_file():
        raise KumiError(f"there is no policy {named}: built-in are {', '.join(BUILTIN)}; and there is no such file")
    if path.suffix == ".py":
        return replace(_with(Policy("", _parsed({}, path.stem)), path.stem, (path, *plugins)), name=path.stem)
    return _of_file(path, plugins)


def name_of(named: str) -> str:
    """What the policy that is named so will be called."""
    return named if known(named) else Path(named).stem


@cache
def built_in(name: str) -> Policy:
    """The built-in policy of that name. KeyError."""
    raw = BUILTIN[name]
    return Policy(name, _parsed(raw, name), as_gangs=_is_of_gangs(raw))


def _with(found: Policy, name: str, plugins: Sequence[Path]) -> Policy:
    """The policy, and plug-ins of these files in its tiers."""
    if not plugins:
        return found
    from kumi.runtime.plugin_files import others

    made = {one.name: one.made for one in others(plugins)}
    profile = replace(found.profile, plugins={**found.profile.plugins, **made})
    return replace(found, name=name, profile=_seated(profile, [file.stem for file in plugins]), as_gangs=True)


def _seated(profile: Profile, names: Sequence[str]) -> Profile:
    """With those of these plug-ins that no tier names behind `priority`, in front of all others."""
    from kumi.engine.placement.conf import Option

    named = {option.name for tier in profile.conf.tiers for option in tier}
    new = tuple(Option(name) for name in names if name not in named)
    tiers = profile.conf.tiers or ((),)
    first = tiers[0]
    at = next((n + 1 for n, option in enumerate(first) if option.name == "priority"), 0)
    return replace(profile, conf=replace(profile.conf, tiers=((*first[:at], *new, *first[at:]), *tiers[1:])))


def _of_file(path: Path, plugins: Sequence[Path]) -> Policy:
    from kumi.api.yaml import load_all
    from kumi.evaluator import manifests
    from kumi.runtime.config_maps import is_config_map
    from kumi.runtime.policy_files import checked, line_of, opened

    try:
        text = path.read_bytes()
        documents = [(n, one) for n, one in enumerate(load_all(text)) if one is not None]
    except (OSError, KumiError) as error:
        raise KumiError(f"the policy {path} can't be read: {error}") from error
    objects = [(n, one) for n, one in documents if manifests.is_object(one) and not is_config_map(one)]
    said = [(n, one) for n, one in documents if not manifests.is_object(one) or is_config_map(one)]
    if len(said) > 1:
        lines = ", ".join(str(line_of(text, "", n)) for n, _ in said)
        raise KumiError(
            f"the policy {path} has {len(said)} documents that are no objects, at lines {lines}: one says it all"
        )
    at, raw = said[0] if said else (0, {})
    profile = checked(raw, path, text, document=at, plugins=plugins)
    if is_config_map(raw):
        raw = opened(raw, path, text, at).raw
    if plugins:
        profile = _seated(profile, [file.stem for file in plugins])
    found = manifests.nouns((f"{path}, line {line_of(text, '', n)}", one) for n, one in objects)
    return Policy(path.stem, profile, as_gangs=bool(plugins) or _is_of_gangs(raw), nouns=found)


def _is_of_gangs(raw: Any) -> bool:
    return isinstance(raw, Mapping) and any(raw.get(field) is not None for field in GANGS)


def _parsed(raw: Mapping[str, Any], name: str) -> Profile:
    from kumi.engine.policy import PolicyError, parse

    try:
        return parse(raw)
    except PolicyError as error:
        raise KumiError(f"the built-in policy {name} can't be used: {error}") from error
