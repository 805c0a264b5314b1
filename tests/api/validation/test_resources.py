from __future__ import annotations

import pytest

from kumi.api.validation.resources import amounts, is_device, requirements


@pytest.mark.parametrize(
    ("resources", "paths"),
    [
        (None, []),
        ({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}, []),
        ({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, ["r.requests"]),
        ({"requests": {"memory": "-1"}}, ["r.requests[memory]"]),
        ({"limits": {"cpu": "lots"}}, ["r.limits[cpu]"]),
        ({"limits": {"a b": "1"}}, ["r.limits[a b]"] * 3),
        ({"limits": {"nvidia.com/gpu": "1"}}, []),
        ({"limits": {"hugepages-2Mi": "2Mi"}}, []),
        ({"requests": {"nonsense": "1"}}, ["r.requests[nonsense]"] * 2),
        ({"requests": {"nvidia.com/gpu": "1"}}, ["r.limits"]),
        ({"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "2"}}, ["r.requests"]),
        ({"limits": {"nvidia.com/gpu": "500m"}}, ["r.limits[nvidia.com/gpu]"]),
    ],
)
def test_what_a_container_may_ask_for(resources: dict[str, dict[str, str]] | None, paths: list[str]) -> None:
    assert [error.path for error in requirements(resources, "r")] == paths


def test_amounts_that_can_be_read_are_given_beside_those_that_can_t() -> None:
    found, errors = amounts({"cpu": "1", "memory": "x"}, "p")
    assert found == {"cpu": 10**9}
    assert [error.path for error in errors] == ["p[memory]"]


def test_a_device_has_a_domain_that_is_not_kubernetes_own() -> None:
    assert is_device("nvidia.com/gpu")
    assert not is_device("cpu")
    assert not is_device("requests.kubernetes.io/x")
