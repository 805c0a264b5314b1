"""Why: the first reason that holds is told, of a gang and of what is left of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.gangs import Member, Phase, PodGroup, Queue, QueueState
from kumi.engine.model import Node, Profile, Put
from kumi.engine.placement import rounds
from kumi.engine.placement.conf import Conf, Option
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.surroundings import Surroundings
from kumi.engine.reasons import Code, Reason
from kumi.engine.state import State
from kumi.testing.builders import amounts, node, pod
from kumi.testing.gangs import Scene, conf, line, option, task
from kumi.testing.gangs import gang as in_line

CONF = Conf(
    ("enqueue", "allocate", "backfill"),
    ((Option("priority"), Option("gang")), (Option("predicates"), Option("proportion"), Option("overcommit"))),
)


def told(
    group: PodGroup, pods: int, *nodes: Node | Queue, queue: Queue | None = None, cpu: int = 1, file: Conf = CONF
) -> tuple[Reason, ...]:
    state = State(Profile())
    for noun in (queue or Queue("default"), *nodes, group):
        state.apply(Put(noun))
    for n in range(pods):
        state.apply(Put(replace(pod(f"{group.key}-{n}", cpu=cpu), member=Member(group=group.key))))
    around = Surroundings(state.tasks, state.nodes, state.pods, state.journal, 0)
    return rounds.run(around, file, PLUGINS).reasons.get(group.key, ())


def gang(least: int, **fields: object) -> PodGroup:
    return replace(PodGroup("ns/a", "default", least=least, phase=Phase.INQUEUE), **fields)


def test_one_whose_pods_are_not_all_there_says_how_many_are_missing() -> None:
    (said,) = told(gang(3), 2, node("n", cpu=9))
    assert (said.code, said.pods) == (Code.GANG_INCOMPLETE, 1)


@pytest.mark.parametrize(
    ("state", "code"), [(QueueState.OPEN, Code.NOT_LET_IN), (QueueState.CLOSED, Code.QUEUE_CLOSED)]
)
def test_one_that_was_not_let_in_says_of_which_queue(state: QueueState, code: Code) -> None:
    small = replace(Queue("default"), capability=amounts(cpu=1), state=state)
    waits = gang(2, phase=Phase.PENDING, resources=amounts(cpu=2))
    assert [(r.code, r.where) for r in told(waits, 2, node("n", cpu=9), queue=small)] == [(code, "default")]


def test_one_for_which_there_is_not_enough_room_says_how_many_fit_and_what_the_next_lacks() -> None:
    short, small, full = told(gang(4), 4, node("a", cpu=5), node("b", cpu=3), node("c", cpu=1), cpu=2)
    assert (short.code, short.have, short.need) == (Code.GANG_SHORT, 3, 4)
    assert (small.code, small.nodes) == (Code.NODE_TOO_SMALL, 1)
    assert (full.code, full.resource, full.need, full.have) == (Code.NODES_FULL, "cpu", 2000, 1000)


def test_one_whose_queue_has_had_its_share_says_so() -> None:
    small = replace(Queue("default"), capability=amounts(cpu=1))
    reasons = told(gang(2), 2, node("n", cpu=9), queue=small)
    assert [r.code for r in reasons] == [Code.GANG_SHORT, Code.QUEUE_SHARE]
    assert reasons[0].have == 1


def test_one_that_was_let_in_before_its_queue_was_closed_is_told_that_it_is() -> None:
    closed = replace(Queue("default"), state=QueueState.CLOSING)
    assert [r.code for r in told(gang(2), 2, node("n", cpu=9), queue=closed)] == [Code.GANG_SHORT, Code.QUEUE_CLOSED]


TREE = conf("gang", "predicates", option("capacity", hierarchy=True), actions=CONF.actions)


@pytest.mark.parametrize(
    ("others", "code"),
    [
        ([Queue("root"), Queue("team", parent="default")], Code.QUEUE_INNER),
        ([Queue("root"), Queue("lost", parent="nobody")], Code.QUEUES_NO_TREE),
        ([], Code.QUEUES_NO_TREE),
    ],
    ids=["inner", "no parent", "no root"],
)
@pytest.mark.parametrize("phase", [Phase.INQUEUE, Phase.PENDING])
def test_one_whose_queue_takes_no_gangs_as_it_stands_says_so(others: list[Queue], code: Code, phase: Phase) -> None:
    waits = gang(1, phase=phase, resources=amounts(cpu=1))
    said = told(waits, 1, node("n", cpu=9), *others, file=TREE)[-1]
    assert (said.code, said.where) == (code, "default")
    leaf = told(waits, 1, node("n", cpu=9), Queue("root"), Queue("team", parent="root"), file=TREE)
    assert leaf == ()


def test_queues_above_others_take_gangs_where_nobody_looks_at_the_tree() -> None:
    above = Queue("team", parent="default")
    assert told(gang(1), 1, node("n", cpu=9), Queue("root"), above) == ()
    full = told(gang(2), 2, node("n", cpu=9), above, queue=replace(Queue("default"), capability=amounts(cpu=1)))
    assert full[-1].code is Code.QUEUE_SHARE


def test_one_whose_pods_are_gated_says_how_many() -> None:
    state = State(Profile())
    for noun in (Queue("default"), node("n", cpu=9), gang(3)):
        state.apply(Put(noun))
    for n, gated in enumerate((True, True, False)):
        state.apply(Put(replace(pod(f"ns/a-{n}", cpu=1), member=Member(group="ns/a"), gated=gated)))
    around = Surroundings(state.tasks, state.nodes, state.pods, state.journal, 0)
    short, held = rounds.run(around, CONF, PLUGINS).reasons["ns/a"]
    assert (short.code, short.have) == (Code.GANG_SHORT, 0)
    assert (held.code, held.pods) == (Code.PODS_GATED, 2)


def test_one_that_is_placed_has_nothing_to_say_and_what_is_left_of_it_says_what_it_lacks() -> None:
    assert told(gang(2), 2, node("n", cpu=2)) == ()
    _, full = told(gang(2), 3, node("n", cpu=2), *(node(f"m{n}", cpu="900m") for n in range(2)))
    assert full.code is Code.NODES_FULL


SHARES = conf("gang", "predicates", "proportion", actions=("allocate",))
CAPACITY = conf("gang", "predicates", "capacity", actions=("allocate",))
FOURS = tuple(node(f"n{n}", cpu=4) for n in range(4))


@pytest.mark.parametrize("file", [SHARES, CAPACITY], ids=["proportion", "capacity"])
@pytest.mark.parametrize(
    ("nodes", "pods", "cpu", "code"),
    [
        ((), 1, 1, Code.NO_NODES),
        (FOURS, 1, 30, Code.NODE_TOO_SMALL),
        (FOURS, 5, 4, Code.NODES_FULL),
        (FOURS[:1], 6, 1, Code.NODES_FULL),
    ],
    ids=["no nodes", "larger than the cluster", "full of its own", "full of its own, small ones"],
)
def test_a_queue_that_has_the_cluster_to_itself_is_not_what_is_in_the_way(
    file: Conf, nodes: tuple[Node, ...], pods: int, cpu: int, code: Code
) -> None:
    assert [r.code for r in told(gang(pods), pods, *nodes, cpu=cpu, file=file)] == [Code.GANG_SHORT, code]


@pytest.mark.parametrize("file", [SHARES, CAPACITY], ids=["proportion", "capacity"])
def test_one_that_no_node_could_hold_hears_of_nodes_whatever_its_queue_may_have(file: Conf) -> None:
    small = replace(Queue("default"), capability=amounts(cpu=2))
    assert [r.code for r in told(gang(1), 1, *FOURS, queue=small, cpu=3, file=file)][-1] is Code.QUEUE_SHARE
    assert [r.code for r in told(gang(1), 1, *FOURS, queue=small, cpu=5, file=file)][-1] is Code.NODE_TOO_SMALL


@pytest.mark.parametrize("waits_for_more", [True, False])
def test_a_queue_is_in_the_way_as_far_as_another_one_wants_its_own(waits_for_more: bool) -> None:
    scene = Scene(line("a"), line("b"), *(node(f"n{n}", cpu=1) for n in range(4)))
    scene.put(line_of("a", 2, 2), line_of("b", 0, 2 if waits_for_more else 0))
    for name, runs, waits in (("a", 2, 2), ("b", 0, 2 if waits_for_more else 0)):
        scene.put(*(task(f"{name}-r{n}", name, cpu=1, node=f"n{n}") for n in range(runs)))
        scene.put(*(task(f"{name}-w{n}", name, cpu=1) for n in range(waits)))
    reasons = scene.run("allocate", "gang", "predicates", "proportion").reasons
    assert ([r.code for r in reasons["ns/a"]][-1:] if "ns/a" in reasons else []) == (
        [Code.QUEUE_SHARE] if waits_for_more else []
    )


def line_of(name: str, runs: int, waits: int) -> PodGroup:
    return in_line(name, name, least=runs + waits, phase=Phase.INQUEUE)


def test_a_queue_of_a_tree_is_not_in_the_way_where_the_root_is_full() -> None:
    queues = (Queue("root"), Queue("other", parent="root"))
    leaf = replace(Queue("default"), parent="root")
    assert [r.code for r in told(gang(5), 5, *FOURS[:1], *queues, queue=leaf, file=TREE)][-1] is Code.NODES_FULL
    small = replace(leaf, capability=amounts(cpu=3))
    assert [r.code for r in told(gang(4), 4, *FOURS[:1], *queues, queue=small, file=TREE)][-1] is Code.QUEUE_SHARE


@pytest.mark.parametrize(("least", "code"), [(3, Code.NODES_FULL), (2, Code.QUEUE_SHARE)])
def test_where_the_root_is_as_large_as_the_cluster_the_nodes_say_that_it_is_full(least: int, code: Code) -> None:
    root = line("root", capability={"cpu": 4 if code is Code.NODES_FULL else 3})
    scene = Scene(root, line("q", parent="root"), line("other", parent="root"), node("n", cpu=4))
    scene.put(in_line("r", "other", phase=Phase.RUNNING), *(task(f"r-{n}", "r", cpu=1, node="n") for n in range(2)))
    scene.put(in_line("a", least=least, phase=Phase.INQUEUE), *(task(f"a-{n}", "a", cpu=1) for n in range(least)))
    capacity = option("capacity", hierarchy=True)
    assert scene.run("allocate", "gang", "predicates", capacity).reasons["ns/a"][-1].code is code


def test_a_queue_that_takes_nothing_as_it_stands_withholds_it() -> None:
    scene = Scene(line("q", parent="nobody"), node("n", cpu=4), in_line("a"), task("a-0", "a", cpu=1))
    assert scene.open("gang", option("capacity", hierarchy=True)).withholds(scene.queue("q"), scene.pod("a-0"))


@pytest.mark.parametrize(("capability", "code"), [({"cpu": 1}, Code.NOT_LET_IN), ({}, Code.NODES_CLAIMED)])
def test_one_that_is_not_let_in_hears_of_its_queue_where_that_alone_is_too_small(
    capability: dict[str, int], code: Code
) -> None:
    root = line("root", capability={"cpu": 4})
    scene = Scene(root, line("q", parent="root", capability=capability), line("other", parent="root"))
    runs = in_line("r", "other", needs={"cpu": 2}, phase=Phase.RUNNING)
    scene.put(node("n", cpu=4), runs, in_line("a", needs={"cpu": 3}))
    scene.put(*(task(f"r-{n}", "r", cpu=1, node="n") for n in range(2)))
    done = scene.run("enqueue", "gang", option("capacity", hierarchy=True))
    assert [r.code for r in done.reasons["ns/a"]] == [code]
