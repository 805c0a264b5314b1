"""Refusals of the registry, in the words and with the details that Kubernetes' clients read.

`Refusal` is an ApiError whose causes are given as they go on the wire: some of Kubernetes' causes are no field errors
(NamespaceTerminating, ResourceVersionTooLarge). Those that are come from kumi.api.errors.
"""

from __future__ import annotations

from collections.abc import Sequence

from kumi.api.errors import ApiError, FieldError
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject

APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"


class Refusal(ApiError):
    """An ApiError with causes and list metadata exactly as given; see ApiError for the rest."""

    def __init__(  # noqa: PLR0913  the fields of a Status object
        self,
        code: int,
        reason: str,
        message: str,
        *,
        kind: str = "",
        group: str = "",
        name: str = "",
        wire_causes: Sequence[JsonObject] = (),
        metadata: JsonObject | None = None,
        retry_after_seconds: int = 0,
    ) -> None:
        super().__init__(
            code, reason, message, kind=kind, group=group, name=name, retry_after_seconds=retry_after_seconds
        )
        self.wire_causes = tuple(wire_causes)
        self.metadata = metadata or {}

    def status(self) -> JsonObject:
        """See ApiError."""
        status = super().status()
        status["metadata"] = dict(self.metadata)
        if self.wire_causes:
            status.setdefault("details", {})["causes"] = [dict(cause) for cause in self.wire_causes]
        return status


def invalid_object(kind: Kind, name: str, errors: Sequence[FieldError]) -> ApiError:
    """422 with every wrong field of an object; a sentence that two checks say alike is said once."""
    return invalid_as(kind.kind, kind.group, name, errors)


def invalid_as(kind: str, group: str, name: str, errors: Sequence[FieldError]) -> ApiError:
    """422 for something that is not the stored object itself (a Scale, ListOptions)."""
    texts = list(dict.fromkeys(e.text() for e in errors))
    body = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    where = f"{kind}.{group}" if group else kind
    message = f'{where} "{name}" is invalid: {body}'
    return ApiError(422, "Invalid", message, kind=kind, group=group, name=name, causes=tuple(errors))


def invalid_options(options: str, error: FieldError) -> ApiError:
    """422 for an option of the request (`ListOptions`, `DeleteOptions`)."""
    return invalid_as(options, "meta.k8s.io", "", [error])


def forbidden(kind: Kind, name: str, why: str, causes: Sequence[JsonObject] = ()) -> ApiError:
    """403: admission says no."""
    message = f'{kind.resource} "{name}" is forbidden: {why}'
    return Refusal(403, "Forbidden", message, kind=kind.plural, group=kind.group, name=name, wire_causes=causes)


def revision_too_large(asked: int, newest: int) -> ApiError:
    """504: a revision that was not given out yet, as after a restore from a backup."""
    return Refusal(
        504,
        "Timeout",
        f"Too large resource version: {asked}, current: {newest}",
        wire_causes=[{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        retry_after_seconds=1,
    )


def unsupported_patch(kind: Kind, content_type: str) -> ApiError:
    """415 for a patch type that this kind or this server does not take."""
    if content_type != STRATEGIC_PATCH:
        return ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type")
    accepted = ", ".join((JSON_PATCH, MERGE_PATCH, APPLY))
    what = "the body of the request was in an unknown format - accepted media types include"
    return ApiError(415, "UnsupportedMediaType", f"{what}: {accepted}")


def unpatchable() -> ApiError:
    """422 for a JSON patch that can't be applied to what is there."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request")


def precondition_failed(kind: Kind, name: str, what: str, asked: str, found: str) -> ApiError:
    """409 for a deletion of another object than the one that was meant; `what` is `UID` or `ResourceVersion`."""
    why = "deleted and then recreated" if what == "UID" else "modified"
    detail = (
        f"the {what} in the precondition ({asked}) does not match the {what} in record ({found}). "
        f"The object might have been {why}"
    )
    where = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    message = f'Operation cannot be fulfilled on {where} "{name}": {detail}'
    return ApiError(409, "Conflict", message, kind=kind.kind, group=kind.group, name=name)
