"""Bad news of the second kind: the caller's or the world's fault, told as Kubernetes tells it.

A Reason (kumi.engine.reasons) is expected and is a value; an InvariantError is our own bug. What is here stands between
them: a request that can't be served. `ApiError.status()` is the `Status` object that goes on the wire.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from kumi.api.wire import JsonObject


class KumiError(Exception):
    """The caller's or the world's fault. Its text says what is wrong and what to do."""


class InvariantError(Exception):
    """A bug of Kumi's own. Nothing catches it but the pump, which stops that cycle and writes a replay file."""


class FieldError(NamedTuple):
    """One wrong field. `path` is as kubectl prints it (`spec.groups[0].name`, `metadata.labels[a/b]`).

    `type` is Kubernetes' cause reason: FieldValueInvalid, FieldValueRequired, FieldValueNotSupported,
    FieldValueDuplicate, FieldValueForbidden, FieldValueTooLong, FieldValueTooMany, FieldValueTypeInvalid.
    """

    path: str
    detail: str
    type: str = "FieldValueInvalid"
    value: object = None

    def text(self) -> str:
        """The sentence of one error, in the words that kubectl's users know."""
        heads = {
            "FieldValueRequired": "Required value",
            "FieldValueNotSupported": "Unsupported value",
            "FieldValueDuplicate": "Duplicate value",
            "FieldValueForbidden": "Forbidden",
            "FieldValueTooLong": "Too long",
            "FieldValueTooMany": "Too many",
            "FieldValueNotFound": "Not found",
        }
        head = heads.get(self.type, "Invalid value")
        shown = (
            "" if self.value is None or self.type in ("FieldValueRequired", "FieldValueForbidden") else self._shown()
        )
        return f"{self.path}: {head}{': ' + shown if shown else ''}{': ' + self.detail if self.detail else ''}"

    def _shown(self) -> str:
        if isinstance(self.value, str):
            return f'"{self.value}"'
        return json.dumps(self.value, separators=(",", ":"), sort_keys=True, default=str)


class ApiError(KumiError):
    """A refused request: `code` is the HTTP status, `reason` the machine-readable word of Kubernetes' Status."""

    def __init__(  # noqa: PLR0913  the fields of a Status object
        self,
        code: int,
        reason: str,
        message: str,
        *,
        kind: str = "",
        group: str = "",
        name: str = "",
        causes: tuple[FieldError, ...] = (),
        retry_after_seconds: int = 0,
    ) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message
        self.kind, self.group, self.name = kind, group, name
        self.causes, self.retry_after_seconds = causes, retry_after_seconds

    def status(self) -> JsonObject:
        """The `v1 Status` that Kubernetes' clients read."""
        details: JsonObject = {}
        for key, value in (("name", self.name), ("group", self.group), ("kind", self.kind)):
            if value:
                details[key] = value
        if self.causes:
            details["causes"] = [
                {"reason": c.type, "message": c.text().split(": ", 1)[-1], "field": c.path} for c in self.causes
            ]
        if self.retry_after_seconds:
            details["retryAfterSeconds"] = self.retry_after_seconds
        status: JsonObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": details,
            "code": self.code,
        }
        if not details:
            del status["details"]
        return status


def not_found(plural: str, name: str, group: str = "") -> ApiError:
    """404 for an object; `plural` is the resource as in the path (`pods`)."""
    where = f"{plural}.{group}" if group else plural
    return ApiError(404, "NotFound", f'{where} "{name}" not found', kind=plural, group=group, name=name)


def already_exists(plural: str, name: str, group: str = "") -> ApiError:
    """409 for a create of what is there."""
    where = f"{plural}.{group}" if group else plural
    return ApiError(409, "AlreadyExists", f'{where} "{name}" already exists', kind=plural, group=group, name=name)


def conflict(plural: str, name: str, group: str = "", why: str = "") -> ApiError:
    """409 for a write whose precondition no longer holds: read again, decide again."""
    where = f"{plural}.{group}" if group else plural
    detail = why or "the object has been modified; please apply your changes to the latest version and try again"
    message = f'Operation cannot be fulfilled on {where} "{name}": {detail}'
    return ApiError(409, "Conflict", message, kind=plural, group=group, name=name)


def invalid(kind: str, name: str, causes: tuple[FieldError, ...], group: str = "") -> ApiError:
    """422 with every wrong field; `kind` is the kind itself (`PyTorchJob`)."""
    texts = [c.text() for c in causes]
    body = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    where = f"{kind}.{group}" if group else kind
    message = f'{where} "{name}" is invalid: {body}'
    return ApiError(422, "Invalid", message, kind=kind, group=group, name=name, causes=causes)


def bad_request(message: str) -> ApiError:
    """400: the request itself can't be read."""
    return ApiError(400, "BadRequest", message)


def expired(message: str) -> ApiError:
    """410: the revision asked for is compacted; list again and watch from there."""
    return ApiError(410, "Expired", message)
