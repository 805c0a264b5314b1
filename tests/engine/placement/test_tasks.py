"""Tasks: the sums that are kept are the sums that counting again gives, whatever happens."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import DisruptionBudget, Member, NamespaceQuota, Phase, PodGroup, PriorityClass, Queue
from kumi.engine.journal import Journal
from kumi.engine.model import Pod
from kumi.engine.placement.tasks import (
    COUNTED,
    HOLDING,
    OUTSIDE,
    Job,
    Status,
    Tasks,
    best_effort,
    request,
    status_of,
    task_priority,
)
from kumi.testing.builders import pod
from kumi.testing.diagram import _plain
from kumi.testing.gangs import gang, line, task

GROUPS, NODES, QUEUES = ("a", "b"), ("", "n1", "n2"), ("q", "r")
PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[object, ...]]:
    pods = st.builds(
        lambda name, group, role, cpu, phase, leaving: replace(
            task(f"p{name}", group, cpu=cpu, role=role, phase=phase), terminating=leaving
        ),
        st.integers(0, 4),
        st.sampled_from(GROUPS),
        st.sampled_from(["", "w"]),
        st.sampled_from([0, 1, 2]),
        st.sampled_from(PHASES),
        st.booleans(),
    )
    put = st.tuples(st.just("put"), pods, st.sampled_from(NODES))
    gone = st.tuples(st.just("gone"), st.integers(0, 4))
    move = st.tuples(st.just("move"), st.integers(0, 4), st.sampled_from(list(Status)), st.sampled_from(NODES))
    group = st.tuples(
        st.just("group"),
        st.sampled_from(GROUPS),
        st.sampled_from(QUEUES),
        st.sampled_from(["", "high"]),
        st.sampled_from(Phase),
    )
    run = st.tuples(st.just("run"), st.sampled_from(GROUPS), st.sampled_from(list(Status)), st.sampled_from(NODES[1:]))
    ungroup = st.tuples(st.just("ungroup"), st.sampled_from(GROUPS))
    one = st.one_of(put, put, move, move, run, group, gone, ungroup)
    return draw(st.lists(one, max_size=14))


def follow(tasks: Tasks, many: list[tuple[object, ...]]) -> None:
    for step in many:
        match step:
            case ("put", Pod() as made, str() as node):
                tasks.put_pod(made, node)
            case ("gone", int() as number):
                tasks.remove_pod(f"p{number}")
            case ("move", int() as number, Status() as status, str() as node) if f"p{number}" in tasks.pods:
                tasks.move(f"p{number}", status, node)
            case ("group", str() as name, str() as queue, str() as said, Phase() as phase):
                tasks.put(gang(name, queue, priority_class=said, phase=phase))
            case ("run", str() as name, Status() as status, str() as node) if f"ns/{name}" in tasks.jobs:
                run = next(iter(alike(tasks, tasks.jobs[f"ns/{name}"])), [])
                if run and any(one.uid in tasks.node for one in run):
                    tasks.turn_run(run, status)
                elif run:
                    tasks.seat_run(run, status, [NODES[1 + at % 2] if at else node for at in range(len(run))])
            case ("ungroup", str() as name):
                tasks.remove(PodGroup, f"ns/{name}")


def alike(tasks: Tasks, job: Job) -> list[list[Pod]]:
    """Tasks of one role, shape and status."""
    found: dict[tuple[object, ...], list[Pod]] = {}
    for uid in sorted(job.tasks):
        one = tasks.pods[uid]
        found.setdefault((one.member.role, one.shape, tasks.status[uid], one.member.priority), []).append(one)
    return list(found.values())


def recounted(tasks: Tasks, job: Job, statuses: tuple[Status, ...]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for uid in job.tasks:
        if tasks.status[uid] in statuses:
            total.update(dict(request(tasks.pods[uid])))
    return dict(total)


def check(tasks: Tasks) -> None:
    asked = (*COUNTED, Status.PENDING)
    by_queue: dict[str, Counter[str]] = {}
    waiting: dict[str, Counter[str]] = {}
    for job in tasks.jobs.values():
        assert job.allocated == recounted(tasks, job, COUNTED)
        assert job.held == recounted(tasks, job, HOLDING)
        assert job.asked == recounted(tasks, job, asked)
        assert job.wanted == recounted(tasks, job, tuple(Status))
        pods = {uid: tasks.pods[uid] for uid in job.tasks}
        for status in Status:
            assert set(job.by_status.get(status, ())) == {u for u in pods if tasks.status[u] is status}
            for role in ("", "w"):
                here = [p for p in pods.values() if p.member.role == role and tasks.status[p.uid] is status]
                assert job.role_count(role, status) == len(here)
                if status is Status.PENDING:
                    assert job.free.get(role, 0) == sum(best_effort(p) for p in here)
        assert job.group is not None or job.tasks, "nothing is kept of a gang that isn't there"
        if job.group is not None:
            by_queue.setdefault(job.group.queue, Counter()).update(job.allocated)
            waiting.setdefault(job.group.queue, Counter()).update(job.asked)
            assert job.key in tasks.of_queue[job.group.queue]
    for queue in QUEUES:
        in_it = {job.key for job in tasks.jobs.values() if job.group is not None and job.group.queue == queue}
        assert set(tasks.of_queue.get(queue, ())) == in_it
        assert tasks.allocated.get(queue, {}) == dict(by_queue.get(queue, {}))
        assert tasks.asked.get(queue, {}) == dict(waiting.get(queue, {}))
    ranks: dict[tuple[str, str, int], Counter[str]] = {}
    for uid, node in tasks.node.items():
        group = tasks.jobs[tasks.pods[uid].member.group].group
        place = (group.queue, group.priority_class) if group is not None else ("", "")
        rank = (*place, task_priority(tasks.pods[uid].member))
        ranks.setdefault(rank, Counter())[node] += 1
    assert tasks.ranks == ranks
    outside = {job.key for job in tasks.jobs.values() if job.group is not None and job.group.phase in OUTSIDE}
    assert set(tasks.outside) == outside
    assert set(tasks.waiting) == {job.key for job in tasks.jobs.values() if job.by_status.get(Status.PENDING)}
    seats = {(node, uid) for node, uids in tasks.on_node.items() for uid in uids}
    assert seats == {(node, uid) for uid, node in tasks.node.items()}


@given(steps(), steps(), steps())
def test_sums_are_what_counting_again_gives_also_after_a_lost_trial(
    before: list[tuple[object, ...]], lost: list[tuple[object, ...]], after: list[tuple[object, ...]]
) -> None:
    journal = Journal()
    tasks = Tasks(journal)
    follow(tasks, before)
    check(tasks)
    was = _plain(tasks)
    with journal.trial():
        follow(tasks, lost)
        check(tasks)
    assert _plain(tasks) == was
    with journal.trial() as trial:
        follow(tasks, after)
        trial.commit()
    check(tasks)


@given(steps(), steps())
def test_a_stamp_stands_for_one_content_of_the_sums(
    lost: list[tuple[object, ...]], kept: list[tuple[object, ...]]
) -> None:
    journal = Journal()
    tasks = Tasks(journal)
    seen: dict[int, object] = {}

    def look() -> None:
        sums = {key: (dict(job.allocated), dict(job.wanted)) for key, job in sorted(tasks.jobs.items()) if job.tasks}
        assert seen.setdefault(tasks.stamp, sums) == sums

    for many in (lost, kept):
        with journal.trial() as trial:
            for step in many:
                follow(tasks, [step])
                look()
            if many is kept:
                trial.commit()
        look()


@pytest.mark.parametrize(
    ("phase", "terminating", "node", "status"),
    [
        ("Pending", False, "", Status.PENDING),
        ("Pending", True, "", Status.RELEASING),
        ("Pending", False, "n", Status.BOUND),
        ("Pending", True, "n", Status.RELEASING),
        ("Running", False, "n", Status.RUNNING),
        ("Running", True, "n", Status.RELEASING),
        ("Succeeded", False, "n", Status.SUCCEEDED),
        ("Failed", True, "n", Status.FAILED),
        ("Unknown", False, "n", Status.UNKNOWN),
    ],
)
def test_the_status_is_the_pods_phase_node_and_end(phase: str, terminating: bool, node: str, status: Status) -> None:
    assert status_of(pod("ns/p", phase=phase, terminating=terminating), node) is status


def test_a_pod_counts_as_one_of_pods_besides_what_it_asks_for() -> None:
    assert request(pod("ns/p", cpu=1, gpu=0)) == (("pods", 1000), ("cpu", 1000))


def test_a_pod_that_asks_for_nothing_but_its_place_is_best_effort() -> None:
    assert best_effort(pod("ns/p", cpu=0, pods=1))
    assert not best_effort(pod("ns/p", memory=1))


def test_a_task_without_a_priority_has_1() -> None:
    assert [task_priority(Member(priority=said)) for said in (None, 0, 7)] == [1, 0, 7]


def test_a_gangs_priority_is_that_of_its_class_else_the_defaults_else_0() -> None:
    tasks = Tasks(Journal())
    tasks.put(gang("a", priority_class="high"))
    job = tasks.jobs["ns/a"]
    assert tasks.priority(job) == 0
    tasks.put(PriorityClass("usual", 5, default=True))
    assert tasks.priority(job) == 5
    tasks.put(PriorityClass("high", 100))
    assert tasks.priority(job) == 100
    tasks.remove(PriorityClass, "high")
    assert tasks.priority(job) == 5


@pytest.mark.parametrize(
    "noun", [line("q"), gang("a"), PriorityClass("c", 1), DisruptionBudget("ns/b", ()), NamespaceQuota("ns/q")]
)
def test_what_is_put_is_known_until_it_is_removed(noun: Queue) -> None:
    tasks = Tasks(Journal())
    assert tasks.known(noun) is None
    tasks.put(noun)
    assert tasks.known(noun) == noun
    tasks.remove(type(noun), getattr(noun, "key", "") or noun.name)
    assert tasks.known(noun) is None


def test_a_pod_that_leaves_its_gang_takes_its_sums_along() -> None:
    tasks = Tasks(Journal())
    tasks.put_pod(task("p", "a", cpu=1), "")
    tasks.put_pod(task("p", "b", cpu=1), "")
    assert list(tasks.jobs) == ["ns/b"]
    tasks.put_pod(pod("ns/p", uid="p"), "")
    assert tasks.jobs == {}


def test_a_gang_that_goes_to_another_queue_takes_its_sums_along() -> None:
    tasks = Tasks(Journal())
    tasks.put(gang("a", "q"))
    tasks.put_pod(task("runs", "a", cpu=2, phase="Running"), "n1")
    tasks.put_pod(task("waits", "a", cpu=1), "")
    had, asked = tasks.allocated["q"], tasks.asked["q"]
    assert (had["cpu"], asked["cpu"]) == (2000, 3000)
    tasks.put(gang("a", "r"))
    assert (tasks.allocated["q"], tasks.asked["q"], dict(tasks.of_queue["q"])) == ({}, {}, {})
    assert (tasks.allocated["r"]["cpu"], tasks.asked["r"]["cpu"], list(tasks.of_queue["r"])) == (2000, 3000, ["ns/a"])
    check(tasks)


def test_a_pod_that_is_seen_on_a_node_or_at_its_end_stands_there_from_then_on() -> None:
    tasks = Tasks(Journal())
    tasks.put(gang("a", "q"))
    for phase, node, status in (
        ("Pending", "", Status.PENDING),
        ("Pending", "n1", Status.BOUND),
        ("Running", "n1", Status.RUNNING),
        ("Succeeded", "n1", Status.SUCCEEDED),
    ):
        tasks.put_pod(task("p", "a", cpu=1, phase=phase), node)
        assert (tasks.status["p"], tasks.node.get("p", "")) == (status, node)
        check(tasks)


@given(steps(), st.sampled_from(list(Status)), st.sampled_from(NODES[1:]))
def test_a_run_is_moved_as_its_tasks_would_be_one_by_one(
    before: list[tuple[object, ...]], status: Status, node: str
) -> None:
    at_once, singly = Tasks(Journal()), Tasks(Journal())
    for tasks in (at_once, singly):
        follow(tasks, before)
    for job in list(at_once.jobs.values()):
        for run in alike(at_once, job):
            if any(one.uid in at_once.node for one in run):
                at_once.turn_run(run, status)
                for one in run:
                    singly.move(one.uid, status, singly.node.get(one.uid, ""))
            else:
                at_once.seat_run(run, status, [node] * len(run))
                for one in run:
                    singly.move(one.uid, status, node)
    check(at_once)
    assert at_once.status == singly.status
    assert at_once.node == singly.node


def test_a_phase_that_is_set_lets_in() -> None:
    tasks = Tasks(Journal())
    tasks.put(gang("a"))
    assert list(tasks.outside) == ["ns/a"]
    tasks.set_phase(tasks.jobs["ns/a"], Phase.INQUEUE)
    assert tasks.outside == {}
    tasks.set_phase(tasks.jobs["ns/a"], Phase.PENDING)
    assert list(tasks.outside) == ["ns/a"]


def test_a_pod_that_is_another_gives_its_gang_another_stamp_and_one_that_is_the_same_does_not() -> None:
    tasks = Tasks(Journal())
    tasks.put(gang("g"))
    tasks.put_pod(task("p", "g"), "")
    job = tasks.jobs["ns/g"]
    before = job.stamp
    tasks.put_pod(task("p", "g"), "")
    assert job.stamp == before
    tasks.put_pod(replace(task("p", "g"), gated=True), "")
    assert job.stamp != before


def test_what_follows_from_a_gang_is_made_once_for_each_content_of_it() -> None:
    journal, made = Journal(), list[int]()
    tasks = Tasks(journal)
    tasks.put(gang("g"))
    job = tasks.jobs["ns/g"]

    def count() -> int:
        made.append(len(job.tasks))
        return made[-1]

    assert [job.once("n", count), job.once("n", count)] == [0, 0]
    with journal.trial():
        tasks.put_pod(task("p", "g"), "")
        assert job.once("n", count) == 1
    assert job.once("n", count) == 0
    tasks.put(gang("g", least=2))
    assert job.once("n", count) == 0
    assert [job.once("n", count, 1), job.once("n", count, 1)] == [0, 0]
    assert len(made) == 5


def test_what_is_thought_of_as_ended_leaves_its_queue_with_that_much_less() -> None:
    journal = Journal()
    tasks = Tasks(journal)
    tasks.put(gang("g"))
    tasks.put_pod(task("p", "g", cpu=2), "n")
    tasks.put_pod(task("q", "g", cpu=2), "n")
    before = tasks.stamp
    with journal.trial():
        tasks.end_run(tasks.pods["p"], 2)
        assert (tasks.allocated["q"], tasks.stamp == before) == ({}, False)
    assert (tasks.allocated["q"]["cpu"], tasks.stamp) == (4000, before)
