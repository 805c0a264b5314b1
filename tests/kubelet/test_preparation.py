"""What a pod has before its first container starts."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError
from kumi.jobs.injected import ANNOTATION, Injected, encode
from kumi.kubelet.environment import CannotConfigure
from kumi.kubelet.outfit import Outfit
from kumi.kubelet.pod_record import PodRecord
from kumi.kubelet.preparation import Preparation
from tests.kubelet.stage import Cluster, pod


def prepared(cluster: Cluster) -> tuple[Preparation, PodRecord]:
    address = cluster.machine.addresses.take("u")
    record = PodRecord(node="n1", namespace="default", name="p", uid="u", started_ms=0, address=address)
    node = cluster.nodes["n1"]
    outfit = Outfit(cluster.machine, record, node.devices, node.allocatable)
    return Preparation(cluster.machine, record, outfit, cluster.data_dir / "places"), record


async def test_volumes_and_a_port_are_in_the_record(cluster: Cluster) -> None:
    note = {ANNOTATION: encode(Injected(group="job", port=23456))}
    asked = pod("p", "true", volumes=[{"name": "e", "emptyDir": {}}], meta={"uid": "u", "annotations": note})
    preparation, record = prepared(cluster)
    await preparation.prepare(asked, lambda: False)
    assert record.places == {"e": str(cluster.data_dir / "places" / "e")}
    assert (record.group, record.group_port) == ("job", 23456)
    assert record.port > 0


async def test_a_pod_that_waits_for_a_claim_asks_for_nothing_else(cluster: Cluster) -> None:
    token = {"serviceAccountToken": {"path": "token"}}
    volumes = [
        {"name": "t", "projected": {"sources": [token]}},
        {"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
    ]
    preparation, record = prepared(cluster)
    with pytest.raises(CannotConfigure, match='persistentvolumeclaim "data" not found'):
        await preparation.prepare(pod("p", "true", volumes=volumes, meta={"uid": "u"}), lambda: False)
    with pytest.raises(ApiError):  # there is no account
        await preparation.prepare(pod("p", "true", volumes=volumes[:1], meta={"uid": "u"}), lambda: False)
    assert record.places == {}


async def test_one_that_is_over_takes_no_claim(cluster: Cluster) -> None:
    preparation, record = prepared(cluster)
    with pytest.raises(CannotConfigure, match="the pod is over"):
        await preparation.prepare(pod("p", "true", meta={"uid": "u"}), lambda: True)
    assert record.claims == {}
