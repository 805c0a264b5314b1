"""Definitions of other people's kinds: one that is deleted stays until its objects are gone.

    delete           marks it: the condition Terminating, and a finalizer of its own
    the catalogue    deletes its objects, then takes the finalizer away (kumi.registry.custom.catalogue)
Source     Kubernetes: deleting a CustomResourceDefinition; its behaviour as recorded.
"""

from __future__ import annotations

from kumi.api.apiextensions import CLEANUP
from kumi.api.wire import JsonObject


def marked(definition: JsonObject) -> None:
    """What its deletion marks beside the time."""
    metadata = definition["metadata"]
    metadata["finalizers"] = [name for name in metadata.get("finalizers") or () if name != CLEANUP] + [CLEANUP]
    status = definition.setdefault("status", {})
    others = [c for c in status.get("conditions") or () if c.get("type") != "Terminating"]
    terminating = {
        "lastTransitionTime": metadata["deletionTimestamp"],
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        "reason": "InstanceDeletionPending",
        "status": "True",
        "type": "Terminating",
    }
    status["conditions"] = [*others, terminating]


def held(definition: JsonObject) -> bool:
    """Whether it has to be marked before it may go."""
    return not definition["metadata"].get("deletionTimestamp")
