from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.limits import validate_limit_range, validate_resource_quota


def quota(hard: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "q"}, "spec": {"hard": hard or {"pods": "1"}, **spec}}


def selecting(**term: Any) -> dict[str, Any]:
    return {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "Exists", **term}]}}


@pytest.mark.parametrize(
    ("made", "paths"),
    [
        (quota({"cpu": "1", "count/jobs.batch": "3", "requests.nvidia.com/gpu": 2}), []),
        (quota({"pods": "-1"}), ["spec.hard[pods]"]),
        (quota({"pods": "500m"}), ["spec.hard[pods]"]),
        (quota({"cpu": "much"}), ["spec.hard[cpu]"]),
        (quota({"nonsense": "1"}), ["spec.hard[nonsense]", "spec.hard[nonsense]"]),
        (quota(scopes=["BestEffort"]), []),
        (quota({"cpu": "1"}, scopes=["BestEffort"]), ["spec.scopes"]),
        (quota({"secrets": "1"}, scopes=["Terminating"]), ["spec.scopes"]),
        (quota(scopes=["Terminating", "NotTerminating"]), ["spec.scopes"]),
        (quota(scopes=["Odd"]), ["spec.scopes[0]"]),
        (quota(**selecting()), []),
        (quota(**selecting(operator="In")), ["spec.scopeSelector.matchExpressions[0].values"]),
        (quota(**selecting(values=["x"])), ["spec.scopeSelector.matchExpressions[0].values"]),
        (quota(**selecting(operator="?")), ["spec.scopeSelector.matchExpressions[0].operator"]),
        (
            quota(**selecting(scopeName="Terminating", operator="DoesNotExist")),
            ["spec.scopeSelector.matchExpressions[0].operator"],
        ),
    ],
)
def test_what_a_quota_may_say(made: dict[str, Any], paths: list[str]) -> None:
    assert [error.path for error in validate_resource_quota(made, None)] == paths


def test_the_scopes_of_a_quota_stay_and_its_numbers_change() -> None:
    old = quota(scopes=["BestEffort"])
    assert validate_resource_quota(quota({"pods": "9"}, scopes=["BestEffort"]), old) == []
    assert [error.path for error in validate_resource_quota(quota(), old)] == ["spec.scopes"]


def limits(**item: Any) -> list[str]:
    made = {"metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container", **item}]}}
    return [error.path.removeprefix("spec.limits[0]") for error in validate_limit_range(made, None)]


@pytest.mark.parametrize(
    ("item", "paths"),
    [
        ({"min": {"cpu": "1"}, "max": {"cpu": "2"}, "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}}, []),
        ({"min": {"cpu": "3"}, "max": {"cpu": "2"}}, [".min[cpu]"]),
        ({"default": {"cpu": "3"}, "max": {"cpu": "2"}}, [".default[cpu]"]),
        ({"defaultRequest": {"cpu": "3"}, "default": {"cpu": "2"}}, [".defaultRequest[cpu]"]),
        ({"maxLimitRequestRatio": {"cpu": "500m"}}, [".maxLimitRequestRatio[cpu]"]),
        (
            {"maxLimitRequestRatio": {"cpu": "4"}, "min": {"cpu": "1"}, "max": {"cpu": "2"}},
            [".maxLimitRequestRatio[cpu]"],
        ),
        ({"max": {"cpu": "x"}}, [".max[cpu]"]),
        ({"type": "Pod", "default": {"cpu": "1"}}, [".default"]),
        ({"type": "PersistentVolumeClaim"}, [".limits"]),
        ({"type": ""}, [".type"]),
        ({"type": "Bus"}, [".type"]),
    ],
)
def test_what_a_limit_range_may_say(item: dict[str, Any], paths: list[str]) -> None:
    assert limits(**item) == paths


def test_a_type_is_bounded_once() -> None:
    made = {"metadata": {"name": "l"}, "spec": {"limits": [{"type": "Pod"}, {"type": "Pod"}]}}
    assert [error.path for error in validate_limit_range(made, None)] == ["spec.limits[1].type"]
