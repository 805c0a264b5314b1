from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.policy import PodDisruptionBudget
from kumi.bridge.into.disruptionbudget import disruptionbudget
from kumi.engine.gangs import DisruptionBudget
from kumi.engine.model import Requirement


def read(spec: dict[str, Any], status: dict[str, Any] | None = None) -> DisruptionBudget:
    raw = {"metadata": {"name": "b", "namespace": "n"}, "spec": spec, "status": status or {}}
    return disruptionbudget(msgspec.convert(raw, PodDisruptionBudget))


def test_what_may_go_is_what_its_controller_counted() -> None:
    status = {"disruptionsAllowed": 2, "disruptedPods": {"y": None, "x": None}}
    assert read({}, status) == DisruptionBudget("n/b", None, 2, ("x", "y"))


@pytest.mark.parametrize(
    ("selector", "means"),
    [
        ({}, ()),
        (
            {"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]},
            (Requirement("a", "In", ("1",)), Requirement("b", "In", ("2",)), Requirement("c", "Exists")),
        ),
    ],
)
def test_the_selector_is_a_list_of_requirements(selector: dict[str, Any], means: tuple[Requirement, ...]) -> None:
    assert read({"selector": selector}).selector == means
