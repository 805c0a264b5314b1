"""metadata: what the API server writes itself, and what nobody may change.

    create    uid, creationTimestamp, generation 1 (kinds that count), name from generateName; marks of a deletion
              that came along are dropped
    update    uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds and generation stay as they are:
              left out means unchanged, another value is refused; an object that is being deleted gets no new finalizers
Empty labels, annotations, finalizers, owner references and nulls are as good as absent, and are left out.
Source     Kubernetes: API conventions (metadata), finalizers.
Not here   managedFields: kumi.registry.apply.tracking.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.wire import JsonObject

_DROPPED = ("selfLink",)
_OPTIONAL = ("labels", "annotations", "finalizers", "ownerReferences", "generateName", "managedFields")
_KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def tidy(metadata: JsonObject) -> None:
    """Takes out what is never stored and what says nothing."""
    for key in _DROPPED:
        metadata.pop(key, None)
    for key in [key for key, value in metadata.items() if value is None]:
        del metadata[key]
    for key in _OPTIONAL:
        if key in metadata and not metadata[key]:
            del metadata[key]


def begin(metadata: JsonObject, *, uid: str, now: str, counted: bool) -> None:
    """What a new object gets."""
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion"):
        metadata.pop(key, None)
    metadata["uid"], metadata["creationTimestamp"] = uid, now
    if counted:
        metadata["generation"] = 1


def keep(new: JsonObject, old: JsonObject) -> list[FieldError]:
    """Fills in what an update left out, and says what it may not change."""
    errors = []
    for key in _KEPT:
        if key not in new:
            if key in old:
                new[key] = old[key]
        elif new[key] != old.get(key):
            errors.append(FieldError(f"metadata.{key}", "field is immutable", value=new[key]))
    new.pop("generation", None)
    if "generation" in old:
        new["generation"] = old["generation"]
    if old.get("deletionTimestamp"):
        added = [f for f in new.get("finalizers") or () if f not in (old.get("finalizers") or ())]
        if added:
            names = ", ".join(f'"{name}"' for name in added)
            detail = (
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{names}}}"
            )
            # Kubernetes checks this once for all kinds and once in each kind, and reports it as often.
            errors += [FieldError("metadata.finalizers", detail, "FieldValueForbidden")] * 2
    return errors
