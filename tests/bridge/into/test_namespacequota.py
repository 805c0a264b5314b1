from __future__ import annotations

import msgspec
import pytest

from kumi.api.errors import KumiError
from kumi.api.limits import ResourceQuota
from kumi.bridge.into.namespacequota import namespacequota
from kumi.engine.gangs import NamespaceQuota


def read(hard: dict[str, str], used: dict[str, str]) -> NamespaceQuota:
    raw = {
        "metadata": {"name": "q", "namespace": "n"},
        "spec": {"hard": {"cpu": "99"}},
        "status": {"hard": hard, "used": used},
    }
    return namespacequota(msgspec.convert(raw, ResourceQuota))


def test_what_is_in_force_and_used_counts_in_base_units() -> None:
    made = read({"memory": "1Ki", "cpu": "2"}, {"cpu": "500m"})
    assert made == NamespaceQuota("n/q", (("cpu", 2000), ("memory", 1024)), (("cpu", 500),))


def test_what_is_no_quantity_is_an_error() -> None:
    with pytest.raises(KumiError):
        read({"cpu": "x"}, {})
