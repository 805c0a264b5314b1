"""The policies of a store as of its newest acknowledged write: whoever was told that a binding is gone can rely on it.

The rules are read once, then followed by a watch, whose changes are taken in before every answer. A watch that was cut off
(nobody asked for a long time while much was written) is begun again from what is there.
Cost       nothing where no role or binding changed, else O(changes).
"""

from __future__ import annotations

from kumi.api.rbac import GROUP
from kumi.api.wire import JsonObject
from kumi.registry.authorization.policies import Policies
from kumi.registry.objects import decode
from kumi.store.base import Lagging, Store, Watch

PREFIX = f"/{GROUP}/"


class LivePolicies:
    """See the module."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watch: Watch | None = None
        self._policies = Policies()

    def now(self) -> Policies:
        """The policies; they change with the next call."""
        if self._watch is not None:
            try:
                for change in self._watch.take():
                    _apply(self._policies, change.key, change.value)
                return self._policies
            except Lagging:
                self._watch = None
        page = self._store.list(PREFIX)
        self._watch = self._store.watch(PREFIX, page.revision)
        self._policies = Policies()
        for entry in page.entries:
            _apply(self._policies, entry.key, entry.value)
        return self._policies


def _apply(policies: Policies, key: str, value: bytes | None) -> None:
    """One object as the store has it now; None: it has none."""
    plural, namespace, name = key.removeprefix(PREFIX).split("/", 2)
    obj: JsonObject | None = None if value is None else decode(value, 0)
    if plural in ("roles", "clusterroles"):
        if obj is None:
            policies.remove_role(namespace, name)
        else:
            policies.set_role(namespace, name, obj)
    elif plural in ("rolebindings", "clusterrolebindings"):
        if obj is None:
            policies.remove_binding(namespace, name)
        else:
            policies.set_binding(namespace, name, obj)
