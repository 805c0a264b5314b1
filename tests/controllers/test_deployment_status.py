from __future__ import annotations

from typing import Any

from kumi.api.apps import Deployment, DeploymentStatus
from kumi.api.meta import Condition
from kumi.controllers import deployment_status as progress
from kumi.testing.view import decoded

from .made import NOW_MS, at, condition, meta


def deployment(deadline: int | None = 10, **status: Any) -> Deployment:
    spec: dict[str, Any] = {"replicas": 2}
    if deadline is not None:
        spec["progressDeadlineSeconds"] = deadline
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("d", "ns"), "spec": spec}
    made = decoded({**manifest, "status": status})
    assert isinstance(made, Deployment)
    return made


def progressing(reason: str, status: str = "True") -> dict[str, Any]:
    return {**condition("Progressing", status, reason), "lastUpdateTime": at(0)}


def test_a_condition_that_changes_goes_to_the_end_and_its_time_moves_with_its_status() -> None:
    status = DeploymentStatus(
        conditions=[
            Condition(type="A", status="True", reason="R", last_transition_time=at(0), last_update_time=at(0)),
            Condition(type="B", status="True", reason="R"),
        ]
    )
    progress.put(status, Condition(type="A", status="True", reason="Other"), NOW_MS + 5000)
    assert [c.type for c in status.conditions] == ["B", "A"]
    assert (status.conditions[1].last_transition_time, status.conditions[1].last_update_time) == (at(0), at(5))
    progress.put(status, Condition(type="A", status="False", reason="Other"), NOW_MS + 6000)
    assert status.conditions[1].last_transition_time == at(6)


def test_one_that_says_the_same_stays() -> None:
    status = DeploymentStatus(conditions=[Condition(type="A", status="True", reason="R", last_update_time=at(0))])
    progress.put(status, Condition(type="A", status="True", reason="R"), NOW_MS + 5000)
    assert status.conditions[0].last_update_time == at(0)


def test_without_a_deadline_there_is_no_progress_to_tell() -> None:
    found = deployment(None, conditions=[progressing("ReplicaSetUpdated")])
    status = progress.status_of(found, None, [], 1, NOW_MS)
    assert progress.judge_progress(found, None, status, NOW_MS) is None
    assert [c.type for c in status.conditions] == ["Available"]
    assert progress.announced(found, progress.MADE, "m", "True", NOW_MS) is None


def test_the_deadline_counts_from_the_last_progress() -> None:
    found = deployment(10, conditions=[progressing("ReplicaSetUpdated")])
    status = progress.status_of(found, None, [], 1, NOW_MS)
    assert progress.judge_progress(found, None, status, NOW_MS + 9_000) == NOW_MS + 10_000
    assert progress.judge_progress(found, None, status, NOW_MS + 10_000) is None
    assert [(c.status, c.reason) for c in status.conditions if c.type == "Progressing"] == [("False", progress.LATE)]


def test_what_was_said_is_not_said_again() -> None:
    found = deployment(conditions=[{**progressing(progress.PAUSED, "Unknown"), "message": "m"}])
    assert progress.announced(found, progress.PAUSED, "m", "Unknown", NOW_MS) is None
    assert progress.announced(found, progress.RESUMED, "m", "Unknown", NOW_MS) is not None
