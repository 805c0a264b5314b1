"""Stories: what gangs, queues and priorities get, with the profile kumi and its own scheduler file."""

from __future__ import annotations

from dataclasses import replace

from kumi.engine import invariants
from kumi.engine.decisions import Bind, Decision, EvictPod, GangPhase
from kumi.engine.gangs import Member, PodGroup, PriorityClass, Queue
from kumi.engine.model import Node, Noun, Pod, Profile, Put, Remove
from kumi.engine.placement import session
from kumi.engine.placement.conf import DEFAULT, Conf, Option
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import amounts, node, pod

HIGH, LOW = PriorityClass("high", 100), PriorityClass("low", 10)


class World:
    """A cluster in which what is decided happens: bound pods run, evicted ones go."""

    def __init__(self, *nouns: Noun, conf: Conf = DEFAULT) -> None:
        self.state = State(Profile("kumi", conf=conf))
        self.evicted: list[str] = []
        self.put(Queue("default"), HIGH, LOW, *nouns)

    def put(self, *nouns: Noun) -> None:
        for noun in nouns:
            self.state.apply(Put(noun))

    def remove(self, type_: type, *keys: str) -> None:
        for key in keys:
            self.state.apply(Remove(type_, key))

    def decide(self) -> list[Decision]:
        """Until nothing is decided any more; what is evicted is still there."""
        decided: list[Decision] = []
        while more := session.decide(self.state, 0):
            decided += more
            for one in more:
                self.state.settle(one, ok=True)
                if isinstance(one, Bind):
                    self.put(replace(self.state.pods.by_uid[one.pod], node=one.node, phase="Running"))
            invariants.check(self.state)
            assert len(decided) < 500, "it never ends"
        self.evicted += [one.pod for one in decided if isinstance(one, EvictPod)]
        assert len(set(self.evicted)) == len(self.evicted), "a pod was evicted twice"
        return decided

    def run(self) -> list[Decision]:
        """The same, and those that were evicted go, until nobody has to."""
        decided = self.decide()
        while leaving := [uid for uid in self.evicted if uid in self.state.pods.by_uid]:
            self.remove(Pod, *leaving)
            decided += self.decide()
        return decided

    def running(self, prefix: str) -> list[str]:
        return sorted(uid for uid in self.state.pods.node_of if uid.startswith(prefix))


def gang(key: str, count: int, least: int | None = None, **fields: object) -> list[Noun]:
    """A pod group of so many pods of one cpu each, or what `ask` says."""
    ask = fields.pop("ask", {"cpu": 1})
    first = fields.pop("first", 0)
    group = replace(PodGroup(key, "default", uid=key, least=count if least is None else least), **fields)
    pods = (pod(f"{key}-{n}", **ask) for n in range(first, first + count))
    return [group, *(replace(p, member=Member(key), labels=(("job", key),)) for p in pods)]


def nodes(count: int, **ask: object) -> list[Node]:
    return [node(f"n{n}", **ask) for n in range(count)]


def bound(decided: list[Decision]) -> dict[str, str]:
    return {d.pod: d.node for d in decided if isinstance(d, Bind)}


def test_1_of_two_gangs_of_four_on_four_nodes_one_runs_with_four_and_the_other_has_none() -> None:
    world = World(*nodes(4, cpu=1))
    both = zip(gang("ns/a", 4), gang("ns/b", 4), strict=True)
    world.put(*(noun for pair in both for noun in pair))
    world.run()
    assert [len(world.running("ns/a")), len(world.running("ns/b"))] == [4, 0]
    assert world.evicted == []


def test_2_a_gang_of_twelve_where_ten_fit_is_not_bound_and_says_so() -> None:
    world = World(*nodes(10, cpu=6), *gang("ns/a", 12, ask={"cpu": 4}))
    decided = world.run()
    assert bound(decided) == {}
    said = [d for d in decided if isinstance(d, GangPhase)][-1]
    assert [(r.have, r.need) for r in said.reasons if r.code is Code.GANG_SHORT] == [(10, 12)]


def test_3_a_gang_of_two_takes_the_free_node_and_evicts_on_the_other() -> None:
    world = World(*nodes(2, cpu=1), *gang("ns/low", 1, 0, priority_class="low"))
    world.run()
    world.put(*gang("ns/high", 2, priority_class="high"))
    world.run()
    assert world.evicted == ["ns/low-0"]
    assert world.running("ns/") == ["ns/high-0", "ns/high-1"]


def test_3_also_where_the_other_job_is_a_gang_that_can_spare_nobody() -> None:
    world = World(*nodes(2, cpu=1), *gang("ns/low", 1, priority_class="low"))
    world.run()
    world.put(*gang("ns/high", 2, priority_class="high"))
    world.run()
    assert world.running("ns/") == ["ns/high-0", "ns/high-1"]


