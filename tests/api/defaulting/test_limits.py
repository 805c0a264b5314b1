from __future__ import annotations

from kumi.api.defaulting.limits import default_limit_range


def test_what_a_container_gets_follows_from_what_it_may_have() -> None:
    item = {"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Mi"}, "default": {"memory": "8Mi"}}
    made = {"spec": {"limits": [item]}}
    default_limit_range(made)
    assert item["default"] == {"cpu": "2", "memory": "8Mi"}
    assert item["defaultRequest"] == {"cpu": "2", "memory": "8Mi"}


def test_bounds_of_pods_give_nothing() -> None:
    made = {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "2"}}]}}
    default_limit_range(made)
    assert made == {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "2"}}]}}
