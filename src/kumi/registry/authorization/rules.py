"""One rule: what it allows, and whether rules cover another one.

    allows(r, verb, group, resource, name)   verb in r.verbs, group in r.groups, resource in r.resources,
                                             and r.names is empty or has name
    allows(r, verb, path)                    verb in r.verbs and some url of r is path, or ends in * and path starts with the rest
    covers(owner, rule)                      every single thing that `rule` names is allowed by one rule of the owner

`*` among verbs, groups or resources stands for all. A resource is `plural` or `plural/subresource`; `*/scale` stands for the
subresource of any. A request without a name (list, create) has the name "".
Law        if covers(owner, r) then whatever r allows, some rule of the owner allows.
Why        a rule is split before it is compared: nobody may hold in one rule what two rules give together, but one who holds
           both may grant the two as one.
Cost       allows O(words of the rule); covers O(product of the rule's words times the owner's rules).
Source     Kubernetes: using RBAC authorization (referring to resources, privilege escalation prevention).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from kumi.api.wire import JsonObject

ALL = "*"


@dataclass(frozen=True)
class Rule:
    """See the module. `names` empty: any."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    def wire(self) -> JsonObject:
        """As reviews answer it: only what is there."""
        found = {
            "verbs": self.verbs,
            "apiGroups": self.groups,
            "resources": self.resources,
            "resourceNames": self.names,
            "nonResourceURLs": self.urls,
        }
        return {key: list(values) for key, values in found.items() if values or key == "verbs"}

    def text(self) -> str:
        """As the refusal of an escalation names it."""
        words = (
            ("APIGroups", self.groups),
            ("Resources", self.resources),
            ("ResourceNames", self.names),
            ("NonResourceURLs", self.urls),
            ("Verbs", self.verbs),
        )
        shown = (f"{key}:{json.dumps(values)}" for key, values in words if values)
        return "{" + ", ".join(shown) + "}"


EVERYTHING = (Rule((ALL,), (ALL,), (ALL,)), Rule((ALL,), urls=(ALL,)))


class Asked(NamedTuple):
    """What somebody wants to do: to a resource, or (with `path`) at a path that is none."""

    verb: str
    group: str = ""
    resource: str = ""
    """`plural` or `plural/subresource`"""
    namespace: str = ""
    name: str = ""
    path: str = ""


def rule_of(wire: JsonObject) -> Rule:
    """A rule as its object has it."""
    return Rule(
        tuple(wire.get("verbs") or ()),
        tuple(wire.get("apiGroups") or ()),
        tuple(wire.get("resources") or ()),
        tuple(wire.get("resourceNames") or ()),
        tuple(wire.get("nonResourceURLs") or ()),
    )


def allows(rule: Rule, asked: Asked) -> bool:
    """See the module."""
    if ALL not in rule.verbs and asked.verb not in rule.verbs:
        return False
    if asked.path:
        return any(_url_matches(url, asked.path) for url in rule.urls)
    return (
        (ALL in rule.groups or asked.group in rule.groups)
        and any(_resource_matches(resource, asked.resource) for resource in rule.resources)
        and (not rule.names or asked.name in rule.names)
    )


def uncovered(owner: Iterable[Rule], rules: Iterable[Rule]) -> list[Rule]:
    """What of `rules` the owner's rules do not cover, as rules of one thing each."""
    have = tuple(owner)
    return [single for rule in rules for single in singles(rule) if not any(_covers(one, single) for one in have)]


def singles(rule: Rule) -> Iterator[Rule]:
    """The rule as rules of one verb, group, resource and name, or of one verb and path."""
    for group, resource, verb in product(rule.groups, rule.resources, rule.verbs):
        if not rule.names:
            yield Rule((verb,), (group,), (resource,))
        for name in rule.names:
            yield Rule((verb,), (group,), (resource,), (name,))
    for url, verb in product(rule.urls, rule.verbs):
        yield Rule((verb,), urls=(url,))


def merged(rules: Iterable[Rule]) -> list[Rule]:
    """The same permissions with the verbs of what is otherwise alike in one rule, in order of first sight."""
    verbs: dict[Rule, dict[str, None]] = {}
    for rule in rules:
        alike = Rule((), rule.groups, rule.resources, rule.names, rule.urls)
        verbs.setdefault(alike, {}).update(dict.fromkeys(rule.verbs))
    return [Rule(tuple(v), r.groups, r.resources, r.names, r.urls) for r, v in verbs.items()]


def _covers(owner: Rule, single: Rule) -> bool:
    if ALL not in owner.verbs and single.verbs[0] not in owner.verbs:
        return False
    if single.urls:
        return any(_url_matches(url, single.urls[0]) for url in owner.urls)
    return (
        (ALL in owner.groups or single.groups[0] in owner.groups)
        and any(_resource_matches(resource, single.resources[0]) for resource in owner.resources)
        and (not owner.names or (bool(single.names) and single.names[0] in owner.names))
    )


def _resource_matches(ours: str, asked: str) -> bool:
    if ours in (ALL, asked):
        return True
    _, slash, subresource = asked.partition("/")
    return bool(slash) and ours == f"{ALL}/{subresource}"


def _url_matches(ours: str, path: str) -> bool:
    return ours == path or (ours.endswith(ALL) and path.startswith(ours.rstrip(ALL)))
