"""What an object of another's kind must keep to, in one version: its schema, its rules, its metadata.

    wrong_object(schema, new, old, scale) -> every wrong field

Order      metadata; values; then rules, unless values are so wrong (missing, of another type, too many, too long) that a rule
           could trip over them: then one error without a place says that rules were not looked at.
Source     Kubernetes: custom resources; its order as recorded.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.scheme import ScalePaths
from kumi.api.validation.metadata import validate_metadata
from kumi.api.validation.names import subdomain
from kumi.api.wire import JsonObject
from kumi.registry.custom.cel.rules import broken_rules
from kumi.registry.custom.ratcheting import still_wrong
from kumi.registry.custom.schema import Schema
from kumi.registry.custom.values import Wrong, errors_of, wrong_values
from kumi.registry.jsonpath import compile_path

BLOCKING = ("FieldValueRequired", "FieldValueTypeInvalid", "FieldValueTooMany", "FieldValueTooLong")
NOT_CHECKED = FieldError(
    "<nil>",
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
)
MOST_REPLICAS = 2**31 - 1


def wrong_object(
    schema: Schema, new: JsonObject, old: JsonObject | None, scale: ScalePaths | None = None
) -> list[FieldError]:
    """See the module."""
    errors = validate_metadata(new.get("metadata") or {}, subdomain)
    faults = still_wrong(schema, wrong_values(schema, new), new, old)
    errors += errors_of(faults) + _wrong_scale(new, scale)
    if not schema.has_rules:
        return errors
    if any(_blocks(fault) for fault in faults):
        return [*errors, NOT_CHECKED]
    return errors + errors_of(still_wrong(schema, broken_rules(schema, new, old), new, old))


def _blocks(fault: Wrong) -> bool:
    return fault.error.type in BLOCKING


def _wrong_scale(obj: JsonObject, scale: ScalePaths | None) -> list[FieldError]:
    """Replicas that no Scale could hold."""
    errors = []
    for path in (scale.spec_replicas, scale.status_replicas) if scale else ():
        for value in compile_path(path)(obj):
            if isinstance(value, int) and not isinstance(value, bool) and not 0 <= value <= MOST_REPLICAS:
                what = f"should be a non-negative integer of at most {MOST_REPLICAS}"
                errors.append(FieldError(path.lstrip("."), what, value=value))
    return errors
