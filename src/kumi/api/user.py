"""Who asks, in Kubernetes' terms: a name, groups, and what else is known. Users are no objects: they are only spoken of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kumi.api.wire import JsonObject

ANONYMOUS = "system:anonymous"
AUTHENTICATED, UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
MASTERS = "system:masters"
"""the group that may do everything, whatever the rules say"""
SERVICE_ACCOUNT, SERVICE_ACCOUNTS = "system:serviceaccount", "system:serviceaccounts"

Extra: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""(key, values), by key"""


@dataclass(frozen=True)
class User:
    """One who asks. A value: two are equal if they say the same."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Extra = ()

    @property
    def is_master(self) -> bool:
        """Whether no rule holds them back."""
        return MASTERS in self.groups

    def info(self) -> JsonObject:
        """The `UserInfo` of reviews."""
        found: JsonObject = {"username": self.name}
        if self.uid:
            found["uid"] = self.uid
        if self.groups:
            found["groups"] = list(self.groups)
        if self.extra:
            found["extra"] = {key: list(values) for key, values in self.extra}
        return found


def service_account_name(namespace: str, name: str) -> str:
    """The user name of a service account."""
    return f"{SERVICE_ACCOUNT}:{namespace}:{name}"


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """The groups of every service account of a namespace, without those of all users."""
    return (SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}")


def service_account_of(user_name: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user name stands for, if it does."""
    parts = user_name.split(":")
    if len(parts) != 4 or f"{parts[0]}:{parts[1]}" != SERVICE_ACCOUNT or not parts[2] or not parts[3]:
        return None
    return parts[2], parts[3]
