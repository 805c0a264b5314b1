"""Manifests as they are checked and read, and as the engine's nouns."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.batch import Job
from kumi.api.core import Node
from kumi.api.errors import KumiError
from kumi.engine.model import Flavor, LocalQueue
from kumi.evaluator.manifests import (
    ManifestError,
    checked,
    is_object,
    key_of,
    kind_of,
    name_of,
    namespace_of,
    nouns,
)
from tests.evaluator.scenarios.told import job, node, obj, pod

FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta1",
    "kind": "ResourceFlavor",
    "metadata": {"name": "spot"},
    "spec": {"nodeLabels": {"a": "b"}},
}


def test_an_object_is_what_the_bridge_reads_of_it_in_whatever_version() -> None:
    local = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "lq"}}
    local["spec"] = {"clusterQueue": "cq"}
    assert nouns([("f", FLAVOR), ("f", local)]) == (
        Flavor("spot", (("a", "b"),)),
        LocalQueue("default/lq", "cq"),
    )


def test_what_an_object_is() -> None:
    configuration = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    old = {**FLAVOR, "apiVersion": "kueue.x-k8s.io/v1alpha1"}
    assert [is_object(one) for one in (FLAVOR, configuration, old, {"line": "easy"}, None, [])] == [True, *[False] * 5]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {**FLAVOR, "spec": {"nodeLabel": {}}},
            r"f, line 3: ResourceFlavor spot is wrong:\n  spec\.nodeLabel: there is no such field",
        ),
        ({**FLAVOR, "spec": {"nodeLabels": 3}}, "ResourceFlavor spot is wrong"),
        ({**FLAVOR, "metadata": {"name": "No Name"}}, "ResourceFlavor No Name is wrong"),
        (
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}},
            "Secret s: it says nothing that is decided by",
        ),
        ({"line": "easy"}, "no object of a kind that Kumi serves"),
        (["a"], "no object of a kind that Kumi serves"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(wrong: Any, said: str) -> None:
    with pytest.raises(KumiError, match=said):
        nouns([("f, line 3", wrong)])


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
