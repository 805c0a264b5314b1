"""The index of all roles and bindings: what is said of a user is found without looking at anybody else's bindings.

A service account is the user `system:serviceaccount:NAMESPACE:NAME`; a binding that leaves out the namespace of one means its
own. Namespace "" is the cluster: cluster roles, and bindings that hold everywhere.
Cost       a change O(subjects); the bindings of a user in a place O(groups + bindings that name them).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from kumi.api.rbac import GROUP
from kumi.api.user import User, service_account_name
from kumi.api.wire import JsonObject
from kumi.registry.authorization.rules import Rule, rule_of

Who: TypeAlias = tuple[str, str]
"""(User or Group, its name)"""
Place: TypeAlias = tuple[str, str]
"""(namespace, name)"""


class Subject(NamedTuple):
    """One subject of a binding: who it is, and how it is spoken of."""

    who: Who
    text: str


class Binding(NamedTuple):
    """A role's rules for some subjects. `role` is where the role is, namespace "" for a cluster role."""

    place: Place
    subjects: tuple[Subject, ...]
    role: Place

    def subject_of(self, whos: frozenset[Who]) -> Subject:
        """The first of its subjects that is one of these."""
        return next(subject for subject in self.subjects if subject.who in whos)

    def text(self) -> str:
        """How a reason names it: Kubernetes puts the name first."""
        namespace, name = self.place
        return f'RoleBinding "{name}/{namespace}"' if namespace else f'ClusterRoleBinding "{name}"'

    def role_text(self) -> str:
        """How a reason names its role."""
        namespace, name = self.role
        return f'Role "{name}"' if namespace else f'ClusterRole "{name}"'


class Policies:
    """See the module."""

    def __init__(self) -> None:
        self._roles: dict[Place, tuple[Rule, ...]] = {}
        self._bindings: dict[Place, Binding] = {}
        self._by_who: dict[tuple[Who, str], dict[Place, Binding]] = {}

    def set_role(self, namespace: str, name: str, role: JsonObject) -> None:
        """Takes in a Role, or with namespace "" a ClusterRole."""
        self._roles[namespace, name] = tuple(rule_of(rule) for rule in role.get("rules") or ())

    def remove_role(self, namespace: str, name: str) -> None:
        """Forgets one, if it is there."""
        self._roles.pop((namespace, name), None)

    def set_binding(self, namespace: str, name: str, binding: JsonObject) -> None:
        """Takes in a RoleBinding, or with namespace "" a ClusterRoleBinding."""
        self.remove_binding(namespace, name)
        subjects = (_subject(subject, namespace) for subject in binding.get("subjects") or ())
        found = tuple(subject for subject in subjects if subject is not None)
        place = (namespace, name)
        made = self._bindings[place] = Binding(place, found, role_of(binding, namespace))
        for subject in found:
            self._by_who.setdefault((subject.who, namespace), {})[place] = made

    def remove_binding(self, namespace: str, name: str) -> None:
        """Forgets one, if it is there."""
        place = (namespace, name)
        gone = self._bindings.pop(place, None)
        for subject in gone.subjects if gone else ():
            named = self._by_who.get((subject.who, namespace), {})
            named.pop(place, None)
            if not named:
                self._by_who.pop((subject.who, namespace), None)

    def rules(self, role: Place) -> tuple[Rule, ...] | None:
        """The rules of a role; None if it is not there."""
        return self._roles.get(role)

    def bindings(self, whos: Iterable[Who], namespace: str) -> Iterator[Binding]:
        """Those that hold for any of these in a namespace ("": for the cluster only), the cluster's first, by name."""
        whos = tuple(whos)
        for scope in dict.fromkeys(("", namespace)):
            found: dict[Place, Binding] = {}
            for who in whos:
                found.update(self._by_who.get((who, scope), {}))
            for place in sorted(found):
                yield found[place]


def whos(user: User) -> frozenset[Who]:
    """Everything that a binding may call a user."""
    return frozenset([("User", user.name), *(("Group", group) for group in user.groups)])


def role_of(binding: JsonObject, namespace: str) -> Place:
    """Where the role of a binding in that namespace is."""
    ref = binding.get("roleRef") or {}
    return (namespace if ref.get("kind") == "Role" else "", str(ref.get("name", "")))


def _subject(subject: JsonObject, namespace: str) -> Subject | None:
    kind, name = subject.get("kind", ""), str(subject.get("name", ""))
    if kind in ("User", "Group") and subject.get("apiGroup", GROUP) == GROUP:
        return Subject((kind, name), f'{kind} "{name}"')
    if kind == "ServiceAccount":
        place = subject.get("namespace") or namespace
        if place:
            return Subject(("User", service_account_name(place, name)), f'{kind} "{name}/{place}"')
    return None
