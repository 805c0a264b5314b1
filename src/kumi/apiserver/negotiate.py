"""What the client wants back, from its Accept header.

    application/json                                              the object or list itself
    application/json;as=Table;v=v1;g=meta.k8s.io                  a Table, as `kubectl get` prints it
    application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io  metadata only (a list: PartialObjectMetadataList)
    application/yaml                                              the object or list as YAML
    anything else                                                 passed over (protobuf, cbor): the next clause decides
Clauses count in order of their q, then as written; nothing acceptable is a 406.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from kumi.api.errors import ApiError
from kumi.apiserver.responses import JSON, YAML

Shape = Literal["object", "table", "partial"]

ACCEPTED = "application/json, application/yaml"
META_GROUP = "meta.k8s.io"


@dataclass(frozen=True)
class Clause:
    """One media range of an Accept header."""

    media_type: str
    parameters: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """The answer's form: its shape, the version of Table or PartialObjectMetadata, its encoding."""

    shape: Shape = "object"
    version: str = "v1"
    media_type: str = JSON


PLAIN = Form()


def clauses(accept: str) -> Iterator[Clause]:
    """The clauses of an Accept header, best first; a malformed q counts as 1, a q of 0 leaves the clause out."""
    found: list[tuple[float, int, Clause]] = []
    for number, text in enumerate(accept.split(",")):
        media_type, *rest = (part.strip() for part in text.split(";"))
        if not media_type:
            continue
        parameters = {}
        for part in rest:
            name, _, value = part.partition("=")
            parameters[name.strip().lower()] = value.strip().strip('"')
        found.append((-_quality(parameters.pop("q", "1")), number, Clause(media_type.lower(), parameters)))
    yield from (clause for quality, _, clause in sorted(found, key=lambda f: f[:2]) if quality)


@lru_cache(maxsize=256)
def negotiate(accept: str) -> Form:
    """The form of an answer for this Accept header; ApiError 406."""
    if not accept:
        return PLAIN
    for clause in clauses(accept):
        form = _form(clause)
        if form is not None:
            return form
    raise not_acceptable()


def not_acceptable() -> ApiError:
    """406: nothing that the client takes is spoken here."""
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {ACCEPTED}")


def _form(clause: Clause) -> Form | None:
    if clause.media_type in (JSON, "application/*", "*/*"):
        media_type = JSON
    elif clause.media_type == YAML:
        media_type = YAML
    else:
        return None
    wanted = clause.parameters.get("as", "")
    if not wanted:
        return Form(media_type=media_type)
    version = clause.parameters.get("v", "v1")
    if clause.parameters.get("g", META_GROUP) != META_GROUP or version not in ("v1", "v1beta1"):
        return None
    if wanted == "Table":
        return Form("table", version, media_type)
    if wanted in ("PartialObjectMetadata", "PartialObjectMetadataList"):
        return Form("partial", version, media_type)
    return None


def _quality(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 1.0
