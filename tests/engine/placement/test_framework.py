"""Framework: what plug-ins say together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cmp_to_key
from itertools import product
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.model import NodeUsage, Pod
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.hooks import Vote
from kumi.engine.placement.tasks import Status
from kumi.engine.reasons import Code, Reason
from kumi.testing.builders import node, pod
from kumi.testing.gangs import Scene, conf, gang, line, option, task

Answers: TypeAlias = dict[str, Callable[..., Any]]
ALL = ("gang", "priority", "drf", "proportion", "capacity", "sla", "tdm")


class Saying:
    """A plug-in, configured and opened at once, that gives these answers: hook -> function."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def configured(self, option: Option) -> Saying:
        return self

    def open(self, session: Framework) -> Any:
        def method(answer: Callable[..., Any]) -> Callable[..., Any]:
            return lambda _, *rest: answer(*rest)

        return type("Opened", (), {hook: method(answer) for hook, answer in self._answers.items()})()


def framework(scene: Scene, *tiers: Sequence[Answers], without: tuple[str, ...] = ()) -> Framework:
    """A session with plug-ins that give these answers."""
    plugins: dict[str, Any] = {}
    named = []
    for number, tier in enumerate(tiers):
        by_name = {f"{number}-{place}": Saying(answers) for place, answers in enumerate(tier)}
        plugins |= by_name
        named.append(tuple(option(name, without=without) for name in by_name))
    return Framework(scene.around, conf(*named), plugins)


def names(pods: Sequence[Pod]) -> list[str]:
    return [p.name for p in pods]


CROWD = [pod(f"ns/{n}") for n in "abcd"]


def victims(*tiers: Sequence[str | None]) -> list[str]:
    """Whom tiers of plug-ins name together that name these letters; None has no opinion."""

    def named(letters: str | None) -> Answers:
        return {
            "preemptable": lambda _, candidates: (
                None if letters is None else [p for p in candidates if p.name in letters]
            )
        }

    at = framework(Scene(), *([named(letters) for letters in tier] for tier in tiers))
    return names(at.preemptable(CROWD[0], CROWD))


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    scene = Scene(node("n1", cpu=8, memory="8Gi", gpu=4), node("n2", cpu=2), now_ms=10_000)
    for name in ("q", "r", "s"):
        deserved = {"cpu": draw(st.integers(0, 3))}
        priority = draw(st.integers(0, 1))
        scene.put(line(name, created_ms=draw(st.integers(0, 1)), deserved=deserved, priority=priority))
    for name in "abcd":
        queue = draw(st.sampled_from("qrs"))
        fields: dict[str, Any] = {"least": draw(st.integers(0, 2)), "created_ms": draw(st.integers(0, 1))}
        if draw(st.booleans()):
            fields["waiting_ms"] = draw(st.sampled_from([1, 20_000]))
        scene.put(gang(name, queue, preemptable=draw(st.sampled_from([None, True])), **fields))
        for number in range(draw(st.integers(0, 2))):
            where = draw(st.sampled_from(["", "n1"]))
            made = task(f"{name}-{number}-{draw(st.integers(0, 1))}", name, cpu=draw(st.integers(0, 2)), node=where)
            scene.put(replace(made, member=replace(made.member, priority=draw(st.sampled_from([None, 3])))))
    return scene


@given(scenes(), st.lists(st.sampled_from(("gang", "priority", "task-topology")), unique=True), st.data())
def test_tasks_stand_in_line_as_a_heap_gives_them(scene: Scene, plugins: list[str], data: st.DataObject) -> None:
    made = [
        replace(task(f"{name}{tail}", "a", created_ms=data.draw(st.integers(0, 1))), uid=f"u{number}")
        for number, (name, tail) in enumerate(
            data.draw(
                st.lists(st.tuples(st.sampled_from(["x", "x-y", "z-z"]), st.sampled_from(["", "-1", "-02", "-b"])))
            )
        )
    ]
    at = scene.open(*plugins)
    line, heap = at.in_line(made), Heap(at.task_less, made)
    assert [line.pop() for _ in range(len(line))] == [heap.pop() for _ in range(len(heap))]


