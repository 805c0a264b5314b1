"""Manifests as they are checked and read."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumi.api.batch import Job
from kumi.api.core import Node
from kumi.evaluator.scenarios.document import Document, Part
from kumi.evaluator.scenarios.manifests import (
    ManifestError,
    checked,
    key_of,
    kind_of,
    listed,
    merged,
    name_of,
    namespace_of,
    proven,
)
from tests.evaluator.scenarios.told import faults, job, node, obj, pod, written


def test_an_object_is_completed_as_the_server_would() -> None:
    found = checked(job("j"), "2026-01-01T00:00:00Z")
    assert isinstance(found.view, Job)
    assert found.view.metadata.creation_timestamp == "2026-01-01T00:00:00Z"
    assert (found.view.metadata.namespace, found.view.spec.backoff_limit) == ("default", 6)
    assert "selector" in found.stored["spec"]


def test_what_is_checked_stays_as_it_was() -> None:
    before = job("j")
    checked(before)
    assert before == job("j")


def test_a_node_that_nobody_reports_for_is_ready() -> None:
    found = checked(node("n")).view
    assert isinstance(found, Node)
    assert [(c.type, c.status) for c in found.status.conditions] == [("Ready", "True")]
    closed = {**node("n"), "status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    view = checked(closed).view
    assert isinstance(view, Node)
    assert view.status.conditions[0].status == "False"


def test_an_older_version_is_read_in_the_stored_one() -> None:
    assert (
        checked(obj("ResourceFlavor", "f", "kueue.x-k8s.io/v1beta1")).stored["apiVersion"] == "kueue.x-k8s.io/v1beta2"
    )


def test_all_that_is_wrong_with_an_object_is_told() -> None:
    wrong = pod("p")
    wrong["spec"]["colour"], wrong["spec"]["containers"][0]["name"] = "red", 7
    with pytest.raises(ManifestError) as error:
        checked(wrong)
    assert len(error.value.faults) == 2
    assert str(error.value).startswith("Pod p: spec.colour: there is no such field; spec.containers")


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ({"apiVersion": "v1", "kind": "Pod"}, "Pod .without a name.: metadata is missing"),
        (obj("Thing", "t"), "Thing t: apiVersion 'v1' is not known"),
        (obj("Workload", "w", "kueue.x-k8s.io/v9"), "not known; of this kind there is v1beta2, v1beta1"),
        ({"kind": "Namespace", "apiVersion": "v1", "metadata": {}}, "metadata.name: Required value"),
    ],
)
def test_who_an_object_is_must_be_known(manifest: dict[str, object], says: str) -> None:
    with pytest.raises(ManifestError, match=says):
        checked(manifest)


def test_names_keys_and_namespaces() -> None:
    assert name_of(pod("p", namespace="ns")) == "Pod ns/p"
    assert key_of(pod("p")) == "pods default/p"
    assert key_of(node("n")) == "nodes n"
    assert (namespace_of(pod("p")), namespace_of(node("n"))) == ("default", "")
    assert kind_of(pod("p")).kind == "Pod"
    with pytest.raises(ManifestError, match="name is missing"):
        key_of({"apiVersion": "v1", "kind": "Pod", "metadata": {}})


def test_a_change_is_merged_as_a_patch_is() -> None:
    before = {"a": {"b": 1, "c": 2}, "d": [1]}
    assert merged(before, {"a": {"b": None, "e": {"f": 1}}, "d": [2]}) == {"a": {"c": 2, "e": {"f": 1}}, "d": [2]}
    assert before == {"a": {"b": 1, "c": 2}, "d": [1]}


def test_files_and_objects_are_listed_and_what_is_wrong_with_them_noted(tmp_path: Path) -> None:
    written(
        tmp_path,
        "",
        pods_yaml="apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
    )
    document = Document(tmp_path / "s.yaml", b"")
    whole = Part(document, ["pods.yaml", node("n"), 7, "none.yaml"], "queues")
    objects = listed(whole)
    assert [(place, name_of(each)) for place, each in objects] == [
        ("pods.yaml, object 1", "Namespace a"),
        ("pods.yaml, object 2", "Pod p"),
        ("queues[1]", "Node n"),
    ]
    assert [name_of(each) for _, each in proven(whole, objects)] == ["Namespace a", "Node n"]
    found = faults(whole)
    assert found[0] == "queues[2]: must be a manifest, or the name of a file of them"
    assert found[1].startswith("queues[3]: ")
    assert found[2].startswith("queues: pods.yaml, object 2: Pod p: spec.containers: Required value")


@pytest.mark.parametrize("kind", ["Pod", "Job"])
def test_an_object_needs_a_name_of_its_own(kind: str) -> None:
    made = job("j") if kind == "Job" else pod("j")
    made["metadata"] = {"generateName": "j-"}
    with pytest.raises(ManifestError, match=r"metadata\.name: Required value: generateName is not enough"):
        checked(made)


def test_a_length_of_time_that_cannot_be_read_is_refused() -> None:
    made = pod("p")
    made["metadata"]["annotations"] = {"example.com/execution-duration": "soon"}
    with pytest.raises(ManifestError, match=r"example\.com/execution-duration is 'soon', which is no length of time"):
        checked(made)
