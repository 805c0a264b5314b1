"""Gang preempt and reclaim, least: gangs stay whole, theirs and others'."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.gangs import Phase, PriorityClass
from kumi.engine.model import Pod
from kumi.engine.placement import rounds, ways
from kumi.engine.placement.conf import Arguments
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, conf, gang, line, option, task

from .least import evicted, run

CLASSES = [PriorityClass(f"p{n}", n) for n in (1, 5, 9)]


def hall(gangs: list[tuple[int, int]], count: int, idle: int = 0) -> Scene:
    """Nodes of one cpu, one for each task of each gang (minimum, tasks), and idle ones; a gang that matters more waits."""
    made = Scene(line(), *CLASSES, *(node(f"z{n}", cpu=1) for n in range(idle)))
    for g, (least, tasks) in enumerate(gangs):
        made.put(*(node(f"g{g}-{n}", cpu=1) for n in range(tasks)))
        made.put(gang(f"g{g}", least=least, priority_class="p1", phase=Phase.RUNNING))
        made.put(*(task(f"g{g}-{n}", f"g{g}", cpu=1, node=f"g{g}-{n}") for n in range(tasks)))
    made.put(gang("h", least=count, priority_class="p9", phase=Phase.INQUEUE))
    made.put(*(task(f"h-{n}", "h", cpu=1) for n in range(count)))
    return made


def served(made: Scene, *plugins: object) -> rounds.Round:
    return run(made, "gangpreempt", "priority", "gang", *plugins)  # type: ignore[arg-type]


gangs = st.lists(
    st.integers(0, 3).flatmap(lambda least: st.tuples(st.just(least), st.integers(least or 1, 4))), max_size=3
)


@given(gangs=gangs, count=st.integers(1, 6), idle=st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_a_gang_gives_what_it_can_spare_or_goes_as_a_whole_and_only_if_it_must(
    gangs: list[tuple[int, int]], count: int, idle: int
) -> None:
    made = hall(gangs, count, idle)
    done = served(made)
    gone = [sum(uid.startswith(f"g{g}-") for uid in evicted(done)) for g in range(len(gangs))]
    if idle + sum(tasks for _, tasks in gangs) < count:
        assert sum(gone) == 0
        return
    assert [done.status[f"h-{n}"] for n in range(count)] == [Status.PIPELINED] * count
    for (least, tasks), lost in zip(gangs, gone, strict=True):
        assert tasks - lost >= least or lost == tasks
    spare = sum(tasks - least for least, tasks in gangs)
    if idle + spare >= count:
        assert sum(gone) == max(count - idle, 0)
    for (least, tasks), lost in zip(gangs, gone, strict=True):
        unit = lost if tasks - lost < least else min(lost, 1)
        assert unit == 0 or idle + sum(gone) - unit < count


def test_no_whole_gang_goes_where_the_file_forbids_it() -> None:
    made = hall([(2, 2)], 1)
    file = {"gangpreempt": {"allowWholeBundle": False}}
    assert evicted(served(made)) == ["g0-0", "g0-1"]
    assert evicted(configured(made, file)) == []


def configured(made: Scene, file: dict[str, dict[str, object]]) -> rounds.Round:
    said = replace(
        conf("priority", "gang", actions=tuple(file)), configurations={k: Arguments(v) for k, v in file.items()}
    )
    return rounds.run(made.around, said, PLUGINS, ways.KUMI)


def test_a_gang_with_a_task_that_may_not_go_is_not_stopped() -> None:
    made = hall([(2, 2)], 1)
    made.put(task("g0-1", "g0", cpu=1, node="g0-1", preemptable=False))
    assert evicted(served(made)) == []


def test_the_gang_that_matters_least_goes_first() -> None:
    made = hall([(1, 1), (1, 1)], 1)
    made.put(gang("g1", least=1, priority_class="p5", phase=Phase.RUNNING))
    assert evicted(served(made)) == ["g0-0"]


def test_other_queues_give_no_more_than_what_is_past_their_share() -> None:
    made = Scene(line("a"), line("b"), node("n", cpu=4))
    for name in ("x", "y"):
        made.put(gang(name, "a", least=2, phase=Phase.RUNNING))
        made.put(*(task(f"{name}-{n}", name, cpu=1, node="n") for n in range(2)))
    made.put(gang("h", "b", least=2, phase=Phase.INQUEUE), *(task(f"h-{n}", "h", cpu=1) for n in range(2)))
    done = run(made, "gangreclaim", "gang", "proportion", "bundle-shares")
    assert evicted(done) in (["x-0", "x-1"], ["y-0", "y-1"])
    made.put(gang("h", "b", least=3, phase=Phase.INQUEUE), task("h-2", "h", cpu=1))
    assert evicted(run(made, "gangreclaim", "gang", "proportion", "bundle-shares")) == []


def test_of_a_gang_that_runs_one_more_task_is_served() -> None:
    made = hall([(0, 3)], 1)
    made.put(*(task(f"h-{n}", "h", cpu=1) for n in range(1, 3)))
    file = option("gang", without=("enableJobStarving",))
    assert len(evicted(run(made, "gangpreempt", "priority", file))) == 1


@given(free=st.integers(0, 3), never=st.integers(0, 3), others=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_nobody_goes_for_tasks_that_never_preempt(free: int, never: int, others: int) -> None:
    made = hall([(1, 1)] * 4, never + others, idle=free)
    made.put(*(calm(f"h-{n}") for n in range(never)))
    done = served(made)
    fits = never <= free and never + others <= free + 4
    assert len(evicted(done)) == (max(never + others - free, 0) if fits else 0)
    placed = [done.node[f"h-{n}"] for n in range(never) if done.status[f"h-{n}"] is Status.PIPELINED]
    assert len(placed) == (never if fits else 0)
    if evicted(done):
        assert all(name.startswith("z") for name in placed)


def calm(uid: str) -> Pod:
    pod = task(uid, "h", cpu=1)
    return replace(pod, member=replace(pod.member, never_preempts=True))


def test_no_other_queue_gives_anything_back_to_a_task_that_never_preempts() -> None:
    made = Scene(line("a"), line("b"), node("n", cpu=2))
    made.put(gang("x", "a", least=1, phase=Phase.RUNNING))
    made.put(*(task(f"x-{n}", "x", cpu=1, node="n") for n in range(2)))
    made.put(gang("h", "b", least=1, phase=Phase.INQUEUE), task("h-0", "h", cpu=1))
    assert evicted(run(made, "gangreclaim", "gang", "proportion", "bundle-shares")) == ["x-0"]
    made.put(calm("h-0"))
    assert evicted(run(made, "gangreclaim", "gang", "proportion", "bundle-shares")) == []


def test_a_task_that_never_preempts_keeps_its_place_when_somebody_who_need_not_go_stays() -> None:
    made = Scene(line(), *CLASSES, node("a", cpu=2), node("b", cpu=1), node("c", cpu=3))
    made.put(gang("g", least=2, priority_class="p1", phase=Phase.RUNNING))
    made.put(task("g-0", "g", cpu=1, node="a"), task("g-1", "g", cpu=1, node="b"))
    made.put(gang("k", least=1, priority_class="p5", phase=Phase.RUNNING), task("k-0", "k", cpu=3, node="c"))
    made.put(gang("h", least=3, priority_class="p9", phase=Phase.INQUEUE), calm("h-0"))
    made.put(task("h-1", "h", cpu=1), task("h-2", "h", cpu=2))
    done = run(made, "gangpreempt", "priority", "gang")
    assert evicted(done) == ["k-0"]
    assert [done.node[f"h-{n}"] for n in range(3)] == ["a", "c", "c"]
