"""metadata, the same for all kinds: the name by the kind's rule, labels, annotations, owners, finalizers.

    with_metadata(rule, *rules)      a kind's validation: its metadata, then its own rules
Source     Kubernetes: object names, labels, annotations, owners and dependents.
Not here   what an update may not change: kumi.registry.metadata.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.scheme import Validate
from kumi.api.validation.names import Rule, labels, qualified, subdomain
from kumi.api.wire import JsonObject

ANNOTATIONS_BYTES = 256 * 1024
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid")


def with_metadata(rule: Rule = subdomain, *rules: Validate) -> Validate:
    """The validation of a kind whose names follow `rule`."""

    def validate(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        errors = validate_metadata(new.get("metadata") or {}, rule)
        for own in rules:
            errors += own(new, old)
        return errors

    return validate


def validate_metadata(metadata: JsonObject, rule: Rule) -> list[FieldError]:
    """Every wrong field of an object's metadata."""
    errors = []
    name, start = metadata.get("name"), metadata.get("generateName")
    if start:
        wrong = rule(str(start).rstrip("-.") or str(start))
        if wrong:
            errors.append(FieldError("metadata.generateName", wrong, value=start))
    if name:
        wrong = rule(str(name))
        if wrong:
            errors.append(FieldError("metadata.name", wrong, value=name))
    errors += labels(metadata.get("labels"), "metadata.labels")
    errors += validate_annotations(metadata.get("annotations"), "metadata.annotations")
    errors += _owners(metadata.get("ownerReferences") or [])
    for index, finalizer in enumerate(metadata.get("finalizers") or ()):
        wrong = qualified(finalizer)
        if wrong:
            errors.append(FieldError(f"metadata.finalizers[{index}]", wrong, value=finalizer))
    return errors


def validate_annotations(annotations: JsonObject | None, path: str) -> list[FieldError]:
    """Keys, and the size of all together."""
    errors = labels(annotations, path, keys=True)
    size = sum(len(key.encode()) + len(str(value).encode()) for key, value in (annotations or {}).items())
    if size > ANNOTATIONS_BYTES:
        detail = f"may not be more than {ANNOTATIONS_BYTES} bytes"
        errors.append(FieldError(path, detail, "FieldValueTooLong"))
    return errors


def _owners(owners: list[JsonObject]) -> list[FieldError]:
    errors = []
    managers = []
    for index, owner in enumerate(owners):
        path = f"metadata.ownerReferences[{index}]"
        for field in _OWNER_FIELDS:
            if not owner.get(field):
                errors.append(FieldError(f"{path}.{field}", f"{field} must not be empty", value=""))
        if owner.get("controller"):
            managers.append(f"{owner.get('kind')} {owner.get('name')}")
    if len(managers) > 1:
        detail = f'only one reference can have controller set to true, found "true" in references for {" and ".join(managers)}'
        errors.append(FieldError("metadata.ownerReferences", detail, value=", ".join(managers)))
    return errors
