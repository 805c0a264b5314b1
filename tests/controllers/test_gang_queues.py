from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kumi.api.meta import Object
from kumi.api.volcano import PodGroup, Queue
from kumi.api.volcano_command import Command
from kumi.api.wire import JsonObject
from kumi.bridge.scheduler_names import OWN_NAMES
from kumi.controllers.gang_queues import CLOSED_BY_PARENT, PACE_MS, GangQueues
from kumi.controllers.own_gangs import OwnGangs
from kumi.engine.state import State
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Create, Delete, Patch
from kumi.testing.view import decoded

from .made import NOW_MS, meta

GROUP = "scheduling.volcano.sh/v1beta1"


def queue(name: str, state: str = "", parent: str = "", marked: bool = False, **status: Any) -> JsonObject:
    annotations = {CLOSED_BY_PARENT: "true"} if marked else {}
    spec = {"weight": 1, "parent": parent}
    made = {"apiVersion": GROUP, "kind": "Queue", "metadata": meta(name, annotations=annotations), "spec": spec}
    return {**made, "status": {"state": state, **status}}


def group(name: str, queue: str = "q", phase: str = "") -> JsonObject:
    made = {"apiVersion": GROUP, "kind": "PodGroup", "metadata": meta(name, "ns"), "spec": {"queue": queue}}
    return {**made, "status": {"phase": phase}}


def command(action: str, name: str = "q", kind: str = "Queue") -> JsonObject:
    target = {"apiVersion": GROUP, "kind": kind, "name": name, "uid": f"uid-{name}"}
    made = {
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": meta(f"{action}-{name}".lower(), "ns"),
    }
    return {**made, "action": action, "target": target}


class Table:
    """The decider, and the queues that it was shown; what it writes comes back to it."""

    def __init__(self, *manifests: JsonObject) -> None:
        self.state = State()
        self.decider = GangQueues(self.state)
        self.objects: dict[tuple[str, str], JsonObject] = {}
        self.now_ms = NOW_MS
        for manifest in (queue("default", "Open"), queue("root", "Open"), *manifests):
            self.put(manifest)

    def put(self, manifest: JsonObject) -> None:
        new = decoded(manifest)
        old = self.objects.get((manifest["kind"], new.key))
        self.objects[manifest["kind"], new.key] = manifest
        self.decider.apply(type(new), new.key, decoded(old) if old else None, new)

    def remove(self, type_: type[Object], key: str) -> None:
        self.decider.apply(type_, key, decoded(self.objects.pop((type_.__name__, key))), None)

    def decide(self, *, ok: bool = True) -> Sequence[Step]:
        steps = self.decider.decide(self.now_ms).steps
        for step in steps:
            for write in step.writes if ok else ():
                if isinstance(write, Patch):
                    self._patched(write)
                elif isinstance(write, Delete):
                    self.remove(Command, f"{write.namespace}/{write.name}")
            self.decider.settle(step.token, ok, "" if ok else "conflict")
        return steps

    def _patched(self, write: Patch) -> None:
        was = self.objects["Queue", write.name]
        assert isinstance(write.body, dict)
        if write.subresource:
            status = {**was["status"], **write.body["status"]}
            status["allocated"] = {k: v for k, v in status["allocated"].items() if v is not None}
            self.put({**was, "status": status})
        else:
            given = {**was["metadata"].get("annotations", {}), **write.body["metadata"]["annotations"]}
            kept = {k: v for k, v in given.items() if v is not None}
            self.put({**was, "metadata": {**was["metadata"], "annotations": kept}})

    def settled(self) -> list[str]:
        """The tokens until nothing is left; time passes in between."""
        tokens: list[str] = []
        while steps := self.decide():
            tokens += [step.token for step in steps]
            self.now_ms += PACE_MS
            assert len(tokens) < 100
        return tokens

    def status(self, name: str) -> JsonObject:
        found: JsonObject = self.objects["Queue", name]["status"]
        return found


def test_the_two_that_are_always_there_are_made_once_where_they_are_missing() -> None:
    decider = GangQueues(State())
    steps = decider.decide(NOW_MS).steps
    made = [write.object for step in steps for write in step.writes if isinstance(write, Create)]
    assert [(m["metadata"]["name"], m["spec"]["reclaimable"]) for m in made] == [("default", True), ("root", False)]
    assert decider.decide(NOW_MS).steps == ()
    decider.settle(steps[0].token, False, "down")
    assert [step.token for step in decider.decide(NOW_MS).steps] == [steps[0].token]


def test_pod_groups_are_counted_by_their_phase_and_a_new_queue_is_open() -> None:
    table = Table(queue("q"), group("a", phase="Running"), group("b"), group("c", phase="Inqueue"), group("d", "other"))
    table.settled()
    status = table.status("q")
    assert {k: status[k] for k in ("state", "pending", "inqueue", "running", "unknown", "completed")} == {
        "state": "Open",
        "pending": 1,
        "inqueue": 1,
        "running": 1,
        "unknown": 0,
        "completed": 0,
    }
    table.remove(PodGroup, "ns/a")
    table.put(group("b", phase="Completed"))
    table.settled()
    assert (table.status("q")["running"], table.status("q")["completed"]) == (0, 1)


def test_what_is_allocated_counts_for_the_queues_above_too() -> None:
    table = Table(queue("dept"), queue("team", parent="dept"))
    table.state.tasks.allocated["team"] = {"cpu": 2500, "nvidia.com/gpu": 3000, "memory": 0}
    table.settled()
    for name in ("team", "dept", "root"):
        assert table.status(name)["allocated"] == {"cpu": "2500m", "nvidia.com/gpu": "3"}
    assert table.status("default").get("allocated", {}) == {}
    del table.state.tasks.allocated["team"]["cpu"]
    table.settled()
    assert table.status("team")["allocated"] == {"nvidia.com/gpu": "3"}


