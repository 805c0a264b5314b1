from __future__ import annotations

import pytest

from kumi.api.kueue import Workload
from kumi.api.scheme import SCHEME, load
from kumi.registry.requests import Target
from kumi.registry.webhooks.matching import Operation, version_for

load()


def operation(version: str, subresource: str = "") -> Operation:
    target = Target(SCHEME.of(Workload), "ns", "w", version, subresource)
    return Operation("UPDATE", target, "ns", "w", {"metadata": {}}, {"metadata": {}}, None, False, {})


@pytest.mark.parametrize(
    ("policy", "version", "resources", "subresource", "seen"),
    [
        ("Exact", "v1beta1", ["workloads"], "", None),
        ("Equivalent", "v1beta1", ["workloads"], "", "v1beta2"),
        ("Exact", "v1beta2", ["workloads"], "", "v1beta2"),
        ("Exact", "v1beta2", ["workloads"], "status", None),
        ("Exact", "v1beta2", ["workloads/status"], "status", "v1beta2"),
        ("Exact", "v1beta2", ["*/*"], "status", "v1beta2"),
        ("Exact", "v1beta2", ["pods", "*"], "", "v1beta2"),
    ],
)
def test_rules_name_resources_and_versions(
    policy: str, version: str, resources: list[str], subresource: str, seen: str | None
) -> None:
    rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["v1beta2"], "resources": resources}
    assert version_for({"matchPolicy": policy, "rules": [rule]}, operation(version, subresource)) == seen
