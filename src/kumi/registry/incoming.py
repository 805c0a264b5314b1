"""What comes in: is it the object that the request is about, and does it say only what its kind has?

Steps      it is an object of the request's kind and version; every value has its type; unknown fields are refused
           (Strict), warned of (Warn) or passed over (Ignore), and never stored; it is put into the stored version.
Not here   whether values make sense: Kind.validate. Schemas: kumi.api.fields.
"""

from __future__ import annotations

from kumi.api import fields
from kumi.api.errors import FieldError, bad_request
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry import metadata, versions
from kumi.registry.custom.kind import CustomKind
from kumi.registry.refusals import invalid_as
from kumi.registry.requests import Target, WriteOptions


def read(target: Target, obj: object, options: WriteOptions, stored: JsonObject | None = None) -> JsonObject:
    """A copy of an object that came with a request, in the stored version. ApiError 400, for custom kinds 422 too.

    `stored` is what `obj`, which is used up then, was made from by a patch: what the patch left alone was read before."""
    kind = target.kind
    if not isinstance(obj, dict):
        raise bad_request(f"the body must be an object, a {kind.kind}")
    _identify(target, obj)
    if obj.get("metadata") is None:
        obj["metadata"] = {}
    checked = _checked(target, obj, stored)
    faults = [*options.repeated, *(f'unknown field "{path}"' for path in checked.unknown)]
    if options.field_validation == "Warn":
        options.warn(faults)
    strict = options.field_validation == "Strict" and bool(faults)
    if strict and (kind.custom or not checked.errors):  # a custom kind is decoded before its schema is looked at
        raise fields.strict_refusal(kind, target.version, faults)
    if checked.errors:
        raise fields.refusal(kind, target.version, obj, checked.errors)
    metadata.tidy(checked.object["metadata"])
    return versions.to_stored(kind, target.version, checked.object)


def _checked(target: Target, obj: JsonObject, stored: JsonObject | None) -> fields.Checked:
    kind = target.kind
    if isinstance(kind, CustomKind):
        return kind.taken(target.version, obj)
    spoken = stored is not None and target.version in ("", kind.version) and kind.twin is None
    return fields.check(kind, target.version, obj, stored if spoken else None)


def check_place(target: Target, obj: JsonObject) -> None:
    """Whether name and namespace are those of the request; what the object leaves out is filled in. ApiError 400."""
    found = obj["metadata"]
    if not target.kind.namespaced:
        found.pop("namespace", None)
    elif found.setdefault("namespace", target.namespace) != target.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if target.name and found.setdefault("name", target.name) != target.name:
        name = found["name"]
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({target.name})")


def _identify(target: Target, obj: JsonObject) -> None:
    kind: Kind = target.kind
    expected = versions.api_version(kind, target.version)
    said_version, said_kind = obj.setdefault("apiVersion", expected), obj.setdefault("kind", kind.kind)
    if said_kind != kind.kind and isinstance(kind, CustomKind):
        there = obj.get("metadata")
        name = str(there.get("name", "")) if isinstance(there, dict) else ""
        raise invalid_as(
            str(said_kind), kind.group, name, [FieldError("kind", f"must be {kind.kind}", value=said_kind)]
        )
    if said_kind != kind.kind:
        raise bad_request(
            f'{said_kind} in version "{said_version}" cannot be handled as a {kind.kind}: '
            f'the request is about kind "{kind.kind}"'
        )
    if said_version != expected:
        raise bad_request(
            f"the API version in the data ({said_version}) does not match the expected API version ({expected})"
        )
