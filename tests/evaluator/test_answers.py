"""When a scheduler in another process has settled."""

from __future__ import annotations

from typing import Any

import msgspec

from kumi.api.core import Event, Node, Pod
from kumi.evaluator.answers import Answers
from kumi.evaluator.feed import News


class Heard:
    """Answers that are told of writes, each with the next revision."""

    def __init__(self) -> None:
        self.answers = Answers("theirs")
        self.revision = 0
        self.known: dict[str, Any] = {}

    def pod(self, name: str, *, node: str = "", said: str = "", phase: str = "Pending", **spec: Any) -> None:
        """A pod came or changed; `said`: PodScheduled is False with that message."""
        conditions = (
            [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}] if said else []
        )
        spec = {"schedulerName": "theirs", "nodeName": node, **spec}
        raw = {"metadata": {"uid": name}, "spec": spec, "status": {"phase": phase, "conditions": conditions}}
        self._tell(name, msgspec.convert(raw, Pod))

    def node(self, name: str = "n", cpu: str = "4", beat: str = "") -> None:
        """A node came or changed."""
        conditions = [{"type": "Ready", "status": "True", "lastHeartbeatTime": beat}]
        raw = {"metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu}, "conditions": conditions}}
        self._tell(name, msgspec.convert(raw, Node))

    def event(self, pod: str, reason: str = "FailedScheduling") -> None:
        """An Event about a pod."""
        self._tell(f"event-{self.revision}", msgspec.convert({"involvedObject": {"uid": pod}, "reason": reason}, Event))

    def gone(self, name: str) -> None:
        """It is no longer there."""
        self._tell(name, None)

    def _tell(self, key: str, new: Any) -> None:
        self.revision += 1
        old = self.known.get(key)
        self.answers.seen(News(type(new if new is not None else old), key, old, new, self.revision))
        self.known[key] = new


def test_nobody_waits_at_first() -> None:
    assert Heard().answers.settled


def test_a_pod_wants_an_answer_or_a_node() -> None:
    heard = Heard()
    heard.pod("a")
    heard.pod("b")
    assert not heard.answers.settled
    heard.pod("a", node="n")
    assert not heard.answers.settled
    heard.pod("b", said="no room")
    assert heard.answers.settled
    assert heard.answers.given == 2
    assert (heard.answers.why("a"), heard.answers.why("b")) == ("", "no room")


def test_an_answer_from_before_room_was_made_does_not_count() -> None:
    heard = Heard()
    heard.pod("runs", node="n")
    heard.pod("a")
    heard.pod("a", said="no room")
    heard.pod("runs", node="n", phase="Succeeded")
    assert not heard.answers.settled
    heard.pod("a", said="no room")
    assert heard.answers.settled
    heard.node()
    assert not heard.answers.settled


def test_room_that_is_left_by_a_deletion_asks_for_new_answers() -> None:
    heard = Heard()
    heard.pod("runs", node="n")
    heard.pod("a")
    heard.pod("a", said="no room")
    heard.gone("runs")
    assert not heard.answers.settled


def test_that_another_pod_came_or_a_node_beat_helps_nobody() -> None:
    heard = Heard()
    heard.node()
    heard.pod("a")
    heard.pod("a", said="no room")
    heard.node(beat="2026-01-01T00:00:00Z")
    heard.pod("b")
    heard.pod("b", said="no room")
    assert heard.answers.settled
    heard.node(cpu="8")
    assert not heard.answers.settled


def test_an_event_of_the_scheduler_is_an_answer() -> None:
    heard = Heard()
    heard.pod("a")
    heard.event("a", "Pulled")
    assert not heard.answers.settled
    heard.event("a")
    assert heard.answers.settled


def test_pods_of_others_gated_ones_and_those_that_go_are_not_asked_for() -> None:
    heard = Heard()
    heard.pod("other", schedulerName="kumi")
    heard.pod("gated", schedulingGates=[{"name": "g"}])
    heard.pod("a")
    heard.gone("a")
    assert heard.answers.settled
