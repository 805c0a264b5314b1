from __future__ import annotations

from typing import Any

import pytest

from kumi.api.scheme import Kind, load
from kumi.api.shapes import definition_name
from kumi.apiserver.openapi.schemas import list_name, references, schemas

PLACES = [(kind, version) for kind in load() for version in kind.versions]


@pytest.mark.parametrize(("kind", "version"), PLACES, ids=lambda p: p.kind if isinstance(p, Kind) else p)
def test_a_kind_comes_with_all_that_its_schema_refers_to(kind: Kind, version: str) -> None:
    found = schemas([kind], version)
    assert {definition_name(kind, version), list_name(kind, version)} <= found.keys()
    assert {name for schema in found.values() for name in references(schema)} <= found.keys()


@pytest.mark.parametrize(("kind", "version"), PLACES, ids=lambda p: p.kind if isinstance(p, Kind) else p)
def test_a_kind_is_found_by_its_group_version_and_kind(kind: Kind, version: str) -> None:
    found = schemas([kind], version)
    says = {"group": kind.group, "version": version, "kind": kind.kind}
    assert says in found[definition_name(kind, version)]["x-kubernetes-group-version-kind"]


def test_references_are_found_wherever_they_stand() -> None:
    prefix = "#/components/schemas/"
    schema: dict[str, Any] = {
        "properties": {"a": {"$ref": prefix + "A"}, "b": {"items": {"$ref": prefix + "B"}}},
        "allOf": [{"$ref": prefix + "C"}],
    }
    assert sorted(references(schema)) == ["A", "B", "C"]


def test_a_list_holds_its_kind() -> None:
    jobs = load().find_plural("kubeflow.org", "pytorchjobs")
    assert jobs is not None
    found = schemas([jobs], "v1")[list_name(jobs, "v1")]
    assert found["properties"]["items"]["items"]["$ref"].endswith(definition_name(jobs, "v1"))
