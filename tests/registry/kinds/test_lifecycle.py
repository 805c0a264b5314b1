"""Which rule holds for which kind."""

from __future__ import annotations

import pytest

from kumi.api.scheme import Scheme
from kumi.registry.kinds.lifecycle import lifecycle


@pytest.mark.parametrize(
    ("kind", "counted"),
    [
        ("Pod", True),
        ("Job", True),
        ("PriorityClass", True),
        ("ConfigMap", False),
        ("Node", False),
        ("ClusterQueue", True),
    ],
)
def test_which_kinds_count_generations(scheme: Scheme, kind: str, counted: bool) -> None:
    found = next(k for k in scheme if k.kind == kind)
    assert lifecycle(found).counts_generation is counted


def test_custom_kinds_are_updated_by_revision_and_kubernetes_own_need_not_be(scheme: Scheme) -> None:
    conditional = {kind.kind for kind in scheme if lifecycle(kind).conditional}
    assert {"ClusterQueue", "PyTorchJob", "Workload", "Lease"} <= conditional
    assert not {"Pod", "Job", "ConfigMap"} & conditional


def test_only_pods_have_grace(scheme: Scheme) -> None:
    assert [kind.kind for kind in scheme if lifecycle(kind).grace is not None] == ["Pod"]
