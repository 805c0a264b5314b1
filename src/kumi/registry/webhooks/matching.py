"""Which webhooks an operation is about.

The rule, for a webhook: one of its rules names the operation, group, version, resource and scope; its selectors choose the
namespace and the object (as it was or as it becomes); all its matchConditions hold.
Version    where no rule names the version that was written, matchPolicy Equivalent takes another served version of the kind
           that one does name, and the webhook then sees the object in that one.
Never      about webhook configurations: a wrong one must stay repairable.
Subresources      what is sent to one (a Binding, an Eviction, a Scale) is the object, and its kind is spoken of; the resource is
           still that of the object that it acts on: `pods/binding`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from kumi.api.meta import LabelSelector
from kumi.api.scheme import Kind
from kumi.api.user import User
from kumi.api.wire import JsonObject
from kumi.registry.requests import Target
from kumi.registry.selectors import matches

GROUP = "admissionregistration.k8s.io"


class Spoken(NamedTuple):
    """The kind of what is sent to a subresource."""

    group: str
    version: str
    kind: str


SPOKEN = {
    "binding": Spoken("", "v1", "Binding"),
    "eviction": Spoken("policy", "v1", "Eviction"),
    "token": Spoken("authentication.k8s.io", "v1", "TokenRequest"),
    "scale": Spoken("autoscaling", "v1", "Scale"),
    "exec": Spoken("", "v1", "PodExecOptions"),
    "attach": Spoken("", "v1", "PodAttachOptions"),
    "portforward": Spoken("", "v1", "PodPortForwardOptions"),
}
"""subresource -> what is sent to it; webhooks are asked about that, and not about what comes of it"""


@dataclass(frozen=True)
class Operation:
    """What is about to be done, in the stored version; `old` None: a creation, `new` None: a deletion. `spoken`: the kind of
    `new` and `old`, where that is not the target's own; they are in its version then."""

    verb: str
    target: Target
    namespace: str
    name: str
    new: JsonObject | None
    old: JsonObject | None
    user: User | None
    dry_run: bool
    options: JsonObject
    spoken: Spoken | None = None

    def labels(self) -> Iterator[dict[str, str]]:
        """Of the object as it becomes, and as it was."""
        for obj in (self.new, self.old):
            if obj is not None:
                yield (obj.get("metadata") or {}).get("labels") or {}


def version_for(hook: JsonObject, operation: Operation) -> str | None:
    """The version in which the webhook is to see the object; None: its rules are not about it."""
    target = operation.target
    kind, spoken = target.kind, target.version or target.kind.version
    if kind.group == GROUP:
        return None
    equivalent = hook.get("matchPolicy", "Equivalent") == "Equivalent"
    others = sorted(version for version in kind.versions if version != spoken) if equivalent else []
    rules = [rule for rule in hook.get("rules") or () if _is_about(rule, operation)]
    for version in (spoken, *others):
        if any(_has(rule["apiVersions"], version) for rule in rules):
            return version
    return None


def is_selected(hook: JsonObject, operation: Operation, namespace_labels: dict[str, str] | None) -> bool:
    """Whether its selectors choose it; `namespace_labels` None: the object is in no namespace."""
    if namespace_labels is not None and not _selects(hook.get("namespaceSelector"), namespace_labels):
        return False
    selector = hook.get("objectSelector")
    return not selector or any(_selects(selector, labels) for labels in operation.labels())


def _is_about(rule: JsonObject, operation: Operation) -> bool:
    kind = operation.target.kind
    scope = "Namespaced" if kind.namespaced else "Cluster"
    return (
        _has(rule["operations"], operation.verb)
        and _has(rule["apiGroups"], kind.group)
        and rule.get("scope", "*") in ("*", scope)
        and any(_names(word, kind, operation.target.subresource) for word in rule["resources"])
    )


def _names(word: str, kind: Kind, subresource: str) -> bool:
    resource, slash, below = word.partition("/")
    if resource not in ("*", kind.plural):
        return False
    return below in ("*", subresource) if slash else not subresource


def _has(words: list[str], word: str) -> bool:
    return "*" in words or word in words


def _selects(selector: JsonObject | None, labels: dict[str, str]) -> bool:
    return not selector or matches(msgspec.convert(selector, LabelSelector), labels)