def test_4_a_queue_capped_at_two_devices_runs_two_of_four_jobs_and_one_more_when_one_ends() -> None:
    world = World(node("n", gpu=8, cpu=8), replace(Queue("small"), capability=amounts(gpu=2)))
    for n in range(4):
        world.put(*gang(f"ns/j{n}", 1, queue="small", created_ms=n, ask={"gpu": 1}, resources=amounts(gpu=1)))
    world.run()
    assert world.running("ns/") == ["ns/j0-0", "ns/j1-0"]
    world.put(replace(world.state.pods.by_uid["ns/j0-0"], phase="Succeeded", finished=True))
    assert sorted(bound(world.run())) == ["ns/j2-0"]


def shared_by_weight() -> World:
    world = World(node("n", cpu=20, memory=100), Queue("a"), Queue("b"))
    world.put(*gang("ns/a", 4, 1, queue="a", ask={"cpu": 4, "memory": 1}))
    world.run()
    assert len(world.running("ns/a")) == 4
    return world


def test_5_one_task_is_reclaimed_and_both_of_the_other_queue_run() -> None:
    world = shared_by_weight()
    world.put(*gang("ns/b", 2, queue="b", ask={"cpu": 4, "memory": 1}))
    world.run()
    assert len(world.evicted) == 1
    assert [len(world.running("ns/a")), len(world.running("ns/b"))] == [3, 2]


def test_6_evictions_stop_when_both_queues_are_as_near_to_what_they_deserve_as_tasks_allow() -> None:
    deserve = {"deserved": amounts(cpu=5), "capability": amounts(cpu=10)}
    by_numbers = tuple(
        tuple(Option("capacity") if o.name == "proportion" else o for o in tier if o.name != "bundle-shares")
        for tier in DEFAULT.tiers
    )
    queues = (replace(Queue("a"), **deserve), replace(Queue("b"), **deserve))
    world = World(node("n", cpu=11), *queues, conf=replace(DEFAULT, tiers=by_numbers))
    world.put(*gang("ns/a", 5, 2, queue="a", ask={"cpu": 2}))
    world.run()
    assert len(world.running("ns/a")) == 5
    world.put(*gang("ns/b", 5, 2, queue="b", ask={"cpu": 2}))
    world.run()
    assert [len(world.running("ns/a")), len(world.running("ns/b"))] == [3, 2]
    assert len(world.evicted) == 2


def test_7_one_pod_that_matters_more_evicts_one_of_a_gang_that_can_spare_it() -> None:
    world = World(node("n", cpu=11), *gang("ns/many", 11, 1, priority_class="low"))
    world.run()
    world.put(*gang("ns/one", 1, priority_class="high"))
    world.run()
    assert len(world.evicted) == 1
    assert [len(world.running("ns/many")), len(world.running("ns/one"))] == [10, 1]


def test_8_a_stranded_gang_gets_its_slot_before_a_later_pod() -> None:
    world = World(*nodes(2, cpu=1), *gang("ns/a", 2))
    world.run()
    lost = next(uid for uid, name in world.state.pods.node_of.items() if name == "n1")
    world.remove(Node, "n1")
    world.remove(Pod, lost)
    world.put(*gang("ns/later", 1, created_ms=5))
    world.run()
    world.put(*gang("ns/a", 1, 2, first=2)[1:])
    world.run()
    world.put(*nodes(2, cpu=1))
    assert bound(world.run()) == {"ns/a-2": "n1"}


def test_9_the_gang_of_an_admitted_workload_is_neither_held_nor_taken_from() -> None:
    over = replace(Queue("over"), capability=amounts(cpu=0))
    group, *pods = gang("ns/a", 4, queue="over", resources=amounts(cpu=4), workload="ns/w")
    mine = [replace(p, workload="ns/w", node="n", phase="Running") for p in pods]
    world = World(node("n", cpu=4), over, group, *mine)
    world.put(*gang("ns/b", 1, priority_class="high"), *gang("ns/c", 1, queue="default"))
    world.run()
    assert world.evicted == []
    assert len(world.running("ns/a")) == 4


def test_a_gang_that_needs_one_more_than_all_could_free_evicts_nobody() -> None:
    world = World(*nodes(3, cpu=1), *gang("ns/low", 3, 0, priority_class="low"))
    world.run()
    world.put(*gang("ns/high", 4, priority_class="high"))
    world.run()
    assert world.evicted == []
    assert len(world.running("ns/low")) == 3


def test_a_rigid_gang_gives_way_as_a_whole_and_a_third_one_stays() -> None:
    world = World(*nodes(4, cpu=1), *gang("ns/a", 2, priority_class="low"), *gang("ns/b", 2, priority_class="low"))
    world.run()
    world.put(*gang("ns/high", 1, priority_class="high"))
    world.run()
    assert sorted(len(world.running(f"ns/{name}")) for name in ("a", "b")) == [0, 2]
    assert world.running("ns/high") == ["ns/high-0"]


def test_what_was_freed_for_a_gang_is_not_taken_by_others_while_its_victims_are_leaving() -> None:
    world = World(*nodes(2, cpu=1), *gang("ns/low", 1, 0, priority_class="low"))
    world.run()
    world.put(*gang("ns/high", 2, priority_class="high"))
    world.decide()
    world.put(*gang("ns/thief", 1, priority_class="low"))
    assert bound(world.decide()) == {}
    world.run()
    assert world.running("ns/") == ["ns/high-0", "ns/high-1"]
