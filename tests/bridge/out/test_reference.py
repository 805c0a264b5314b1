from __future__ import annotations

from kumi.api.core import Node
from kumi.api.meta import ObjectMeta, OwnerReference
from kumi.bridge.out.reference import job_reference, reference

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


def test_the_job_is_the_controller_among_the_owners() -> None:
    view = workload()
    assert job_reference(view) is None
    view.metadata.owner_references = [
        OwnerReference(api_version="v1", kind="ConfigMap", name="c", uid="x"),
        OwnerReference(api_version="batch/v1", kind="Job", name="j", uid="y", controller=True),
    ]
    assert job_reference(view) == {"apiVersion": "batch/v1", "kind": "Job", "namespace": "n", "name": "j", "uid": "y"}