def test_a_status_is_written_no_more_often_than_the_pace() -> None:
    table = Table(queue("q"))
    table.settled()
    table.now_ms += PACE_MS
    table.put(group("a"))
    assert [s.token for s in table.decide()] == ["status q"]
    table.put(group("b"))
    batch = table.decider.decide(table.now_ms + 1)
    assert (batch.steps, batch.wake_at_ms) == ((), table.now_ms + PACE_MS)


def test_a_refused_status_is_written_again() -> None:
    table = Table(queue("q"))
    table.settled()
    table.put(group("a"))
    table.now_ms += PACE_MS
    assert table.decide(ok=False)
    table.now_ms += PACE_MS
    assert [s.token for s in table.decide()] == ["status q"]


@pytest.mark.parametrize(
    ("word", "groups", "state"),
    [
        ("", 0, "Open"),
        ("Closed", 0, "Closed"),
        ("Closed", 1, "Closing"),
        ("Closing", 0, "Closed"),
        ("Shut", 0, "Unknown"),
    ],
)
def test_a_state_is_what_was_said_and_who_is_left(word: str, groups: int, state: str) -> None:
    table = Table(queue("q", word), *(group(f"g{n}") for n in range(groups)))
    table.settled()
    assert table.status("q")["state"] == state


def test_a_command_closes_a_queue_and_is_gone_and_the_last_pod_group_ends_the_closing() -> None:
    table = Table(queue("q", "Open"), group("a"), command("CloseQueue"))
    assert "command ns/closequeue-q" in table.settled()
    assert table.status("q")["state"] == "Closing"
    assert ("Command", "ns/closequeue-q") not in table.objects
    table.remove(PodGroup, "ns/a")
    table.settled()
    assert table.status("q")["state"] == "Closed"


def test_children_are_closed_and_opened_with_their_parent_but_for_those_that_were_closed_before() -> None:
    table = Table(
        queue("p", "Open"),
        queue("x", "Open", "p"),
        queue("y", "Closed", "p"),
        queue("z", "Open", "x"),
        command("CloseQueue", "p"),
    )
    table.settled()
    assert {n: table.status(n)["state"] for n in "pxyz"} == dict.fromkeys("pxyz", "Closed")
    table.put(command("OpenQueue", "x"))
    table.settled()
    assert table.status("x")["state"] == "Closed"
    table.put(command("OpenQueue", "p"))
    table.settled()
    assert {n: table.status(n)["state"] for n in "pxyz"} == {"p": "Open", "x": "Open", "y": "Closed", "z": "Open"}
    assert CLOSED_BY_PARENT not in table.objects["Queue", "x"]["metadata"]["annotations"]


def test_the_root_is_not_closed_and_a_command_to_somebody_else_is_only_taken_away_where_it_is_of_a_queue() -> None:
    table = Table(command("CloseQueue", "root"), command("RestartJob", "j", "Job"))
    table.settled()
    assert table.status("root")["state"] == "Open"
    assert [key for kind, key in table.objects if kind == "Command"] == ["ns/restartjob-j"]


def test_a_queue_that_is_gone_is_forgotten() -> None:
    table = Table(queue("q"))
    table.remove(Queue, "q")
    assert "status q" not in table.settled()


class Mine(OwnGangs):
    """Beside another scheduler, some pod groups are Kumi's."""

    def __init__(self, *groups: str) -> None:
        super().__init__(OWN_NAMES)
        self._met = dict.fromkeys(groups)


def beside(own: OwnGangs, *manifests: JsonObject) -> Table:
    table = Table()
    table.decider = GangQueues(table.state, own)
    for manifest in (queue("default", "Open"), queue("root", "Open"), *manifests):
        table.put(manifest)
    return table


def test_beside_another_scheduler_a_queue_with_pod_groups_of_its_and_those_above_are_left_to_it() -> None:
    own = Mine("ns/a", "ns/b")
    table = beside(
        own,
        queue("p", "Open"),
        queue("q", "Open", "p"),
        queue("mine", "Open"),
        group("a", "q", "Running"),
        group("their", "q", "Running"),
        group("b", "mine", "Running"),
        command("CloseQueue", "q"),
    )
    assert table.settled() == ["status mine"]
    assert table.status("mine")["running"] == 1
    assert ("Command", "ns/closequeue-q") in table.objects
    table.remove(PodGroup, "ns/their")
    assert sorted(table.settled()) == ["command ns/closequeue-q"]


def test_beside_another_scheduler_nobody_is_contradicted_for_ever() -> None:
    own = Mine("ns/a")
    table = beside(own, queue("q", "Open"), group("a", "q", "Running"))
    assert table.settled() == ["status q"]
    table.put({**table.objects["Queue", "q"], "status": {"state": "Open", "allocated": {"cpu": "0"}}})
    assert table.settled() == []
    table.put(group("a", "q", "Completed"))
    assert table.settled() == ["status q"]


def test_beside_another_scheduler_an_empty_queue_is_told_of_only_where_it_says_nothing_or_what_is_not_so() -> None:
    own = Mine()
    table = beside(own, queue("new"), queue("left", "Open", running=1), queue("idle", "Open", allocated={"cpu": "0"}))
    assert table.settled() == ["status left", "status new"]
