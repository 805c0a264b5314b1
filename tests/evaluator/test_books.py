"""Which job has which pods, by what is written."""

from __future__ import annotations

from typing import Any

import msgspec

from kumi.api.core import Pod
from kumi.controllers.scheduler import Scheduler
from kumi.engine.decisions import Bind, Decision, Evict
from kumi.engine.model import Profile
from kumi.evaluator.books import Books, Submitted
from kumi.evaluator.feed import News
from kumi.evaluator.heap import Heap
from kumi.evaluator.model import START_MS, Job, Role, Via, What
from kumi.testing.builders import shape
from tests.evaluator.speeds import Heard


class Desk:
    """Books of one job of three pods, and what its observers heard."""

    def __init__(self, via: Via = Via.POD, least: int | None = None, **more: Any) -> None:
        self.now_ms, self.revision = START_MS, 0
        self.heard, self.heap = Heard(), Heap[Submitted](iter([]))
        self.books = Books([self.heard], self.heap, lambda: self.now_ms)
        job = Job("ns/j", START_MS, (Role("main", 3, shape(gpu=1)),), runs_ms=10_000, least=least, **more)
        self.life = Submitted(job, via)
        self.books.arrived(self.life)
        self.pods: dict[str, Pod] = {}

    def submitted(self, *names: str) -> None:
        """Pods of it are made, and seen."""
        for number, name in enumerate(names):
            self.books.submitted(self.life, name, (0, number))
            self.seen(name)

    def seen(self, name: str, phase: str = "Pending", node: str = "", mark: str = "", owner: str = "") -> None:
        """A pod is written."""
        meta: dict[str, Any] = {"namespace": "ns", "name": name, "uid": name}
        if owner:
            meta["ownerReferences"] = [{"uid": owner, "controller": True}]
        conditions = [{"type": "DisruptionTarget", "status": "True", "reason": mark}] if mark else []
        raw = {"metadata": meta, "spec": {"nodeName": node}, "status": {"phase": phase, "conditions": conditions}}
        self._tell(name, msgspec.convert(raw, Pod))

    def runs(self, *names: str) -> None:
        """Pods get a node, and run."""
        for name in names:
            self.seen(name, node="n")
        self.books.tell_placed()
        for name in names:
            self.seen(name, "Running", "n")

    def gone(self, name: str) -> None:
        """It is no longer there."""
        self._tell(name, None)

    def _tell(self, name: str, new: Pod | None) -> None:
        self.revision += 1
        old = self.pods.get(name)
        self.books.seen(News(Pod, f"ns/{name}", old, new, self.revision))
        if new is not None:
            self.pods[name] = new
        else:
            self.pods.pop(name)


def test_it_starts_when_all_that_it_needs_runs_and_ends_when_its_time_is_over() -> None:
    desk = Desk()
    desk.submitted("a", "b", "c")
    desk.runs("a", "b")
    assert desk.heap.next_ms() is None
    desk.now_ms += 500
    desk.runs("c")
    assert [h[:2] for h in desk.heard.happenings] == [(0, "arrived"), (0, "placed"), (500, "placed"), (500, "started")]
    assert desk.heap.next_ms() == START_MS + 10_500


def test_one_that_is_left_with_too_few_is_stopped_and_the_others_are_to_go() -> None:
    desk = Desk(checkpoint_ms=1000)
    desk.submitted("a", "b", "c")
    desk.runs("a", "b", "c")
    desk.now_ms += 2500
    desk.seen("a", "Failed", "n", mark="DeletionByPodGC")
    assert desk.heard.happenings[-1] == (2500, "lost", "ns/j", 2000)
    assert [pod.metadata.name for pod in desk.books.doomed["ns/j"]] == ["b", "c"]
    assert (list(desk.books.anew), desk.life.pods, desk.heap.next_ms()) == (["ns/j"], {}, None)
    desk.gone("b")
    assert desk.heard.happenings[-1][1] == "lost"
    assert len([h for h in desk.heard.happenings if h[1] == "lost"]) == 1


