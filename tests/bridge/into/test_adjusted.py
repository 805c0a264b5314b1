"""Adjusted: what LimitRanges, RuntimeClasses and limits fill in."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest

from kumi.api.limits import LimitRange, LimitRangeItem
from kumi.api.node import RuntimeClass
from kumi.api.quantity import QuantityError
from kumi.bridge.into.adjusted import Around, adjusted, merged, together


def limit_range(name: str, *items: dict[str, Any], namespace: str = "ns") -> LimitRange:
    return msgspec.convert(
        {"metadata": {"name": name, "namespace": namespace}, "spec": {"limits": [*items]}}, LimitRange
    )


def runtime_class(name: str, **fixed: str) -> RuntimeClass:
    overhead = {"podFixed": fixed} if fixed else None
    return msgspec.convert({"metadata": {"name": name}, "handler": "h", "overhead": overhead}, RuntimeClass)


def template(resources: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", **({"resources": resources} if resources is not None else {})}
    return {"spec": {"containers": [container], **spec}}


def after(of: dict[str, Any], *ranges: LimitRange, classes: tuple[RuntimeClass, ...] = ()) -> dict[str, Any]:
    before = copy.deepcopy(of)
    found = adjusted(of, together(ranges), {c.metadata.name: c for c in classes})
    assert of == before
    spec: dict[str, Any] = found["spec"]
    return spec


DEFAULTS = {"type": "Container", "default": {"cpu": "4"}, "defaultRequest": {"cpu": "3"}}


def test_containers_get_what_they_leave_out() -> None:
    spec = after(template({"limits": {"memory": "1Gi"}}), limit_range("a", DEFAULTS))
    assert spec["containers"][0]["resources"] == {
        "limits": {"cpu": "4", "memory": "1Gi"},
        "requests": {"cpu": "3", "memory": "1Gi"},
    }
    said = template({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}, initContainers=[{"name": "i"}])
    spec = after(said, limit_range("a", DEFAULTS))
    assert spec["containers"][0]["resources"] == {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}
    assert spec["initContainers"][0]["resources"] == {"limits": {"cpu": "4"}, "requests": {"cpu": "3"}}


def test_a_limit_is_asked_for_where_nothing_else_is() -> None:
    assert after(template({"limits": {"cpu": "2"}}))["containers"][0]["resources"]["requests"] == {"cpu": "2"}
    spec = after(template(resources={"limits": {"cpu": "2", "memory": "1"}, "requests": {"cpu": "1"}}))
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "1", "memory": "1"}


def test_pods_get_defaults_only_where_they_have_resources_of_their_own() -> None:
    of_pods = limit_range("a", {**DEFAULTS, "type": "Pod"})
    plain = template({"requests": {"cpu": "1"}})
    assert after(plain, of_pods) == plain["spec"]
    spec = after({"spec": {"containers": [{"name": "c"}], "resources": {"limits": {"memory": "2Gi"}}}}, of_pods)
    assert spec["resources"] == {"limits": {"cpu": "4", "memory": "2Gi"}, "requests": {"cpu": "3", "memory": "2Gi"}}


@pytest.mark.parametrize(
    ("said", "overhead"),
    [
        ({"runtimeClassName": "kata"}, {"cpu": "1m"}),
        ({"runtimeClassName": "kata", "overhead": {"cpu": "2m"}}, {"cpu": "2m"}),
        ({"runtimeClassName": "bare"}, None),
        ({"runtimeClassName": "gone"}, None),
        ({}, None),
    ],
)
def test_overhead_comes_from_the_runtime_class(said: dict[str, Any], overhead: dict[str, str] | None) -> None:
    classes = runtime_class("kata", cpu="1m"), runtime_class("bare")
    assert after(template(**said), classes=classes).get("overhead") == overhead


def test_a_template_in_which_nothing_is_left_out_is_returned_as_it_is() -> None:
    said = template({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}})
    assert adjusted(said, together([limit_range("a", DEFAULTS)]), {}) is said
    assert adjusted({}, {}, {}) == {}


def test_limit_ranges_together_have_the_lowest_max_the_highest_min_and_the_first_default() -> None:
    ranges = [
        limit_range(
            "b", {"type": "Pod", "max": {"cpu": "3", "memory": "1Gi"}, "min": {"cpu": "1"}, "default": {"cpu": "9"}}
        ),
        limit_range("a", {"type": "Pod", "max": {"cpu": "4"}, "min": {"cpu": "500m"}, "default": {"cpu": "2"}}),
    ]
    found = together(ranges)["Pod"]
    assert (found.max, found.min, found.default) == ({"cpu": "3", "memory": "1Gi"}, {"cpu": "1"}, {"cpu": "2"})
    assert merged({"cpu": "1"}, {"cpu": "900m", "x": "1"}, least=True) == {"cpu": "900m", "x": "1"}
    assert merged({"cpu": "1"}, {"cpu": "900m"}, least=False) == {"cpu": "1"}


def test_what_is_around_is_known_until_it_goes() -> None:
    around = Around()
    limits, class_ = limit_range("a", DEFAULTS), runtime_class("kata", cpu="1m")
    around.put(limits)
    around.put(class_)
    assert around.limits("ns")["Container"] == LimitRangeItem(
        type="Container", default={"cpu": "4"}, default_request={"cpu": "3"}
    )
    assert around.limits("other") == {}
    assert around.classes == {"kata": class_}
    around.drop(limits)
    around.drop(class_)
    around.drop(limit_range("never", namespace="nowhere"))
    assert (around.limits("ns"), around.classes) == ({}, {})


@pytest.mark.parametrize(
    ("known", "bad"),
    [
        (runtime_class("c", cpu="1"), runtime_class("c", cpu="much")),
        *(
            (limit_range("a", DEFAULTS), limit_range("a", {"type": "Container", field: {"cpu": "much"}}))
            for field in ("max", "min", "default", "defaultRequest")
        ),
    ],
)
def test_what_cannot_be_read_is_an_error_and_changes_nothing(
    known: LimitRange | RuntimeClass, bad: LimitRange | RuntimeClass
) -> None:
    around, expected = Around(), Around()
    around.put(known)
    expected.put(known)
    with pytest.raises(QuantityError):
        around.put(bad)
    assert around == expected