@given(scenes(), st.lists(st.sampled_from(ALL), unique=True))
def test_keys_order_gangs_as_comparing_them_plug_in_by_plug_in_does(scene: Scene, plugins: list[str]) -> None:
    at, plain = scene.open(*plugins), scene.open(*plugins)
    plain._job_keys = None
    jobs = list(at.jobs())
    for job in jobs:
        for uid in list(job.by_status.get(Status.PENDING, ())):
            assert [at.job_compare(a, b) for a in jobs for b in jobs] == [
                plain.job_compare(a, b) for a in jobs for b in jobs
            ]
            at.tasks.move(uid, Status.ALLOCATED, "n1")


def is_total(items: Sequence[Any], compare: Callable[[Any, Any], int]) -> None:
    for a, b in product(items, items):
        assert (compare(a, b) > 0) == (compare(b, a) < 0)
        assert (compare(a, b) == 0) == (a is b)
    for a, b, c in product(items, items, items):
        if compare(a, b) < 0 and compare(b, c) < 0:
            assert compare(a, c) < 0


@given(scenes(), st.lists(st.sampled_from(ALL), unique=True))
def test_gangs_queues_and_tasks_have_one_order(scene: Scene, plugins: list[str]) -> None:
    at = scene.open(*plugins)
    is_total(list(at.jobs()), at.job_compare)
    is_total(list(at.tasks.queues.values()), at.queue_compare)
    is_total(list(at.tasks.pods.values())[:5], at.task_compare)


@given(scenes(), st.lists(st.sampled_from(ALL), unique=True))
def test_the_order_of_victims_is_one_order(scene: Scene, plugins: list[str]) -> None:
    at = scene.open(*plugins)
    pods, preemptor = list(at.tasks.pods.values()), scene.job("a")

    def compare(one: Pod, other: Pod) -> int:
        return at.victim_compare(one, other, preemptor)

    is_total(pods[:5], compare)
    assert at.sorted_victims(pods, preemptor) == sorted(pods, key=cmp_to_key(compare))


def test_a_gang_without_its_queue_does_not_count() -> None:
    scene = Scene(gang("a", "nowhere"), gang("b", "q"), line("q"), task("c-0", "c"))
    assert [job.key for job in scene.open().jobs()] == ["ns/b"]


def test_the_first_plugin_with_an_opinion_orders() -> None:
    scene = Scene(line("q"), gang("a"), gang("b"))
    one, other = scene.job("a"), scene.job("b")
    silent, backwards = {"job_order": lambda a, b: 0}, {"job_order": lambda a, b: 1 if a.key < b.key else -1}
    assert framework(scene, [silent], [backwards]).job_less(other, one)
    assert framework(scene, [silent, silent]).job_less(one, other)
    assert framework(scene, [backwards], without=("enableJobOrder",)).job_less(one, other)


def test_victims_are_what_a_tier_has_in_common() -> None:
    assert victims(["abc", "bcd"]) == ["b", "c"]
    assert victims(["abc", None]) == ["a", "b", "c"]


def test_the_first_tier_that_names_somebody_decides_alone() -> None:
    assert victims(["a"], ["b"]) == ["a"]
    assert victims([None], ["b"]) == ["b"]
    assert victims(["", "abcd"], ["b"]) == ["b"]  # who names nobody ends the tier


def test_where_nothing_is_left_in_common_the_next_starts_anew() -> None:
    assert victims(["a", "b", "cd"]) == ["c", "d"]
    assert victims(["a", "b"], ["c"]) == ["c"]


def test_victim_tasks_are_all_that_the_first_such_tier_names() -> None:
    scene = Scene()

    def named(letters: str) -> Answers:
        return {"victim_tasks": lambda running: [p for p in running if p.name in letters]}

    assert names(framework(scene, [named("")], [named("a"), named("ac")], [named("d")]).victim_tasks(CROWD)) == [
        "a",
        "c",
    ]
    assert framework(scene, [named("")]).victim_tasks(CROWD) == []


