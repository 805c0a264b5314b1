"""OpenAPI v2 (Swagger): everything in one document, made from the v3 documents for clients that still ask for it."""

from __future__ import annotations

from collections.abc import Iterable

from kumi.api.openapi.definitions import PREFIX
from kumi.api.wire import JsonObject
from kumi.apiserver.responses import JSON, YAML

PREFIX_V2 = "#/definitions/"


def document(documents: Iterable[JsonObject], release: str) -> JsonObject:
    """The v2 document that says what these v3 documents say."""
    paths: JsonObject = {}
    definitions: JsonObject = {}
    for v3 in documents:
        paths |= {path: _path(item) for path, item in v3["paths"].items()}
        definitions |= {name: _schema(schema) for name, schema in v3["components"]["schemas"].items()}
    security = {"type": "apiKey", "name": "authorization", "in": "header", "description": "Bearer TOKEN"}
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": release},
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(definitions.items())),
        "securityDefinitions": {"BearerToken": security},
        "security": [{"BearerToken": []}],
    }


def _path(item: JsonObject) -> JsonObject:
    found: JsonObject = {}
    for key, value in item.items():
        if key == "parameters":
            found[key] = [_parameter(p) for p in value]
        else:
            found[key] = _operation(value)
    return found


def _parameter(parameter: JsonObject) -> JsonObject:
    found = {key: value for key, value in parameter.items() if key != "schema"}
    return found | {"type": parameter["schema"]["type"], "uniqueItems": True}


def _operation(operation: JsonObject) -> JsonObject:
    found = {key: value for key, value in operation.items() if key != "requestBody"}
    parameters = [_parameter(p) for p in operation.get("parameters", ())]
    if body := operation.get("requestBody"):
        content = body["content"]
        found["consumes"] = list(content)
        schema = _schema(next(iter(content.values()))["schema"])
        parameters.append(
            {"name": "body", "in": "body", "schema": schema} | ({"required": True} if "required" in body else {})
        )
    found["parameters"] = parameters
    found["produces"] = [JSON, YAML]
    found["schemes"] = ["https"]
    found["responses"] = {code: _response(answer) for code, answer in operation["responses"].items()}
    return found


def _response(response: JsonObject) -> JsonObject:
    found: JsonObject = {"description": response["description"]}
    for content in response.get("content", {}).values():
        found["schema"] = _schema(content["schema"])
        break
    return found


def _schema(schema: object) -> object:
    """A schema in v2's words: references elsewhere; one with words beside it needs no allOf."""
    if isinstance(schema, list):
        return [_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _schema(value) for key, value in schema.items()}
    ref = found.get("$ref")
    if isinstance(ref, str):
        found["$ref"] = PREFIX_V2 + ref.removeprefix(PREFIX)
    match found.get("allOf"):
        case [{"$ref": target}]:
            del found["allOf"]
            found["$ref"] = target
    return found
