"""OpenAPI v3: one document a group and version."""

from __future__ import annotations

from collections.abc import Iterable

from kumi.api.schema import META
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.apiserver.openapi.operations import paths
from kumi.apiserver.openapi.schemas import reference, schemas
from kumi.apiserver.responses import JSON


def document(kinds: Iterable[Kind], group: str, version: str, release: str) -> JsonObject:
    """The document about `kinds`, all of which are of that group and served in that version."""
    kinds = list(kinds)
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    found = {f"{root}/": {"get": _resources(group, version)}}
    for kind in kinds:
        found |= paths(kind, version)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": release},
        "paths": dict(sorted(found.items())),
        "components": {
            "schemas": schemas(kinds, version),
            "securitySchemes": {
                "BearerToken": {
                    "type": "apiKey",
                    "name": "authorization",
                    "in": "header",
                    "description": "Bearer TOKEN",
                }
            },
        },
        "security": [{"BearerToken": []}],
    }


def _resources(group: str, version: str) -> JsonObject:
    tag = f"{group or 'core'}_{version}".replace(".", "_")
    ok = {"description": "OK", "content": {JSON: {"schema": reference(f"{META}.APIResourceList")}}}
    return {
        "tags": [tag],
        "description": "get available resources",
        "operationId": f"getAPIResources_{tag}".replace("-", "_"),
        "responses": {"200": ok, "401": {"description": "Unauthorized"}},
    }