@pytest.mark.parametrize(
    ("tiers", "answer"),
    [
        ([[Vote.ABSTAIN]], True),
        ([[Vote.ABSTAIN], [Vote.REJECT]], False),
        ([[Vote.PERMIT], [Vote.REJECT]], True),
        ([[Vote.PERMIT, Vote.REJECT]], False),
        ([[Vote.ABSTAIN, Vote.PERMIT], [Vote.REJECT]], True),
        ([], True),
    ],
)
def test_votes(tiers: list[list[Vote]], answer: bool) -> None:
    scene = Scene(line(), gang("a"))
    at = framework(scene, *([{"job_pipelined": lambda _, v=v: v} for v in tier] for tier in tiers))
    assert at.job_pipelined(scene.job("a")) is answer


def test_the_first_tier_that_knows_says_who_is_starving() -> None:
    scene = Scene(line(), gang("a"))
    job = scene.job("a")

    def starving(*answers: bool) -> list[Answers]:
        return [{"job_starving": lambda _, said=said: said} for said in answers]

    assert framework(scene, [{}], starving(True, True), starving(False)).job_starving(job)
    assert not framework(scene, starving(True, False), starving(True)).job_starving(job)
    assert not framework(scene, [{}]).job_starving(job)


def test_one_plugin_is_enough_for_overused_and_all_must_agree_on_the_rest() -> None:
    scene = Scene(line(), gang("a"))
    queue, job, one = scene.queue("q"), scene.job("a"), pod("ns/p")
    yes, no = (lambda *_: True), (lambda *_: False)
    for hook, asked in (
        ("allocatable", lambda at: at.allocatable(queue, one)),
        ("preemptive", lambda at: at.preemptive(queue, ())),
        ("job_ready", lambda at: at.job_ready(job)),
    ):
        assert not asked(framework(scene, [{hook: yes}], [{hook: no}]))
        assert asked(framework(scene, [{hook: yes}], [{hook: yes}]))
        assert asked(framework(scene, [{}]))
    assert framework(scene, [{"overused": no}], [{"overused": yes}]).overused(queue)
    assert not framework(scene, [{}]).overused(queue)


def test_the_first_reason_says_why_a_gang_is_not_valid() -> None:
    scene = Scene(line(), gang("a"))
    reasons = [Reason(Code.GANG_INCOMPLETE, need=n) for n in (1, 2)]
    tiers = [[{"job_valid": lambda _: None}], *([{"job_valid": lambda _, r=r: r}] for r in reasons)]
    assert framework(scene, *tiers).job_valid(scene.job("a")) == reasons[0]
    assert framework(scene, tiers[0]).job_valid(scene.job("a")) is None


def test_victims_of_a_queue_are_taken_in_the_reverse_of_their_order() -> None:
    scene = Scene(line("q"), line("r", created_ms=1), gang("a"), gang("b"), gang("c", "r"), gang("me"))
    scene.put(*(task(n, n[0], node="n") for n in ("a-0", "a-1", "b-0", "c-0")), node("n"))
    at, me = scene.open(), scene.job("me")
    a0, a1, b0, c0 = (scene.pod(n) for n in ("a-0", "a-1", "b-0", "c-0"))
    assert at.victim_less(a1, a0, me)
    assert at.victim_less(b0, a1, me)
    assert at.victim_less(c0, b0, me)  # the later queue gives first


def test_the_total_is_what_nodes_have_and_pods_only_where_they_say_how_many() -> None:
    scene = Scene(node("n1", cpu=2, gpu=1), node("n2", cpu=1, pods=10))
    assert scene.open().total() == {"cpu": 3000, "nvidia.com/gpu": 1000, "pods": 120_000}


def test_a_plugin_that_is_not_there_has_no_say() -> None:
    scene = Scene(line(), gang("a", least=5))
    assert scene.open("nobody").job_ready(scene.job("a"))
    assert not scene.open("gang").job_ready(scene.job("a"))


