from __future__ import annotations

import pytest

from kumi.api.scheme import Kind, load
from kumi.apiserver.openapi.operations import METHODS, paths
from kumi.apiserver.routes.paths import resolve

SCHEME = load()
PLACES = [(kind, version) for kind in SCHEME for version in kind.versions]
NAMES = {"get": "GET", "put": "PUT", "post": "POST", "patch": "PATCH", "delete": "DELETE"}


def kind(group: str, plural: str) -> Kind:
    found = SCHEME.find_plural(group, plural)
    assert found is not None
    return found


@pytest.mark.parametrize(("of", "version"), PLACES, ids=lambda p: p.kind if isinstance(p, Kind) else p)
def test_every_operation_that_is_described_is_served(of: Kind, version: str) -> None:
    for path, item in paths(of, version).items():
        filled = path.replace("{namespace}", "a").replace("{name}", "b")
        for method, operation in item.items():
            if method != "parameters":
                call = resolve(SCHEME, NAMES[method], filled, watch=False)
                assert call.target.kind is of
                assert METHODS[call.verb] == method
                assert operation["x-kubernetes-group-version-kind"]["version"] == version


@pytest.mark.parametrize(("of", "version"), PLACES, ids=lambda p: p.kind if isinstance(p, Kind) else p)
def test_writes_take_field_validation_and_dry_runs(of: Kind, version: str) -> None:
    """By the patch of its kind kubectl decides whether to leave validation to the server."""
    found = paths(of, version)
    for method, path in (("post", -1), ("put", 0), ("patch", 0)):
        items = [item for p, item in sorted(found.items()) if method in item and p.endswith("{name}") is (path == 0)]
        names = {parameter["name"] for parameter in items[0][method]["parameters"]}
        assert {"dryRun", "fieldManager", "fieldValidation"} <= names


def test_operations_have_names_of_their_own() -> None:
    names = [
        op["operationId"] for of, v in PLACES for i in paths(of, v).values() for m, op in i.items() if m != "parameters"
    ]
    assert len(names) == len(set(names))


def test_custom_kinds_take_no_strategic_patch() -> None:
    def types(of: Kind) -> set[str]:
        path = (
            f"{'/apis/' + of.group if of.group else '/api'}/{of.version}/namespaces/{{namespace}}/{of.plural}/{{name}}"
        )
        return set(paths(of, of.version)[path]["patch"]["requestBody"]["content"])

    strategic = "application/strategic-merge-patch+json"
    assert strategic in types(kind("", "pods"))
    assert strategic not in types(kind("kubeflow.org", "pytorchjobs"))


def test_a_log_is_described_as_text() -> None:
    item = paths(kind("", "pods"), "v1")["/api/v1/namespaces/{namespace}/pods/{name}/log"]
    assert list(item["get"]["responses"]["200"]["content"]) == ["text/plain"]
    assert "follow" in [p["name"] for p in item["get"]["parameters"]]


def test_an_eviction_is_sent_to_the_pod() -> None:
    item = paths(kind("", "pods"), "v1")["/api/v1/namespaces/{namespace}/pods/{name}/eviction"]
    schema = item["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert schema["$ref"].endswith(".Eviction")
