"""Selectors, taints and tolerations: one case a clause of the rule."""

from __future__ import annotations

import pytest

from kumi.engine.model import Requirement, Taint, Toleration
from kumi.engine.selectors import affinity_holds, all_hold, holds, tolerates, untolerated

LABELS = {"zone": "a", "gpus": "8"}
GPU_NODE = Taint("dedicated", "ai", "NoSchedule")


@pytest.mark.parametrize(
    ("requirement", "answer"),
    [
        (Requirement("zone", "In", ("a", "b")), True),
        (Requirement("zone", "In", ("b",)), False),
        (Requirement("absent", "In", ("a",)), False),
        (Requirement("zone", "NotIn", ("b",)), True),
        (Requirement("zone", "NotIn", ("a",)), False),
        (Requirement("absent", "NotIn", ("a",)), True),
        (Requirement("zone", "Exists"), True),
        (Requirement("absent", "Exists"), False),
        (Requirement("zone", "DoesNotExist"), False),
        (Requirement("absent", "DoesNotExist"), True),
        (Requirement("gpus", "Gt", ("7",)), True),
        (Requirement("gpus", "Gt", ("8",)), False),
        (Requirement("gpus", "Lt", ("9",)), True),
        (Requirement("gpus", "Lt", ("8",)), False),
        (Requirement("zone", "Gt", ("1",)), False),
        (Requirement("gpus", "Gt", ()), False),
        (Requirement("absent", "Lt", ("9",)), False),
        (Requirement("zone", "Resembles", ("a",)), False),
    ],
    ids=str,
)
def test_a_requirement_on_labels(requirement: Requirement, answer: bool) -> None:
    assert holds(requirement, LABELS) is answer


def test_every_requirement_must_hold() -> None:
    assert all_hold((Requirement("zone", "Exists"), Requirement("gpus", "Exists")), LABELS)
    assert not all_hold((Requirement("zone", "Exists"), Requirement("absent", "Exists")), LABELS)
    assert all_hold((), {})


def test_one_term_of_an_affinity_is_enough_and_an_empty_one_holds_nowhere() -> None:
    a, b = (Requirement("zone", "In", ("a",)),), (Requirement("zone", "In", ("b",)),)
    assert affinity_holds((b, a), LABELS)
    assert not affinity_holds((b,), LABELS)
    assert not affinity_holds(((),), LABELS)
    assert not affinity_holds((), LABELS)
    assert affinity_holds(None, LABELS)


@pytest.mark.parametrize(
    ("toleration", "answer"),
    [
        (Toleration("dedicated", "Equal", "ai", "NoSchedule"), True),
        (Toleration("dedicated", "", "ai", "NoSchedule"), True),
        (Toleration("dedicated", "Equal", "web", "NoSchedule"), False),
        (Toleration("dedicated", "Exists", "", "NoSchedule"), True),
        (Toleration("dedicated", "Exists", "", ""), True),
        (Toleration("dedicated", "Exists", "", "NoExecute"), False),
        (Toleration("other", "Exists", "", ""), False),
        (Toleration("", "Exists", "", ""), True),
        (Toleration("", "Equal", "ai", ""), False),
    ],
    ids=str,
)
def test_a_toleration_and_a_taint(toleration: Toleration, answer: bool) -> None:
    assert tolerates(toleration, GPU_NODE) is answer


def test_only_blocking_taints_must_be_endured() -> None:
    advice, evicts = Taint("slow", "", "PreferNoSchedule"), Taint("broken", "", "NoExecute")
    assert untolerated((advice,), ()) is None
    assert untolerated((advice, evicts), ()) == evicts
    assert untolerated((evicts,), (Toleration("broken", "Exists", "", "NoSchedule"),)) == evicts
    assert untolerated((evicts,), (Toleration("broken", "Exists", "", ""),)) is None
