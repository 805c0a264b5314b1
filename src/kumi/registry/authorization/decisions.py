"""May this user do that? Pure: the same policies, user and question give the same answer and reason.

The rule   allowed if the user is a master, or a rule of a role allows it that is bound to the user (by name or by a group)
           for the cluster, or, where it happens in a namespace, in that namespace
Order      bindings of the cluster first, then those of the namespace, each by name: the first that allows is the reason
Reason     which binding of which role to whom; where nothing allows, the roles that bindings name and nobody has made
Source     Kubernetes: authorization overview, using RBAC authorization.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kumi.api.rbac import GROUP
from kumi.api.user import User
from kumi.registry.authorization.policies import Place, Policies, whos
from kumi.registry.authorization.rules import EVERYTHING, Asked, Rule, allows


class Decision(NamedTuple):
    """The answer; `reason` may be empty."""

    allowed: bool
    reason: str = ""


def decide(policies: Policies, user: User, asked: Asked) -> Decision:
    """See the module."""
    if user.is_master:
        return Decision(True)
    missing, me = [], whos(user)
    for binding in policies.bindings(me, "" if asked.path else asked.namespace):
        rules = policies.rules(binding.role)
        if rules is None:
            missing.append(no_role(binding.role))
        elif any(allows(rule, asked) for rule in rules):
            to = binding.subject_of(me).text
            return Decision(True, f"RBAC: allowed by {binding.text()} of {binding.role_text()} to {to}")
    return Decision(False, f"RBAC: {_listed(missing)}" if missing else "")


def rules_of(policies: Policies, user: User, namespace: str) -> tuple[list[Rule], str]:
    """Every rule that holds for a user in a namespace ("": in the cluster), and which roles are missing."""
    rules, missing = list(EVERYTHING) if user.is_master else [], []
    for binding in policies.bindings(whos(user), namespace):
        found = policies.rules(binding.role)
        if found is None:
            missing.append(no_role(binding.role))
        else:
            rules += found
    return rules, _listed(missing) if missing else ""


def refusal(user: User, asked: Asked) -> str:
    """Why not, in the words that Kubernetes' clients know."""
    who = f'User "{user.name}" cannot {asked.verb}'
    if asked.path:
        return f'{who} path "{asked.path}"'
    where = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    return f'{who} resource "{asked.resource}" in API group "{asked.group}" {where}'


def no_role(role: Place) -> str:
    """What is said of a role that is not there."""
    namespace, name = role
    return f'{"role" if namespace else "clusterrole"}.{GROUP} "{name}" not found'


def _listed(missing: list[str]) -> str:
    found = list(_once(missing))
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]"


def _once(texts: list[str]) -> Iterator[str]:
    yield from dict.fromkeys(texts)
