from __future__ import annotations

import pytest

from kumi.api import scheme
from kumi.api.shapes import Shape, definition_name, definitions_of, shape_of

SCHEME = scheme.load()
KINDS = list(SCHEME)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_kind_has_a_shape_in_every_version_and_it_is_made_once(kind: scheme.Kind) -> None:
    for version in kind.versions:
        shape = shape_of(kind, version)
        assert shape.type == "object"
        assert {"apiVersion", "kind", "metadata"} <= set(shape.members)
        assert shape_of(kind, version) is shape


def member(shape: Shape, *path: str) -> Shape:
    for name in path:
        below = shape.items if name == "*" else shape.members.get(name) or shape.any_member
        assert below is not None, name
        shape = below
    return shape


def test_a_pod_template_within_a_custom_kind_is_the_one_of_pods() -> None:
    job = SCHEME.find("kubeflow.org", "PyTorchJob")
    pod = SCHEME.find("", "Pod")
    assert job is not None
    assert pod is not None
    here = member(shape_of(job), "spec", "pytorchReplicaSpecs", "Master", "template", "spec")
    assert here is member(shape_of(pod), "spec")


def test_kubernetes_own_kinds_are_read_for_types_only_and_the_others_are_enforced() -> None:
    pod, queue = SCHEME.find("", "Pod"), SCHEME.find("kueue.x-k8s.io", "ClusterQueue")
    assert pod is not None
    assert queue is not None
    containers = member(shape_of(pod), "spec", "containers", "*")
    assert (containers.strict, containers.required) == (False, ())
    flavor = member(shape_of(queue), "spec", "resourceGroups", "*", "flavors", "*")
    assert (flavor.strict, flavor.required) == (True, ("name",))
    assert member(shape_of(queue), "spec", "resourceGroups", "*", "flavors").keys == ("name",)


def test_integers_have_their_width() -> None:
    pod = SCHEME.find("", "Pod")
    assert pod is not None
    spec = member(shape_of(pod), "spec")
    assert spec.members["priority"].integers == range(-(2**31), 2**31)
    assert spec.members["activeDeadlineSeconds"].integers == range(-(2**63), 2**63)


def test_the_names_of_definitions() -> None:
    pod, workload = SCHEME.find("", "Pod"), SCHEME.find("kueue.x-k8s.io", "Workload")
    assert pod is not None
    assert workload is not None
    assert definition_name(pod) == "io.k8s.api.core.v1.Pod"
    assert definitions_of(pod) == {}
    assert definition_name(workload, "v1beta1") == "io.x-k8s.kueue.v1beta1.Workload"
    assert definition_name(workload) in definitions_of(workload)
    assert (
        "priorityClassRef"
        not in definitions_of(workload, "v1beta1")["io.x-k8s.kueue.v1beta1.WorkloadSpec"]["properties"]
    )