def test_a_gang_that_keeps_its_minimum_goes_on() -> None:
    desk = Desk(Via.GANG, least=2)
    desk.submitted("a", "b", "c")
    desk.runs("a", "b", "c")
    desk.gone("c")
    assert desk.books.doomed == {}
    assert (sorted(desk.life.pods), list(desk.books.anew)) == (["a", "b"], ["ns/j"])
    assert desk.heap.next_ms() == START_MS + 10_000


def test_the_scheduler_s_mark_tells_preempted_from_lost() -> None:
    desk = Desk()
    desk.submitted("a", "b", "c")
    desk.runs("a", "b", "c")
    desk.seen("b", "Running", "n", mark="PreemptionByScheduler")
    desk.gone("b")
    assert desk.heard.happenings[-1][1] == "preempted"


def test_pods_of_its_job_s_controller_are_its_own_and_others_are_nobody_s() -> None:
    desk = Desk(Via.WORKLOAD)
    desk.books.owned(desk.life, "uid-of-the-job", "ns/job-j-12345")
    desk.seen("a", owner="uid-of-the-job")
    desk.seen("b", owner="uid-of-another")
    assert desk.life.pods == {"a": (0, 0)}
    assert desk.books.is_followed(desk.pods["a"])
    assert not desk.books.is_followed(desk.pods["b"])


def decided(*decisions: Decision) -> Scheduler:
    """A scheduler that has decided this."""
    scheduler = Scheduler(Profile())
    scheduler.decided = decisions
    return scheduler


def test_pods_that_nothing_tells_apart_take_the_places_of_their_workload_in_order() -> None:
    desk = Desk(Via.WORKLOAD)
    desk.books.owned(desk.life, "uid-of-the-job", "ns/job-j-12345")
    for name in ("a", "b", "c"):
        desk.seen(name, owner="uid-of-the-job")
    desk.books.decided(decided(Bind("c", "n"), Bind("a", "n")))
    assert desk.life.pods == {"c": (0, 0), "a": (0, 1), "b": (0, 2)}
    assert [d[2] for d in desk.heard.decisions] == ["ns/j/0/0", "ns/j/0/1"]


def test_what_goes_by_the_same_decisions_has_no_places_left() -> None:
    desk = Desk(Via.WORKLOAD)
    desk.books.owned(desk.life, "uid-of-the-job", "ns/job-j-12345")
    for name in ("a", "b", "c"):
        desk.seen(name, owner="uid-of-the-job")
    desk.books.decided(decided(Bind("c", "n"), Evict("ns/job-j-12345", "Preempted"), Bind("a", "n")))
    assert desk.life.pods == {}
    for name in ("d", "e"):
        desk.seen(name, owner="uid-of-the-job")
    desk.books.decided(decided(Bind("e", "n")))
    assert desk.life.pods == {"e": (0, 0), "d": (0, 1)}


def test_of_pods_in_a_queue_the_last_workload_counts() -> None:
    desk = Desk(Via.WORKLOAD)
    for key in ("ns/first", "ns/second"):
        desk.books.queued(desk.life, key)
    assert (desk.life.workload, desk.books.owns("ns/second")) == ("ns/second", False)
    desk.books.decided(decided(Evict("ns/first", "Preempted"), Evict("ns/second", "Preempted")))
    assert [d[2] for d in desk.heard.decisions] == ["ns/first", "ns/j"]
    assert list(desk.books.anew) == ["ns/j"], "nobody else makes its pods anew"


def test_one_that_has_ended_is_forgotten_and_gives_back_its_pods() -> None:
    desk = Desk()
    desk.submitted("a", "b", "c")
    desk.runs("a", "b", "c")
    desk.now_ms += 10_000
    pods = desk.books.ended(desk.life, What.FINISHED)
    assert [pod.metadata.name for pod in pods] == ["a", "b", "c"]
    assert desk.heard.happenings[-1] == (10_000, "finished", "ns/j", 10_000)
    desk.gone("a")
    assert desk.heard.happenings[-1][1] == "finished"
    assert desk.books.lives == {}


def test_a_pod_that_was_bound_and_taken_by_one_decision_was_never_placed() -> None:
    desk = Desk()
    desk.submitted("a", "b", "c")
    desk.seen("a", node="n")
    desk.gone("a")
    desk.books.tell_placed()
    assert [h[1] for h in desk.heard.happenings] == ["arrived"]
