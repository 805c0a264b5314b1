from __future__ import annotations

from kumi.api.core import Node
from kumi.api.meta import ObjectMeta
from kumi.bridge.out.reference import reference

from .made import workload


def test_kind_and_version_come_from_the_scheme() -> None:
    assert reference(workload()) == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "namespace": "n",
        "name": "w",
        "uid": "u",
    }


def test_a_cluster_scoped_object_has_no_namespace() -> None:
    assert reference(Node(metadata=ObjectMeta(name="x"))) == {"apiVersion": "v1", "kind": "Node", "name": "x"}
