"""What a CustomResourceDefinition may say, and what it says by default.

    fill_in(definition)                  defaults, in place; ApiError 400 for a schema that can't be read
    wrong_definition(new, old) -> every fault
    warnings(new) -> what its writer should know

Paths      what all versions say alike is told at the definition (`spec.validation.openAPIV3Schema`), the rest at the version
           (`spec.versions[1].schema.openAPIV3Schema`), as clients know it.
Webhooks   conversion by webhook is accepted, and its writer warned: webhooks are not called. A definition that asks for one is
           served in its stored version only, since other versions would show objects in the wrong shape.
Source     Kubernetes: CustomResourceDefinition, versions in CustomResourceDefinitions; its rules as recorded.
Not here   metadata: kumi.api.validation.metadata. Schemas: structural.py. Whether its names are free: names.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from kumi.api.errors import FieldError, KumiError, bad_request
from kumi.api.fields import check_part
from kumi.api.shapes import schema_shape
from kumi.api.validation.names import label_1035, subdomain
from kumi.api.validation.words import duplicate, forbidden, not_supported, required
from kumi.api.wire import JsonObject
from kumi.registry.custom.structural import wrong_schema
from kumi.registry.jsonpath import compile_path

COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = ("int32", "int64", "float", "double", "byte", "date", "date-time", "password")
SELECTABLE_AT_MOST = 8
SELECTABLE = ("string", "boolean", "integer")
APPROVAL = "api-approved.kubernetes.io"
PROTECTED = (".k8s.io", ".kubernetes.io")
_PLAIN_PATH = re.compile(r"(\.[A-Za-z_][-A-Za-z0-9_]*|\['[^']+'\])+\Z")
Part = Callable[[JsonObject], Any]


def fill_in(definition: JsonObject) -> None:
    """See the module."""
    spec = definition.get("spec")
    if not isinstance(spec, dict):
        return
    names = spec.setdefault("names", {})
    if names.get("kind"):
        names["singular"] = names.get("singular") or names["kind"].lower()
        names["listKind"] = names.get("listKind") or f"{names['kind']}List"
    conversion = spec.get("conversion")
    if not conversion or not conversion.get("strategy"):
        spec["conversion"] = {**(conversion or {}), "strategy": "None"}
    if spec.get("preserveUnknownFields") is False:
        del spec["preserveUnknownFields"]
    for index, version in enumerate(spec.get("versions") or ()):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None:
            _tidied(schema, f"spec.versions[{index}].schema.openAPIV3Schema")
    service = (((spec["conversion"].get("webhook") or {}).get("clientConfig")) or {}).get("service")
    if service and service.get("port") is None:
        service["port"] = 443


def _tidied(schema: JsonObject, path: str) -> None:
    """Reads the parts of a schema that may be of several types, which the definition's own schema leaves open. ApiError 400."""
    for word, others in (("items", (list,)), ("additionalProperties", (bool,))):
        value = schema.get(word)
        if value is None:
            schema.pop(word, None)
        elif not isinstance(value, others):
            checked = check_part(schema_shape(), value, path, word)
            if checked.errors:
                texts = "; ".join(f"{error.path}: {error.detail}" for error in checked.errors)
                raise bad_request(
                    f'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: {texts}'
                )
            schema[word] = checked.object
            _tidied(schema[word], f"{path}.{word}")
    for name, below in (schema.get("properties") or {}).items():
        _tidied(below, f"{path}.properties[{name}]")
    for word in ("allOf", "anyOf", "oneOf"):
        for index, below in enumerate(schema.get(word) or ()):
            _tidied(below, f"{path}.{word}[{index}]")
    if isinstance(schema.get("not"), dict):
        _tidied(schema["not"], f"{path}.not")


def is_whole(definition: JsonObject) -> bool:
    """Whether it has what everything else takes for granted; one that hasn't is refused."""
    spec = definition.get("spec") or {}
    names, versions = spec.get("names") or {}, spec.get("versions") or ()
    needed = (spec.get("group"), spec.get("scope"), names.get("plural"), names.get("kind"), versions)
    return all(needed) and all(version.get("name") for version in versions)


