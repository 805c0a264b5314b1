from __future__ import annotations

import pytest

from kumi.api import scheme
from kumi.api.openapi.definitions import PREFIX, definition, definitions, target


def references(schema: object) -> list[str]:
    if isinstance(schema, list):
        return [name for item in schema for name in references(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].removeprefix(PREFIX)] if isinstance(schema.get("$ref"), str) else []
    return own + [name for value in schema.values() for name in references(value)]


def test_every_reference_leads_to_a_definition() -> None:
    known = definitions()
    assert {name for schema in known.values() for name in references(schema)} <= set(known)


def test_no_type_is_a_list_and_no_null_is_left() -> None:
    def types(schema: object) -> list[object]:
        if isinstance(schema, list):
            return [t for item in schema for t in types(item)]
        if not isinstance(schema, dict):
            return []
        below = [t for key, value in schema.items() if key not in ("properties", "type") for t in types(value)]
        return (
            [schema.get("type")] + below + [t for field in schema.get("properties", {}).values() for t in types(field)]
        )

    found = {t for schema in definitions().values() for t in types(schema) if t is not None}
    assert found == {"object", "array", "string", "integer", "number", "boolean"}


def test_every_kind_of_kubernetes_has_its_definition_and_says_its_group_version_kind() -> None:
    for kind in scheme.load():
        if kind.schema:
            said = definition(kind.schema)["x-kubernetes-group-version-kind"]
            assert {"group": kind.group, "version": kind.version, "kind": kind.kind} in said


def test_what_patches_and_explain_need_is_there() -> None:
    containers = definition("io.k8s.api.core.v1.PodSpec")["properties"]["containers"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["description"]
    assert "enum" not in definition("io.k8s.api.core.v1.Pod")["properties"]["apiVersion"]


def test_the_target_of_a_reference_is_its_name_with_or_without_words_beside_it() -> None:
    assert target({"$ref": f"{PREFIX}a.b"}) == "a.b"
    assert target({"description": "x", "allOf": [{"$ref": f"{PREFIX}a.b"}]}) == "a.b"
    assert target({"type": "string"}) == ""


def test_a_name_that_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        definition("io.k8s.api.core.v1.Nothing")
