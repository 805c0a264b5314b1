from __future__ import annotations

from typing import Any

import pytest

from kumi.api.volcano import PodGroup
from kumi.api.wire import JsonObject
from kumi.bridge.out.gang_phase import gang_phase
from kumi.engine.decisions import GangPhase
from kumi.engine.gangs import Phase
from kumi.engine.reasons import Code, Reason
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Patch
from kumi.testing.view import decoded

from .made import NOW_MS

SHORT = Reason(Code.GANG_SHORT, need=12, have=10, pods=2)
FULL = Reason(Code.NODES_FULL, "cpu", need=4000, have=2000, pods=1, nodes=10)


def group(**status: Any) -> PodGroup:
    found = decoded(
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"namespace": "ns", "name": "a", "uid": "u", "resourceVersion": "7"},
            "spec": {"minMember": 12},
            "status": status,
        }
    )
    assert isinstance(found, PodGroup)
    return found


def status_of(step: Step) -> JsonObject:
    (patch,) = step.writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert patch.body["metadata"]["resourceVersion"] == "7"
    status: JsonObject = patch.body["status"]
    return status


def conditions(status: JsonObject) -> dict[str, tuple[str, str]]:
    return {c["type"]: (c["status"], c["reason"]) for c in status["conditions"]}


def test_a_gang_that_is_not_placed_says_how_many_fit_and_what_the_nodes_said() -> None:
    step = gang_phase("t", GangPhase("ns/a", Phase.INQUEUE, reasons=(SHORT, FULL)), group(), NOW_MS)
    status = status_of(step)
    assert (status["phase"], status["running"]) == ("Inqueue", 0)
    assert conditions(status) == {
        "Scheduled": ("False", "NotEnoughResources"),
        "Unschedulable": ("True", "NotEnoughResources"),
    }
    message = status["conditions"][0]["message"]
    assert message.startswith("10 of the 12 pods that start together fit.")
    assert "10 nodes" in message
    assert [(note.reason, note.type) for note in step.notes] == [("Unschedulable", "Warning")]


@pytest.mark.parametrize(
    ("code", "role", "reason"),
    [
        (Code.GANG_INCOMPLETE, "", "NotEnoughTasks"),
        (Code.GANG_INCOMPLETE, "master", "NotEnoughPodsOfTask"),
        (Code.NO_QUEUE, "", "NotEnoughResources"),
    ],
)
def test_the_words_of_the_conditions_are_volcanos(code: Code, role: str, reason: str) -> None:
    said = GangPhase("ns/a", Phase.PENDING, reasons=(Reason(code, where="q", pod_set=role, pods=1),))
    assert conditions(status_of(gang_phase("t", said, group(), NOW_MS)))["Unschedulable"] == ("True", reason)


def test_one_that_runs_is_scheduled_and_counts_its_pods() -> None:
    waited = status_of(gang_phase("t", GangPhase("ns/a", Phase.INQUEUE, reasons=(SHORT,)), group(), NOW_MS))
    said = GangPhase("ns/a", Phase.RUNNING, running=11, succeeded=1, failed=2)
    step = gang_phase("t", said, group(**waited), NOW_MS)
    status = status_of(step)
    assert (status["running"], status["succeeded"], status["failed"]) == (11, 1, 2)
    assert conditions(status) == {"Scheduled": ("True", "Ready"), "Unschedulable": ("False", "Ready")}
    assert [note.reason for note in step.notes] == ["Scheduled"]


def test_nothing_is_written_or_told_where_it_says_so_already() -> None:
    said = GangPhase("ns/a", Phase.RUNNING, running=12)
    status = status_of(gang_phase("t", said, group(), NOW_MS))
    again = gang_phase("t", said, group(**status), NOW_MS + 5000)
    assert (again.writes, again.notes) == ((), ())


def test_a_count_that_moves_is_written_and_is_no_news() -> None:
    status = status_of(gang_phase("t", GangPhase("ns/a", Phase.RUNNING, running=12), group(), NOW_MS))
    step = gang_phase("t", GangPhase("ns/a", Phase.RUNNING, running=11, failed=1), group(**status), NOW_MS)
    assert status_of(step)["conditions"] == status["conditions"]
    assert step.notes == ()


def test_of_a_gang_of_which_nobody_has_anything_to_say_only_the_phase_is_written() -> None:
    assert status_of(gang_phase("t", GangPhase("ns/a", Phase.INQUEUE), group(), NOW_MS))["conditions"] == []
