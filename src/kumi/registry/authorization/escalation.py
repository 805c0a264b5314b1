"""Who may write what, beyond the verb of the request: nobody grants more than they hold, nobody creates by another name.

A role     its writer holds every rule of it (in the namespace of a Role; in the cluster for a ClusterRole), or may
           `escalate` that role. One that is made of others by labels stands for whatever they may come to say: its writer
           holds everything.
A binding  its writer holds every rule of the role, or may `bind` that role.
Create     an apply, or an update, that makes an object which was not there asks for `create` too.
Not asked  masters; loops of this process; updates that change only owners and finalizers (so that garbage can be
           collected), and updates of a binding that leave role and subjects as they are.
Source     Kubernetes: using RBAC authorization (privilege escalation prevention and bootstrapping); its behaviour as recorded.
"""

from __future__ import annotations

from kumi.api.errors import not_found
from kumi.api.rbac import GROUP
from kumi.api.scheme import Kind
from kumi.api.user import User
from kumi.api.wire import JsonObject
from kumi.registry.authorization.decisions import decide, refusal, rules_of
from kumi.registry.authorization.policies import Policies, role_of
from kumi.registry.authorization.rules import EVERYTHING, Asked, Rule, merged, rule_of, uncovered
from kumi.registry.refusals import forbidden

ROLES, BINDINGS = ("Role", "ClusterRole"), ("RoleBinding", "ClusterRoleBinding")
_HOUSEKEEPING = ("ownerReferences", "finalizers", "resourceVersion", "managedFields", "generation")


def check_grant(policies: Policies, user: User | None, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
    """Refuses what `user` may not grant by writing `new` in the place of `old`. ApiError 403, 404."""
    if kind.group != GROUP or user is None or user.is_master or _is_housekeeping(new, old):
        return
    namespace, name = new["metadata"].get("namespace", ""), new["metadata"].get("name", "")
    if kind.kind in ROLES:
        if decide(policies, user, Asked("escalate", GROUP, kind.plural, namespace, name)).allowed:
            return
        rules = [rule_of(rule) for rule in new.get("rules") or ()]
        if new.get("aggregationRule"):
            rules += EVERYTHING
        _check(policies, user, kind, new, rules)
    elif kind.kind in BINDINGS and not _same(new, old, "roleRef", "subjects"):
        role = role_of(new, namespace)
        plural = "roles" if role[0] else "clusterroles"
        if decide(policies, user, Asked("bind", GROUP, plural, namespace, role[1])).allowed:
            return
        found = policies.rules(role)
        if found is None:
            raise not_found(plural, role[1], GROUP)
        _check(policies, user, kind, new, found)


def check_create(policies: Policies, user: User | None, kind: Kind, namespace: str, name: str) -> None:
    """Refuses a write by another verb that would make an object, if `user` may not create it. ApiError 403."""
    asked = Asked("create", kind.group, kind.plural, namespace, name)
    if user is not None and not decide(policies, user, asked).allowed:
        raise forbidden(kind, name, refusal(user, asked))


def _check(policies: Policies, user: User, kind: Kind, new: JsonObject, rules: list[Rule] | tuple[Rule, ...]) -> None:
    metadata = new["metadata"]
    held, missing = rules_of(policies, user, metadata.get("namespace", ""))
    lacking = merged(uncovered(held, rules))
    if not lacking:
        return
    groups = " ".join(f'"{group}"' for group in user.groups)
    texts = "\n".join(rule.text() for rule in lacking)
    why = f'user "{user.name}" (groups=[{groups}]) is attempting to grant RBAC permissions not currently held:\n{texts}'
    if missing:
        why += f"; resolution errors: {missing}"
    raise forbidden(kind, metadata.get("name", ""), why)


def _is_housekeeping(new: JsonObject, old: JsonObject | None) -> bool:
    if old is None:
        return False
    return _without(new) == _without(old)


def _without(obj: JsonObject) -> JsonObject:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _HOUSEKEEPING}
    return {**obj, "metadata": metadata}


def _same(new: JsonObject, old: JsonObject | None, *keys: str) -> bool:
    return old is not None and all(new.get(key) == old.get(key) for key in keys)