def stored_version(definition: JsonObject) -> str:
    """The name of the version that objects are stored in, "" if there is not exactly one."""
    versions = (definition.get("spec") or {}).get("versions") or ()
    found = [version.get("name", "") for version in versions if version.get("storage")]
    return str(found[0]) if len(found) == 1 else ""


def wrong_definition(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    """See the module; both after `fill_in`."""
    errors: list[FieldError] = []
    spec = new.get("spec") or {}
    names = spec.get("names") or {}
    wanted = f"{names.get('plural', '')}.{spec.get('group', '')}"
    if new["metadata"].get("name") != wanted:
        what = 'must be spec.names.plural+"."+spec.group'
        errors.append(FieldError("metadata.name", what, value=new["metadata"].get("name")))
    errors += _group(new, spec)
    if not spec.get("scope"):
        errors.append(required("spec.scope"))
    elif spec["scope"] not in ("Cluster", "Namespaced"):
        errors.append(not_supported("spec.scope", spec["scope"], ("Cluster", "Namespaced")))
    if spec.get("preserveUnknownFields"):
        what = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        errors.append(FieldError("spec.preserveUnknownFields", what, value=True))
    errors += [
        *_names(names, "spec.names"),
        *_versions(spec),
        *_conversion(spec),
        *_status(new),
        *_unchangeable(new, old),
    ]
    return errors


def warnings(new: JsonObject) -> list[str]:
    """See the module."""
    spec = new.get("spec") or {}
    if (spec.get("conversion") or {}).get("strategy") == "Webhook" and len(spec.get("versions") or ()) > 1:
        return ["conversion webhooks are not called: only the stored version is served"]
    return []


def _group(new: JsonObject, spec: JsonObject) -> Iterator[FieldError]:
    group = spec.get("group", "")
    if not group:
        yield required("spec.group")
    elif wrong := subdomain(group):
        yield FieldError("spec.group", wrong, value=group)
    elif "." not in group:
        yield FieldError("spec.group", "should be a domain with at least one dot", value=group)
    if f".{group}".endswith(PROTECTED):
        path, said = f"metadata.annotations[{APPROVAL}]", (new["metadata"].get("annotations") or {}).get(APPROVAL, "")
        if not said:
            what = "protected groups must have approval annotation, see https://github.com/kubernetes/enhancements/pull/1111"
            yield required(path, what)
        elif not said.startswith("unapproved") and "://" not in said:
            yield FieldError(path, 'must be a URL, or start with "unapproved"', value=said)


def _names(names: JsonObject, path: str) -> Iterator[FieldError]:
    for word in ("plural", "singular"):
        name = names.get(word, "")
        if not name and word == "plural":
            yield required(f"{path}.{word}")
        elif name and (wrong := label_1035(name)):
            yield FieldError(f"{path}.{word}", wrong, value=name)
    for word in ("kind", "listKind"):
        name = names.get(word, "")
        if not name:
            yield required(f"{path}.{word}")
        elif wrong := label_1035(name.lower()):
            yield FieldError(f"{path}.{word}", f"may have mixed case, but should otherwise match: {wrong}", value=name)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield FieldError(f"{path}.listKind", "kind and listKind may not be the same", value=names["listKind"])
    for word in ("shortNames", "categories"):
        for index, name in enumerate(names.get(word) or ()):
            if wrong := label_1035(name):
                yield FieldError(f"{path}.{word}[{index}]", wrong, value=name)


def _versions(spec: JsonObject) -> Iterator[FieldError]:
    versions = spec.get("versions") or []
    seen: list[str] = []
    for index, version in enumerate(versions):
        path, name = f"spec.versions[{index}]", version.get("name", "")
        if wrong := label_1035(name):
            yield FieldError(f"{path}.name", wrong, value=name)
        if name in seen:
            yield duplicate(f"{path}.name", name)
        seen.append(name)
        if version.get("deprecationWarning") is not None:
            yield from _deprecation(version, f"{path}.deprecationWarning")
        if not (version.get("schema") or {}).get("openAPIV3Schema"):
            yield required(f"{path}.schema.openAPIV3Schema", "schemas are required")
    if len([version for version in versions if version.get("storage")]) != 1:
        what = "must have exactly one version marked as storage version"
        yield FieldError("spec.versions", what, value=", ".join(seen))
    for path, schema, _ in _parts(versions, lambda version: (version.get("schema") or {}).get("openAPIV3Schema"),
                                  "spec.validation.openAPIV3Schema", "schema.openAPIV3Schema"):  # fmt: skip
        yield from wrong_schema(schema, path)
    for path, subresources, _ in _parts(versions, lambda v: v.get("subresources"), "spec.subresources", "subresources"):
        yield from _scale(subresources.get("scale"), f"{path}.scale")
    columns = "additionalPrinterColumns"
    for path, found, _ in _parts(versions, lambda version: version.get(columns), f"spec.{columns}", columns):
        for number, column in enumerate(found):
            yield from _column(column, f"{path}[{number}]")
    selectable = "selectableFields"
    for path, found, version in _parts(versions, lambda v: v.get(selectable), f"spec.{selectable}", selectable):
        yield from _selectable(found, (version.get("schema") or {}).get("openAPIV3Schema") or {}, path)


def _parts(versions: list[JsonObject], part: Part, together: str, alone: str) -> Iterator[tuple[str, Any, JsonObject]]:
    """A part of each version that has it, with its path and the version: once where all versions say the same."""
    found = [part(version) for version in versions]
    if found and all(one == found[0] for one in found):
        if found[0]:
            yield together, found[0], versions[0]
        return
    for index, value in enumerate(found):
        if value:
            yield f"spec.versions[{index}].{alone}", value, versions[index]


def _deprecation(version: JsonObject, path: str) -> Iterator[FieldError]:
    text = version["deprecationWarning"]
    if not version.get("deprecated"):
        yield FieldError(path, "can only be set for deprecated versions", value=text)
    elif not text:
        yield FieldError(path, "must not be an empty string", value=text)
    elif len(text) > 256:
        yield FieldError(path, "must be <= 256 characters long", value=text)
    elif not text.isprintable() or text.strip() != text:
        yield FieldError(path, "must only contain printable UTF-8 characters", value=text)


def _scale(scale: JsonObject | None, path: str) -> Iterator[FieldError]:
    if scale is None:
        return
    for word, roots in (
        ("specReplicasPath", (".spec",)),
        ("statusReplicasPath", (".status",)),
        ("labelSelectorPath", (".spec", ".status")),
    ):
        given = scale.get(word, "")
        if not given:
            if word != "labelSelectorPath":
                yield required(f"{path}.{word}")
        elif not _PLAIN_PATH.match(given):
            yield FieldError(f"{path}.{word}", "must be a valid json path without array notation", value=given)
        elif not any(given.startswith((f"{root}.", f"{root}[")) for root in roots):
            yield FieldError(f"{path}.{word}", f"should be a json path under {' or '.join(roots)}", value=given)


def _column(column: JsonObject, path: str) -> Iterator[FieldError]:
    if not column.get("name"):
        yield required(f"{path}.name")
    if not column.get("type"):
        yield required(f"{path}.type", f"must be one of {','.join(COLUMN_TYPES)}")
    elif column["type"] not in COLUMN_TYPES:
        yield FieldError(f"{path}.type", f"must be one of {','.join(COLUMN_TYPES)}", value=column["type"])
    if column.get("format") and column["format"] not in COLUMN_FORMATS:
        yield FieldError(f"{path}.format", f"must be one of {','.join(COLUMN_FORMATS)}", value=column["format"])
    if not column.get("jsonPath"):
        yield required(f"{path}.jsonPath")
    elif not _reads(column["jsonPath"]):
        yield FieldError(f"{path}.jsonPath", "is an invalid JSON path", value=column["jsonPath"])


def _reads(path: str) -> bool:
    try:
        compile_path(path)
    except KumiError:
        return False
    return path.startswith((".", "["))


def _selectable(fields: list[JsonObject], schema: JsonObject, path: str) -> Iterator[FieldError]:
    if len(fields) > SELECTABLE_AT_MOST:
        what = f"must have at most {SELECTABLE_AT_MOST} items"
        yield FieldError(path, what, "FieldValueTooMany", len(fields))
    seen: list[str] = []
    for number, field in enumerate(fields):
        here, given = f"{path}[{number}].jsonPath", field.get("jsonPath", "")
        if not given:
            yield required(here)
        elif given in seen:
            yield duplicate(here, given)
        elif not _PLAIN_PATH.match(given):
            yield FieldError(here, "is an invalid path: must be a simple path without array notation", value=given)
        elif given.startswith(".metadata"):
            yield FieldError(here, "must not point to fields in metadata", value=given)
        elif (found := _type_at(schema, given)) not in SELECTABLE:
            what = (
                f"must point to a field of type {', '.join(SELECTABLE)}, not {found}"
                if found
                else "is no field of the schema"
            )
            yield FieldError(here, what, value=given)
        seen.append(given)


def _type_at(schema: JsonObject, path: str) -> str:
    here: JsonObject | None = schema
    for dotted, quoted in re.findall(r"\.([^.\[\]]+)|\['([^']+)'\]", path):
        here = (here.get("properties") or {}).get(dotted or quoted) if here else None
    return "" if here is None else str(here.get("type") or "unknown")


def _conversion(spec: JsonObject) -> Iterator[FieldError]:
    conversion = spec.get("conversion") or {}
    strategy, webhook = conversion.get("strategy"), conversion.get("webhook")
    if strategy not in ("None", "Webhook"):
        yield not_supported("spec.conversion.strategy", strategy, ("None", "Webhook"))
    elif strategy == "None" and webhook:
        yield forbidden("spec.conversion.webhook", "should not be set when strategy is not set to Webhook")
    elif strategy == "Webhook":
        config = (webhook or {}).get("clientConfig")
        if not config:
            yield required("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook")
        elif bool(config.get("url")) == bool(config.get("service")):
            what = "exactly one of url or service is required"
            yield required("spec.conversion.webhookClientConfig", what)
        if webhook and not webhook.get("conversionReviewVersions"):
            yield required("spec.conversion.conversionReviewVersions")


def _status(new: JsonObject) -> Iterator[FieldError]:
    stored = (new.get("status") or {}).get("storedVersions") or []
    served = {version.get("name"): version for version in (new.get("spec") or {}).get("versions") or ()}
    if not stored:
        yield FieldError("status.storedVersions", "must have at least one stored version", value=[])
    for index, name in enumerate(stored):
        if name not in served:
            yield FieldError(f"status.storedVersions[{index}]", "must appear in spec.versions", value=name)
    storage = stored_version(new)
    if stored and storage and storage not in stored:
        what = f"must have the storage version {storage}"
        yield FieldError("status.storedVersions", what, value=stored)


def _unchangeable(new: JsonObject, old: JsonObject | None) -> Iterator[FieldError]:
    if old is None:
        return
    conditions = (old.get("status") or {}).get("conditions") or ()
    if not any(c.get("type") == "Established" and c.get("status") == "True" for c in conditions):
        return
    before, after = old["spec"], new.get("spec") or {}
    values = {
        "spec.scope": (before["scope"], after.get("scope")),
        "spec.names.kind": (before["names"]["kind"], (after.get("names") or {}).get("kind")),
    }
    for path, (was, value) in values.items():
        if value != was:
            yield FieldError(path, "field is immutable", value=value)
