"""Conditions of kubeflow.org/v1 jobs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.api.meta import Condition, find_condition
from kumi.jobs.training_conditions import with_condition

TYPES = ("Created", "Running", "Restarting", "Suspended", "Succeeded", "Failed")
NEW = st.builds(
    Condition,
    type=st.sampled_from(TYPES),
    status=st.sampled_from(["True", "False"]),
    reason=st.sampled_from(["A", "B"]),
)


def build(*conditions: tuple[str, str], now_ms: int = 0) -> list[Condition]:
    out: list[Condition] = []
    for type_, status in conditions:
        out = with_condition(out, Condition(type=type_, status=status, reason=type_), now_ms)
    return out


def shown(conditions: list[Condition]) -> list[tuple[str, str]]:
    return [(c.type, c.status) for c in conditions]


@given(st.lists(NEW, max_size=12))
def test_no_type_is_there_twice_and_running_never_beside_restarting(added: list[Condition]) -> None:
    conditions: list[Condition] = []
    for new in added:
        conditions = with_condition(conditions, new, 0)
    types = [c.type for c in conditions]
    assert len(types) == len(set(types))
    assert not {"Running", "Restarting"} <= set(types)


@given(st.lists(NEW, max_size=12), NEW)
def test_a_failed_job_never_changes(added: list[Condition], later: Condition) -> None:
    conditions = build(("Failed", "True"))
    for new in [*added, later]:
        conditions = with_condition(conditions, new, 0)
    assert shown(conditions) == [("Failed", "True")]


def test_a_new_condition_is_appended_and_a_changed_one_moves_to_the_end() -> None:
    conditions = build(("Created", "True"), ("Suspended", "True"), ("Running", "True"), ("Suspended", "False"))
    assert shown(conditions) == [("Created", "True"), ("Running", "True"), ("Suspended", "False")]


def test_the_same_again_keeps_its_place_and_time() -> None:
    conditions = build(("Created", "True"), ("Running", "True"))
    again = with_condition(conditions, Condition(type="Created", status="True", reason="Created"), 99_000)
    assert again == conditions


def test_restarting_drops_running_and_running_drops_restarting() -> None:
    assert shown(build(("Running", "True"), ("Restarting", "True"))) == [("Restarting", "True")]
    assert shown(build(("Restarting", "True"), ("Running", "True"))) == [("Running", "True")]
    assert shown(build(("Restarting", "True"), ("Running", "False"))) == [("Running", "False")]


def test_the_end_turns_running_off_in_its_place_with_its_reason() -> None:
    conditions = build(("Created", "True"), ("Running", "True"), ("Succeeded", "True"))
    assert shown(conditions) == [("Created", "True"), ("Running", "False"), ("Succeeded", "True")]
    running = find_condition(conditions, "Running")
    assert running is not None
    assert running.reason == "Running"


def test_the_transition_time_changes_with_the_status_only() -> None:
    first = with_condition([], Condition(type="Running", status="True", reason="A"), 0)
    second = with_condition(first, Condition(type="Running", status="True", reason="B"), 5_000)
    third = with_condition(second, Condition(type="Running", status="False", reason="B"), 9_000)
    assert [c.last_transition_time for c in (first[0], second[0], third[0])] == [
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:09Z",
    ]
    assert second[0].last_update_time == "1970-01-01T00:00:05Z"