def test_the_earliest_plugin_wakes_the_scheduler() -> None:
    scene = Scene()
    wakes = [{"wake_ms": lambda ms=ms: ms} for ms in (None, 9, 4)]
    assert framework(scene, wakes).wake_ms() == 4
    assert framework(scene, [{}]).wake_ms() is None


@given(scenes(), st.lists(st.sampled_from(["priority", "drf", "least_slack", "gang"]), max_size=3, unique=True))
def test_gangs_stand_in_order_as_a_heap_gives_them(scene: Scene, plugins: list[str]) -> None:
    session = scene.open(*plugins)
    heap = Heap(session.job_less, session.jobs())
    assert [job.key for job in session.jobs_in_order(session.jobs())] == [heap.pop().key for _ in range(len(heap))]


def test_a_plugin_asks_alone_where_no_other_has_the_hook() -> None:
    scene = Scene(line())
    assert scene.open("gang", "priority").asks_alone("gang", "job_ready")
    assert not scene.open("gang", "priority").asks_alone("gang", "job_starving")
    assert not scene.open("priority").asks_alone("gang", "job_ready")


def test_of_a_run_a_plugin_hears_at_once_where_it_can_and_else_of_one_after_the_other() -> None:
    heard: list[object] = []
    singly = {"seated": lambda task, row, times: heard.append((task.name, row, times))}
    at_once = {**singly, "seated_run": lambda tasks, rows: heard.append((names(tasks), list(rows)))}
    session = framework(Scene(line()), [singly, at_once])
    session.seated_run(CROWD[:2], [5, 7])
    assert heard == [("a", 5, 1), ("b", 7, 1), (["a", "b"], [5, 7])]


def test_nodes_that_a_plugin_without_a_word_refuses_are_told_by_its_name_besides_what_others_say() -> None:
    labels = {"volcano.sh/nodegroup-name": "other"}
    nodes = (node("busy", cpu=4), node("full"), node("theirs", cpu=4, labels=labels), node("both", labels=labels))
    scene = Scene(line(), *nodes, NodeUsage("busy", 99.0, 0.0, 0), gang("g"), task("t", "g", cpu=2))
    told = scene.open("predicates", option("nodegroup", strict=False), "usage").refusals(scene.pod("t"))
    assert [(r.code, r.nodes, r.detail) for r in told] == [
        (Code.NODE_TOO_SMALL, 2, ""),
        (Code.NODE_NOT_MATCHED, 1, "nodegroup"),
        (Code.NODE_NOT_MATCHED, 1, "usage"),
    ]
    assert [r.detail for r in scene.open(option("usage", without=("enablePredicate",))).refusals(scene.pod("t"))] == []


def test_who_turned_a_gang_away_is_as_the_first_that_said_no_and_tells_has_it_else_its_queue() -> None:
    scene = Scene(line(), node("n", cpu=4), gang("a", needs={"cpu": 9}))
    assert scene.open("proportion", "overcommit").turned_away(scene.job("a")) is Code.NODES_CLAIMED
    assert scene.open(("gang",)).turned_away(scene.job("a")) is Code.NOT_LET_IN
    scene.put(line(capability={"cpu": 3}), gang("a", needs={"cpu": 4}))
    assert scene.open("overcommit", "proportion").turned_away(scene.job("a")) is Code.NOT_LET_IN


def test_a_queue_withholds_only_what_a_plug_in_says_no_to() -> None:
    scene = Scene(line(capability={"cpu": 1}), node("n", cpu=4), gang("a"), task("a-0", "a", cpu=2))
    assert scene.open("proportion").withholds(scene.queue("q"), scene.pod("a-0"))
    assert not scene.open("gang").withholds(scene.queue("q"), scene.pod("a-0"))
    scene.put(line())
    assert not scene.open("proportion").withholds(scene.queue("q"), scene.pod("a-0"))
