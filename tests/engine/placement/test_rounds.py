"""Rounds: a session leaves the tables as they were, and never gives more than there is."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.gangs import Phase
from kumi.engine.placement import rounds
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.tasks import READY, Status
from kumi.testing.builders import node
from kumi.testing.diagram import _plain
from kumi.testing.gangs import Scene, Tier, conf, gang, line, task

USUAL: tuple[Tier, ...] = (("priority", "gang", "conformance"), ("overcommit", "drf", "predicates", "proportion"))
ACTIONS = "enqueue allocate backfill preempt reclaim shuffle"
NODES = {"n1": 4, "n2": 2}


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Two queues, four gangs, two nodes on which what runs fits."""
    scene = Scene(*(node(name, cpu=cpu, memory="8Gi", pods=9) for name, cpu in NODES.items()))
    scene.put(line("q", capability={"cpu": draw(st.integers(2, 6))}), line("r", weight=draw(st.integers(1, 3))))
    left = dict(NODES)
    for name in "abcd":
        size = draw(st.integers(1, 3))
        phase = draw(st.sampled_from([Phase.NEW, Phase.PENDING, Phase.INQUEUE]))
        needs = draw(st.sampled_from([None, {"cpu": 1}]))
        least = draw(st.integers(0, size))
        scene.put(gang(name, draw(st.sampled_from("qr")), least=least, needs=needs, phase=phase))
        for number in range(size):
            where, cpu = draw(st.sampled_from(["", "n1", "n2"])), draw(st.integers(0, 2))
            where = where if cpu <= left.get(where, 0) else ""
            left[where] = left.get(where, 0) - cpu
            scene.put(task(f"{name}-{number}", name, cpu=cpu, node=where))
    return scene


@given(scenes())
@settings(max_examples=60)
def test_a_session_leaves_the_tables_as_they_were_and_overfills_nothing(scene: Scene) -> None:
    before = _plain(scene.state.tasks), _plain(scene.state.nodes)
    done = scene.run(ACTIONS, *USUAL)
    assert (_plain(scene.state.tasks), _plain(scene.state.nodes)) == before
    pods = scene.state.tasks.pods
    used: Counter[str] = Counter()
    for uid, status in done.status.items():
        if status in (*READY, Status.RELEASING) and status is not Status.SUCCEEDED:
            used[done.node[uid]] += dict(pods[uid].shape.requests).get("cpu", 0)
    assert all(amount <= 1000 * NODES[name] for name, amount in used.items())
    evicted = {uid for uid, _ in done.outcome.evictions}
    assert all(pods[uid].node for uid in evicted)
    assert not evicted & {uid for uid, _ in done.outcome.binds}


@given(scenes())
@settings(max_examples=60)
def test_a_gang_that_is_bound_has_its_minimum(scene: Scene) -> None:
    done = scene.run("enqueue allocate backfill", *USUAL)
    for key in {scene.pod(uid).member.group for uid, _ in done.outcome.binds}:
        job = scene.state.tasks.jobs[key]
        assert job.group is not None
        assert sum(done.status[uid] in READY for uid in job.tasks) >= job.group.least


@given(scenes())
@settings(max_examples=20)
def test_the_same_tables_give_the_same_session(scene: Scene) -> None:
    assert scene.run(ACTIONS, *USUAL) == scene.run(ACTIONS, *USUAL)


def test_actions_run_in_the_order_of_the_file() -> None:
    scene = Scene(line(), node("n", cpu=1), gang("a", needs={"cpu": 1}, phase=Phase.PENDING), task("a-0", "a", cpu=1))
    assert scene.run("enqueue allocate", "gang", "predicates").outcome.binds == [("a-0", "n")]
    late = scene.run("allocate enqueue", "gang", "predicates")
    assert late.outcome.binds == []
    assert late.phases == {"ns/a": Phase.INQUEUE}


def test_places_that_are_given_and_not_committed_are_promised() -> None:
    scene = Scene(line(), node("n", cpu=2), gang("a", least=2, phase=Phase.INQUEUE))
    scene.put(gang("old"), task("old-0", "old", cpu=1, node="n", terminating=True))
    scene.put(task("a-0", "a", cpu=1), task("a-1", "a", cpu=1))
    done = scene.run("allocate", "gang", "predicates")
    assert done.outcome.binds == []
    assert done.promised == {"a-0": "n", "a-1": "n"}
    assert [done.status[uid] for uid in ("a-0", "a-1")] == [Status.ALLOCATED, Status.PIPELINED]


@given(scenes(), st.sets(st.sampled_from("abcd")))
@settings(max_examples=40)
def test_what_is_said_of_some_is_what_is_said_of_them_among_all(scene: Scene, names: set[str]) -> None:
    said = conf(*USUAL, actions=tuple(ACTIONS.split()))
    every = rounds.run(scene.around, said, PLUGINS)
    for key in list(scene.state.tasks.touched):
        scene.state.journal.drop(scene.state.tasks.touched, key)
    touched = {f"ns/{name}" for name in names}
    some = rounds.run(scene.around, said, PLUGINS, touched=touched)
    assert some.outcome == every.outcome
    assert some.promised == every.promised
    assert some.phases == {key: phase for key, phase in every.phases.items() if key in some.phases}
    assert some.reasons == {key: why for key, why in every.reasons.items() if key in some.phases}
    moved = {scene.pod(uid).member.group for uid, _ in (*every.outcome.binds, *every.outcome.evictions)}
    assert set(some.phases) >= touched | moved
