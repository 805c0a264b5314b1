from __future__ import annotations

import json

import pytest

from kumi.api import crds, scheme
from kumi.api.errors import KumiError
from kumi.api.wire import JsonObject

SCHEME = scheme.load()
CUSTOM = [kind for kind in SCHEME if kind.custom]
WEBHOOK: JsonObject = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {}}}
ALLOWED = {
    "type", "description", "properties", "additionalProperties", "items", "required", "enum", "default", "format", "pattern",
    "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "anyOf",
    "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
}  # fmt: skip


def nodes(schema: JsonObject, path: str = "") -> list[tuple[str, JsonObject]]:
    found = [(path, schema)]
    for name, below in (schema.get("properties") or {}).items():
        found += nodes(below, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            found += nodes(schema[key], f"{path}.{key}")
    return found


def schemas(manifest: JsonObject) -> list[JsonObject]:
    return [version["schema"]["openAPIV3Schema"] for version in manifest["spec"]["versions"]]


@pytest.mark.parametrize("kind", CUSTOM, ids=lambda kind: kind.kind)
def test_schemas_are_structural(kind: scheme.Kind) -> None:
    for schema in schemas(crds.crd(kind, WEBHOOK)):
        for path, node in nodes(schema):
            assert set(node) <= ALLOWED, path
            assert (
                node.get("type")
                or node.get("x-kubernetes-int-or-string")
                or node.get("x-kubernetes-preserve-unknown-fields")
            ), path
            keys = node.get("x-kubernetes-list-map-keys", [])
            items = node.get("items", {})
            for key in keys:
                assert key in items.get("required", ()) or "default" in items["properties"][key], path


@pytest.mark.parametrize("kind", CUSTOM, ids=lambda kind: kind.kind)
def test_a_manifest_is_small_enough_for_kubectl_apply(kind: scheme.Kind) -> None:
    assert len(json.dumps(crds.crd(kind, WEBHOOK))) < 262144


@pytest.mark.parametrize("kind", CUSTOM, ids=lambda kind: kind.kind)
def test_exactly_one_version_is_stored(kind: scheme.Kind) -> None:
    for conversion in (None, WEBHOOK):
        versions = crds.crd(kind, conversion)["spec"]["versions"]
        assert [v["name"] for v in versions if v["storage"]] == [kind.version]
        assert all(v["served"] for v in versions)


def versions(name: str, conversion: JsonObject | None = None) -> tuple[list[str], str]:
    (manifest,) = (m for m in crds.crds(conversion=conversion) if m["metadata"]["name"] == name)
    return [v["name"] for v in manifest["spec"]["versions"]], manifest["spec"]["conversion"]["strategy"]


def test_versions_that_differ_are_served_where_somebody_can_convert_them() -> None:
    assert versions("clusterqueues.kueue.x-k8s.io") == (["v1beta2"], "None")
    assert versions("clusterqueues.kueue.x-k8s.io", WEBHOOK) == (["v1beta2", "v1beta1"], "Webhook")
    assert versions("resourceflavors.kueue.x-k8s.io") == (["v1beta2", "v1beta1"], "None")
    assert versions("resourceflavors.kueue.x-k8s.io", WEBHOOK) == (["v1beta2", "v1beta1"], "None")


def test_a_manifest_says_names_scope_columns_and_subresources() -> None:
    job = SCHEME.find("kubeflow.org", "PyTorchJob")
    assert job is not None
    manifest = crds.crd(job)
    spec, version = manifest["spec"], manifest["spec"]["versions"][0]
    assert manifest["metadata"]["name"] == "pytorchjobs.kubeflow.org"
    assert (spec["scope"], spec["names"]["singular"], spec["names"]["listKind"]) == (
        "Namespaced",
        "pytorchjob",
        "PyTorchJobList",
    )
    assert version["additionalPrinterColumns"][0] == {
        "name": "State",
        "type": "string",
        "jsonPath": ".status.conditions[-1:].type",
    }
    assert version["subresources"]["scale"]["specReplicasPath"] == ".spec.pytorchReplicaSpecs.Worker.replicas"
    queue = SCHEME.find("kueue.x-k8s.io", "ClusterQueue")
    assert queue is not None
    assert crds.crd(queue)["spec"]["names"]["shortNames"] == ["cq"]
    assert crds.crd(queue)["spec"]["scope"] == "Cluster"


def test_a_column_of_a_field_that_a_version_does_not_have_is_left_out() -> None:
    queue = SCHEME.find("kueue.x-k8s.io", "ClusterQueue")
    assert queue is not None
    columns = [[c["name"] for c in v["additionalPrinterColumns"]] for v in crds.crd(queue, WEBHOOK)["spec"]["versions"]]
    assert "Cohort" in columns[0]
    assert "Cohort" not in columns[1]
    assert "Strategy" in columns[1]


def test_quantities_are_text_or_numbers_of_their_syntax() -> None:
    queue = SCHEME.find("kueue.x-k8s.io", "ClusterQueue")
    assert queue is not None
    found = dict(nodes(schemas(crds.crd(queue))[0]))
    quota = found[".spec.resourceGroups.items.flavors.items.resources.items.nominalQuota"]
    assert quota["x-kubernetes-int-or-string"] is True
    assert quota["description"]


def test_kubernetes_own_kinds_have_none() -> None:
    pod = SCHEME.find("", "Pod")
    assert pod is not None
    with pytest.raises(KumiError, match="Kubernetes' own"):
        crds.crd(pod)
    assert len(crds.crds()) == len(CUSTOM)
