from __future__ import annotations

from kumi.registry.apply.start import start

from .shapes import shape


def test_kubernetes_own_types_hold_some_objects_by_value() -> None:
    found = start(shape("Deployment", "apps"))
    assert found["metadata"] == {}
    assert found["spec"]["strategy"] == {}
    assert found["spec"]["template"]["spec"] == {"containers": None}
    assert "data" not in start(shape("ConfigMap"))


def test_custom_kinds_start_from_nothing() -> None:
    assert start(shape("ClusterQueue", "kueue.x-k8s.io")) == {}
    assert start(shape("PyTorchJob", "kubeflow.org")) == {}


def test_what_is_pointed_to_and_lists_that_may_be_left_out_are_not_there() -> None:
    assert set(start(shape("Pod"))["spec"]) == {"containers"}
    assert start(shape("PersistentVolumeClaim"))["spec"] == {"resources": {}}
    assert start(shape("PriorityClass", "scheduling.k8s.io"))["value"] == 0
