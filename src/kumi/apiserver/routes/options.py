"""The query of a request as the options of a verb. A value that an option can't have is refused, never ignored.

Booleans are Kubernetes': `0` and `false` are false, any other value, the empty one too, is true. The field manager of a
write that names none is the client's own name, the first word of its User-Agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from multidict import MultiDict, MultiMapping

from kumi.api.errors import ApiError, FieldError, bad_request
from kumi.api.wire import JsonObject
from kumi.registry.refusals import APPLY, invalid_as
from kumi.registry.requests import DeleteOptions, FieldValidation, ListOptions, WriteOptions
from kumi.registry.table import IncludeObject

FIELD_VALIDATION = ("Strict", "Warn", "Ignore")
INCLUDE_OBJECT = ("None", "Metadata", "Object")
MANAGER_AT_MOST = 128


def boolean(query: Mapping[str, str], name: str) -> bool:
    """A flag of the query."""
    return name in query and query[name].lower() not in ("0", "false")


def number(query: Mapping[str, str], name: str) -> int | None:
    """A whole number of the query, None if it isn't there. ApiError 400."""
    text = query.get(name, "")
    if not text:
        return None
    try:
        value = int(text)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax ({name})') from None
    if abs(value) >= 1 << 63:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": value out of range ({name})')
    return value


def wants_watch(query: Mapping[str, str]) -> bool:
    """Whether a list is to be a watch."""
    return boolean(query, "watch")


def list_options(query: Mapping[str, str], one: str = "") -> ListOptions:
    """Options of list, watch and deletecollection; `one` adds a field selector for that name."""
    fields = query.get("fieldSelector", "")
    if one:
        fields = ",".join(filter(None, (fields, f"metadata.name={one}")))
    return ListOptions(
        labels=query.get("labelSelector", ""),
        fields=fields,
        limit=max(0, number(query, "limit") or 0),
        token=query.get("continue", ""),
        revision=query.get("resourceVersion", ""),
        revision_match=query.get("resourceVersionMatch", ""),
        bookmarks=boolean(query, "allowWatchBookmarks"),
        send_initial_events=boolean(query, "sendInitialEvents"),
    )


def write_options(query: Mapping[str, str], operation: str, user_agent: str, media_type: str = "") -> WriteOptions:
    """Options of create, update and patch. `operation` names them in errors: Create, Update, Patch."""
    errors: list[FieldError] = []
    dry_run = _dry_run(query, errors)
    validation = query.get("fieldValidation", "") or "Warn"
    if validation not in FIELD_VALIDATION:
        errors.append(_unsupported("fieldValidation", validation, ("", "Ignore", "Warn", "Strict")))
    manager = query.get("fieldManager", "")
    if len(manager) > MANAGER_AT_MOST or not manager.isprintable():
        detail = f"must have at most {MANAGER_AT_MOST} characters, all of them printable"
        errors.append(FieldError("fieldManager", detail, value=manager))
    force = "force" in query
    if force and media_type != APPLY:
        errors.append(FieldError("force", "may not be specified for non-apply patch", "FieldValueForbidden"))
    if media_type == APPLY and not manager:
        errors.append(FieldError("fieldManager", "is required for apply patch", "FieldValueRequired"))
    if errors:
        raise invalid_options(operation, errors)
    return WriteOptions(
        dry_run=dry_run,
        field_validation=cast(FieldValidation, validation),
        field_manager=manager or "".join(filter(str.isprintable, user_agent.partition("/")[0]))[:MANAGER_AT_MOST],
        force=force and boolean(query, "force"),
    )


def delete_options(query: Mapping[str, str], body: JsonObject) -> DeleteOptions:
    """Options of a delete: those of its body (DeleteOptions), or the query's where the body has none.

    `orphanDependents` is the old word for propagation `Orphan` (true) or `Background` (false). ApiError 400, 422."""
    errors: list[FieldError] = []
    preconditions = body.get("preconditions") or {}
    if not isinstance(preconditions, dict):
        raise bad_request("preconditions must be an object")
    grace = body.get("gracePeriodSeconds", number(query, "gracePeriodSeconds"))
    if grace is not None and (not isinstance(grace, int) or isinstance(grace, bool)):
        raise bad_request("gracePeriodSeconds must be a whole number")
    propagation = str(body.get("propagationPolicy") or query.get("propagationPolicy", ""))
    orphan = body.get("orphanDependents")
    if orphan is None and "orphanDependents" in query:
        orphan = boolean(query, "orphanDependents")
    if orphan is not None and propagation:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(FieldError("propagationPolicy", detail, value=propagation))
    elif orphan is not None:
        propagation = "Orphan" if orphan else "Background"
    dry_run = _dry_run(query, errors, body.get("dryRun"))
    if errors:
        raise invalid_options("Delete", errors)
    return DeleteOptions(
        uid=str(preconditions.get("uid") or ""),
        revision=str(preconditions.get("resourceVersion") or ""),
        grace_seconds=grace,
        propagation=propagation,
        dry_run=dry_run,
    )


def include_object(query: Mapping[str, str]) -> IncludeObject:
    """What a Table's rows carry besides their cells. ApiError 400."""
    wanted = query.get("includeObject", "") or "Metadata"
    if wanted not in INCLUDE_OBJECT:
        raise bad_request(f'unrecognized includeObject value: "{wanted}"')
    return cast(IncludeObject, wanted)


def invalid_options(operation: str, errors: list[FieldError]) -> ApiError:
    """422 about the options themselves."""
    return invalid_as(f"{operation}Options", "meta.k8s.io", "", errors)


def _dry_run(query: Mapping[str, str], errors: list[FieldError], body: object = None) -> bool:
    given = [query["dryRun"]] if query.get("dryRun") else []
    given += [str(b) for b in body] if isinstance(body, list) else []
    errors.extend(_unsupported("dryRun", value, ("All",)) for value in given if value != "All")
    return bool(given)


def _unsupported(path: str, value: str, supported: tuple[str, ...]) -> FieldError:
    detail = "supported values: " + ", ".join(f'"{s}"' for s in supported)
    return FieldError(path, detail, "FieldValueNotSupported", value)


def connect_options(subresource: str, query: MultiMapping[str]) -> JsonObject:
    """What is asked of a connection to a pod, as webhooks see it."""
    if subresource == "portforward":
        ports = [port for text in query.getall("ports", []) for port in text.split(",") if port.isdecimal()]
        return {"ports": [int(port) for port in ports]} if ports else {}
    found: JsonObject = {name: True for name in ("stdin", "stdout", "stderr", "tty") if boolean(query, name)}
    if query.get("container"):
        found["container"] = query["container"]
    if subresource == "exec":
        found["command"] = query.getall("command", [])
    return found


def connect_query(options: JsonObject) -> MultiDict[str]:
    """The query that asks for what `connect_options` says; null is as good as absent."""
    query: MultiDict[str] = MultiDict()
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                query.add(name, str(one).lower() if isinstance(one, bool) else str(one))
    return query
