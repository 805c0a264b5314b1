"""Fields of a queue that are stored but whose rule is not in force yet: told in its status, so that nobody counts on them.

The rule   a field counts when its value asks for something: not when it is absent or empty.
             concurrentAdmissionPolicy (alpha in Kueue), excludeResourcePrefixes    given
Order      that of the spec; each path as kubectl writes it.
Source     Kueue: ClusterQueue.
"""

from __future__ import annotations

import msgspec

from kumi.api import kueue
from kumi.api.errors import FieldError
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject


def of_cluster_queue(view: kueue.ClusterQueue) -> list[str]:
    """The paths of fields that ask for a rule that is not in force."""
    spec, paths = view.spec, []
    if spec.concurrent_admission_policy is not None:
        paths.append("spec.concurrentAdmissionPolicy")
    if spec.exclude_resource_prefixes:
        paths.append("spec.excludeResourcePrefixes")
    return paths


class NotYetInForce:
    """Warns whoever writes such a field (an AdmissionHook of the registry)."""

    def mutate(self, operation: str, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        """Nothing is changed."""

    def validate(self, operation: str, kind: Kind, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """Nothing is refused."""
        return []

    def warnings(self, operation: str, kind: Kind, new: JsonObject) -> list[str]:
        """A line for each field."""
        if kind.type is not kueue.ClusterQueue:
            return []
        paths = of_cluster_queue(msgspec.convert(new, kueue.ClusterQueue))
        return [f"{path} is stored, and its rule is not in force yet" for path in paths]
