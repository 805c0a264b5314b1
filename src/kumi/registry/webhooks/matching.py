"""Which webhooks an operation is about.

The rule, for a webhook: one of its rules names the operation, group, version, resource and scope; its selectors choose the
namespace and the object (as it was or as it becomes); all its matchConditions hold.
Version    where no rule names the version that was written, matchPolicy Equivalent takes another served version of the kind
           that one does name, and the webhook then sees the object in that one.
Never      about webhook configurations: a wrong one must stay repairable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from kumi.api.meta import LabelSelector
from kumi.api.scheme import Kind
from kumi.api.user import User
from kumi.api.wire import JsonObject
from kumi.registry.requests import Target
from kumi.registry.selectors import matches

GROUP = "admissionregistration.k8s.io"


@dataclass(frozen=True)
class Operation:
    """What is about to be done, in the stored version; `old` None: a creation, `new` None: a deletion."""

    verb: str
    target: Target
    namespace: str
    name: str
    new: JsonObject | None
    old: JsonObject | None
    user: User | None
    dry_run: bool
    options: JsonObject

    def labels(self) -> Iterator[dict[str, str]]:
        """Of the object as it becomes, and as it was."""
        for obj in (self.new, self.old):
            if obj is not None:
                yield obj["metadata"].get("labels") or {}


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
