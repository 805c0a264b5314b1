from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api import volcano
from kumi.api.kueue import WORKLOAD_ANNOTATION
from kumi.bridge.into.podgroup import podgroup, preemptable
from kumi.engine import gangs


def view(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **metadata: Any) -> volcano.PodGroup:
    raw = {
        "metadata": {"name": "g", "namespace": "n", "uid": "u", **metadata},
        "spec": spec or {},
        "status": status or {},
    }
    return msgspec.convert(raw, volcano.PodGroup)


def read(*args: Any, **metadata: Any) -> gangs.PodGroup:
    return podgroup(view(*args, **metadata))


def test_minima_needs_and_phase() -> None:
    made = read(
        {
            "minMember": 3,
            "minTaskMember": {"w": 2, "d": 1},
            "queue": "q",
            "priorityClassName": "high",
            "minResources": {"cpu": "1", "memory": "1Mi"},
        },
        {"phase": "Inqueue"},
        creationTimestamp="1970-01-01T00:00:02Z",
    )
    assert made == gangs.PodGroup(
        "n/g",
        "q",
        created_ms=2000,
        uid="u",
        least=3,
        least_of=(("d", 1), ("w", 2)),
        resources=(("cpu", 1000), ("memory", 2**20)),
        priority_class="high",
        phase=gangs.Phase.INQUEUE,
    )


@pytest.mark.parametrize("spec", [{}, {"minResources": {}}])
def test_a_gang_that_names_no_resources_does_not_say_what_it_needs(spec: dict[str, Any]) -> None:
    assert read(spec).resources is None


@pytest.mark.parametrize(
    ("written", "phase"), [("", gangs.Phase.NEW), ("Running", gangs.Phase.RUNNING), ("Odd", gangs.Phase.UNKNOWN)]
)
def test_a_phase_that_nobody_knows_is_unknown(written: str, phase: gangs.Phase) -> None:
    assert read({}, {"phase": written}).phase is phase


@pytest.mark.parametrize(
    ("annotation", "label", "said"),
    [(None, None, None), ("true", None, True), (None, "1", True), ("false", "true", False), ("maybe", None, False)],
)
def test_whether_it_gives_way_is_said_by_annotation_then_label(
    annotation: str | None, label: str | None, said: bool | None
) -> None:
    words: dict[str, Any] = {}
    words |= {"annotations": {volcano.PREEMPTABLE: annotation}} if annotation is not None else {}
    words |= {"labels": {volcano.PREEMPTABLE: label}} if label is not None else {}
    assert preemptable(view(**words)) is said
    assert read(**words).preemptable is said


def test_what_annotations_say_for_plugins() -> None:
    made = read(
        annotations={
            volcano.SLA_ANNOTATION: "1m",
            volcano.MAX_UNAVAILABLE_ANNOTATION: "30%",
            volcano.MIN_AVAILABLE_ANNOTATION: "2",
            volcano.ROLE_AFFINITY_ANNOTATION: "a,b;c,d",
            volcano.ROLE_ANTI_AFFINITY_ANNOTATION: "a",
            volcano.ROLE_ORDER_ANNOTATION: "b,a",
            WORKLOAD_ANNOTATION: "w",
        }
    )
    assert (made.waiting_ms, made.unavailable, made.available) == (60_000, "30%", "2")
    assert (made.affinity, made.anti_affinity, made.role_order) == ((("a", "b"), ("c", "d")), (("a",),), ("b", "a"))
    assert made.workload == "n/w"


def test_without_annotations_nothing_is_said() -> None:
    made = read()
    assert (made.waiting_ms, made.unavailable, made.affinity, made.role_order, made.workload) == (None, "", (), (), "")


def test_what_no_node_has_is_left_to_the_quotas_of_the_namespace() -> None:
    made = read({"minResources": {"cpu": "1", "requests.cpu": "500m", "limits.memory": "1Ki", "count/pods": "2"}})
    assert made.resources == (("cpu", 1000),)
    assert made.counted == (("count/pods", 2000), ("limits.memory", 1024), ("requests.cpu", 500))
    assert read({"minResources": {"count/pods": "1"}}).resources == ()
