"""Gang session: what pod groups get, what they are told, and that nothing is asked twice."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.decisions import Bind, Decision, EvictPod, GangPhase, Unplaced
from kumi.engine.gangs import Member, NamespaceQuota, Phase, PodGroup, PriorityClass, Queue
from kumi.engine.model import Node, NodeUsage, Noun, NumaTopology, Pod, Profile, Put, Remove
from kumi.engine.placement import gang_session, session
from kumi.engine.placement.conf import VOLCANO, Arguments, Conf, Option
from kumi.engine.placement.plugins.tdm import LABEL
from kumi.engine.policy import parse
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import amounts, node, pod

PREEMPTING = Conf(
    ("enqueue", "allocate", "preempt"),
    ((Option("priority"), Option("gang")), (Option("predicates"), Option("proportion"), Option("binpack"))),
)


def group(key: str, least: int, **fields: object) -> PodGroup:
    return replace(PodGroup(key, "default", least=least, uid=key), **fields)


def members(key: str, count: int, first: int = 0, **fields: object) -> list[Pod]:
    made = (pod(f"{key}-{n}", cpu=fields.get("cpu", 1)) for n in range(first, first + count))
    rest = {k: v for k, v in fields.items() if k != "cpu"}
    return [replace(p, member=Member(group=key), phase="Pending", **rest) for p in made]


class Hall:
    """A state with the default queue, and what is decided on it; bound pods run as soon as they are bound."""

    def __init__(self, *nouns: Noun, conf: Conf | None = None) -> None:
        profile = Profile() if conf is None else Profile(conf=conf)
        self.state = State(profile)
        self.put(Queue("default"), *nouns)

    def put(self, *nouns: Noun) -> None:
        for noun in nouns:
            self.state.apply(Put(noun))

    def gone(self, *pods: Pod) -> None:
        for one in pods:
            self.state.apply(Remove(Pod, one.uid))

    def run(self, now_ms: int = 0) -> list[Decision]:
        """Until nothing is left to decide."""
        decided: list[Decision] = []
        while more := session.decide(self.state, now_ms):
            decided += more
            for one in more:
                self.state.settle(one, ok=True)
                if isinstance(one, Bind):
                    self.put(replace(self.state.pods.by_uid[one.pod], node=one.node, phase="Running"))
            invariants.check(self.state)
            assert len(decided) < 1000, "the session never ends"
        return decided


def bound(decided: list[Decision]) -> dict[str, str]:
    return {d.pod: d.node for d in decided if isinstance(d, Bind)}


def last(decided: list[Decision], key: str) -> GangPhase:
    return [d for d in decided if isinstance(d, GangPhase) and d.group == key][-1]


def slots(count: int) -> list[Node]:
    return [node(f"n{n}", cpu=1) for n in range(count)]


def test_1_of_two_gangs_of_four_on_four_slots_one_runs_whole_and_the_other_has_nothing() -> None:
    hall = Hall(*slots(4), group("ns/a", 4), group("ns/b", 4))
    hall.put(*(p for both in zip(members("ns/a", 4), members("ns/b", 4), strict=True) for p in both))
    decided = hall.run()
    assert sorted(bound(decided)) == [f"ns/a-{n}" for n in range(4)]
    assert last(decided, "ns/a") == GangPhase("ns/a", Phase.RUNNING, running=4)
    other = last(decided, "ns/b")
    assert (other.phase, [r.code for r in other.reasons]) == (Phase.INQUEUE, [Code.GANG_SHORT, Code.NODES_FULL])


def test_2_a_gang_that_is_too_large_says_how_many_of_how_many_fit() -> None:
    hall = Hall(*(node(f"n{n}", cpu=6) for n in range(10)), group("ns/a", 12))
    hall.put(*members("ns/a", 12, cpu=4))
    decided = hall.run()
    assert bound(decided) == {}
    short, full = last(decided, "ns/a").reasons
    assert (short.code, short.have, short.need) == (Code.GANG_SHORT, 10, 12)
    assert (full.code, full.resource, full.nodes) == (Code.NODES_FULL, "cpu", 10)
    assert sorted(d.pod for d in decided if isinstance(d, Unplaced)) == sorted(f"ns/a-{n}" for n in range(12))


def test_4_a_queue_of_two_runs_two_of_four_and_one_more_for_each_that_ends() -> None:
    hall = Hall(node("n", gpu=8, cpu=8), replace(Queue("small"), capability=amounts(gpu=2)))
    for n in range(4):
        key = f"ns/j{n}"
        job = replace(pod(f"{key}-0", gpu=1), member=Member(group=key))
        hall.put(group(key, 1, queue="small", created_ms=n, resources=amounts(gpu=1)), job)
    assert sorted(bound(hall.run())) == ["ns/j0-0", "ns/j1-0"]
    ended = hall.state.pods.by_uid["ns/j0-0"]
    hall.put(replace(ended, phase="Succeeded", finished=True))
    assert sorted(bound(hall.run())) == ["ns/j2-0"]


def test_8_a_stranded_gang_gets_its_slot_before_a_later_pod_on_its_own() -> None:
    hall = Hall(node("n1", cpu=1), node("n2", cpu=1), group("ns/a", 2))
    hall.put(*members("ns/a", 2))
    placed = bound(hall.run())
    lost = next(uid for uid, name in placed.items() if name == "n2")
    hall.state.apply(Remove(Node, "n2"))
    hall.gone(hall.state.pods.by_uid[lost])
    hall.put(replace(pod("ns/later", cpu=1), created_ms=5))
    hall.run()
    hall.put(*members("ns/a", 1, first=2, created_ms=9))
    hall.run()
    hall.put(node("n2", cpu=1))
    assert bound(hall.run()) == {"ns/a-2": "n2"}


@pytest.mark.parametrize("said_by", ["pod group", "pods"])
def test_9_the_gang_of_an_admitted_workload_asks_no_queue_and_is_nobodys_victim(said_by: str) -> None:
    conf = Conf(
        ("enqueue", "allocate", "preempt", "reclaim"),
        ((Option("priority"), Option("gang")), (Option("predicates"), Option("proportion"))),
    )
    closed = replace(Queue("over"), capability=amounts(cpu=0), weight=1)
    hall = Hall(node("n", cpu=4), closed, PriorityClass("high", 100), conf=conf)
    workload = "ns/w" if said_by == "pod group" else ""
    hall.put(group("ns/a", 4, queue="over", resources=amounts(cpu=4), workload=workload))
    mine = [replace(p, workload="ns/w", node="n", phase="Running") for p in members("ns/a", 4)]
    hall.put(*mine)
    assert last(hall.run(), "ns/a") == GangPhase("ns/a", Phase.RUNNING, running=4)
    hall.put(group("ns/b", 1, priority_class="high"), *members("ns/b", 1, priority=100))
    decided = hall.run()
    assert [d for d in decided if isinstance(d, EvictPod | Bind)] == []
    assert hall.state.tasks.allocated.get("over", {}) == {}


def test_pods_of_a_gang_are_not_placed_one_by_one_while_their_pod_group_is_missing() -> None:
    hall = Hall(*slots(2))
    hall.put(*members("ns/a", 2))
    assert {type(d) for d in hall.run()} == {Unplaced}
    hall.put(group("ns/a", 2))
    assert len(bound(hall.run())) == 2


def test_a_gang_whose_queue_is_missing_says_so() -> None:
    hall = Hall(*slots(1), group("ns/a", 1, queue="none"))
    hall.put(*members("ns/a", 1))
    said = last(hall.run(), "ns/a")
    assert (said.phase, [r.code for r in said.reasons]) == (Phase.PENDING, [Code.NO_QUEUE])


def test_an_idle_session_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    hall = Hall(*slots(2), group("ns/a", 4))
    hall.put(*members("ns/a", 4))
    hall.run()
    runs: list[int] = []
    monkeypatch.setattr(gang_session.rounds, "run", lambda *_: runs.append(1))
    assert session.decide(hall.state, 0) == []
    hall.put(members("ns/a", 1)[0])
    assert session.decide(hall.state, 0) == []
    assert runs == []


def preempting() -> Hall:
    hall = Hall(node("n1", cpu=1), node("n2", cpu=1), PriorityClass("high", 100), conf=PREEMPTING)
    hall.put(group("ns/low", 0), *(replace(p, priority=0) for p in members("ns/low", 1)))
    hall.run()
    hall.put(group("ns/high", 2, priority_class="high"), *(replace(p, priority=100) for p in members("ns/high", 2)))
    return hall


def test_a_gang_takes_what_is_free_and_evicts_for_the_rest_and_nobody_takes_its_places_meanwhile() -> None:
    hall = preempting()
    (evict,) = [d for d in hall.run() if isinstance(d, EvictPod | Bind)]
    assert isinstance(evict, EvictPod)
    assert evict.pod == "ns/low-0"
    assert evict.by.startswith("ns/high-")
    hall.put(replace(pod("ns/thief", cpu=1), priority=1000))
    assert bound(hall.run()) == {}
    hall.gone(hall.state.pods.by_uid["ns/low-0"])
    assert sorted(bound(hall.run())) == ["ns/high-0", "ns/high-1"]


def test_an_eviction_that_is_refused_is_taken_back_and_decided_again() -> None:
    hall = preempting()
    (evict,) = [d for d in session.decide(hall.state, 0) if isinstance(d, EvictPod)]
    assert hall.state.pods.by_uid[evict.pod].terminating
    hall.state.settle(evict, ok=False)
    assert not hall.state.pods.by_uid[evict.pod].terminating
    invariants.check(hall.state)
    assert evict in session.decide(hall.state, 0)


def test_an_assumed_phase_survives_a_stale_sight_of_the_pod_group() -> None:
    hall = Hall(*slots(1))
    old = group("ns/a", 1, revision=5)
    hall.put(old, *members("ns/a", 1))
    (said,) = [d for d in session.decide(hall.state, 0) if isinstance(d, GangPhase)]
    assert said.phase is Phase.INQUEUE
    hall.put(replace(old, queue="default", least=1))
    assert hall.state.tasks.jobs["ns/a"].group.phase is Phase.INQUEUE
    hall.state.settle(said, ok=True, revision=6)
    hall.put(old)
    assert hall.state.tasks.jobs["ns/a"].group.phase is Phase.INQUEUE
    hall.put(replace(old, phase=Phase.RUNNING, revision=7))
    assert hall.state.tasks.jobs["ns/a"].group.phase is Phase.RUNNING


def test_a_phase_whose_write_is_refused_is_decided_again() -> None:
    hall = Hall(*slots(1), group("ns/a", 1))
    (said,) = [d for d in session.decide(hall.state, 0) if isinstance(d, GangPhase)]
    hall.state.settle(said, ok=False)
    assert said in session.decide(hall.state, 0)


def test_half_a_gang_of_pods_that_ask_for_nothing_is_not_bound_either() -> None:
    hall = Hall(*(node(f"n{n}", pods=1) for n in range(3)), group("ns/a", 4))
    hall.put(*(replace(p, shape=pod("x").shape) for p in members("ns/a", 4)))
    assert bound(hall.run()) == {}
    hall.put(node("n4", pods=1))
    assert len(bound(hall.run())) == 4


def test_who_must_go_goes_a_few_at_a_time() -> None:
    lent = Option("tdm", arguments=Arguments({"tdm.revocable-zone.day": "8:00-20:00"}))
    hall = Hall(node("n", {LABEL: "day"}, cpu=9), group("ns/a", 1), conf=Conf(("shuffle",), ((lent,),)))
    hall.put(*(replace(p, node="n", phase="Running") for p in members("ns/a", 3)))

    def gone(now_ms: int) -> list[str]:
        evicted = [d.pod for d in hall.run(now_ms) if isinstance(d, EvictPod)]
        hall.gone(*(hall.state.pods.by_uid[uid] for uid in evicted))
        return evicted

    assert [gone(ms) for ms in (0, 59_999, 60_000, 60_001)] == [["ns/a-0"], [], ["ns/a-1"], []]


def test_where_nobody_waits_only_gangs_that_changed_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    hall = Hall(*slots(4), group("ns/a", 2), group("ns/b", 2))
    hall.put(*members("ns/a", 2), *members("ns/b", 2))
    hall.run()
    monkeypatch.setattr(gang_session.rounds, "run", lambda *_: pytest.fail("a whole session is run"))
    ended = [replace(hall.state.pods.by_uid[f"ns/a-{n}"], phase="Succeeded", finished=True) for n in range(2)]
    hall.put(ended[0])
    assert hall.run() == [GangPhase("ns/a", Phase.RUNNING, running=1, succeeded=1)]
    hall.put(ended[1])
    assert hall.run() == [GangPhase("ns/a", Phase.COMPLETED, succeeded=2)]
    hall.gone(hall.state.pods.by_uid["ns/b-1"])
    said = last(hall.run(), "ns/b")
    assert (said.phase, [r.code for r in said.reasons]) == (Phase.UNKNOWN, [Code.GANG_INCOMPLETE])


def test_a_gang_that_runs_hears_when_its_queue_is_gone() -> None:
    hall = Hall(*slots(1), Queue("q"), group("ns/a", 1, queue="q"))
    hall.put(*members("ns/a", 1))
    hall.run()
    hall.state.apply(Remove(Queue, "q"))
    assert [r.code for r in last(hall.run(), "ns/a").reasons] == [Code.NO_QUEUE]
    hall.put(Queue("q"))
    assert last(hall.run(), "ns/a") == GangPhase("ns/a", Phase.RUNNING, running=1)


EVENTS = ("gang", "pods", "ends", "goes", "node", "no node", "queue", "no queue", "alone")


def happens(hall: Hall, what: str, number: int) -> None:
    """One event of these, about the number-th of whatever there is."""
    state, key = hall.state, f"ns/g{number % 4}"
    uids = sorted(state.pods.by_uid)
    uid = uids[number % len(uids)] if uids else ""
    match what:
        case "gang":
            hall.put(group(key, 1 + number % 3, queue="q" if number % 2 else "default", created_ms=number))
        case "pods":
            hall.put(*members(key, 1 + number % 3, first=number % 5))
        case "ends" if uid and uid in state.pods.node_of:
            hall.put(replace(state.pods.by_uid[uid], phase="Failed" if number % 3 else "Succeeded", finished=True))
        case "goes" if uid:
            hall.gone(state.pods.by_uid[uid])
        case "node":
            hall.put(node(f"n{number % 4}", cpu=1 + number % 3))
        case "no node":
            state.apply(Remove(Node, f"n{number % 4}"))
        case "queue":
            hall.put(replace(Queue("q"), weight=1 + number % 3))
        case "no queue":
            state.apply(Remove(Queue, "q"))
        case "alone":
            hall.put(pod(f"ns/alone-{number}", cpu=1))


@settings(max_examples=60, database=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(0, 11)), min_size=4, max_size=30), st.randoms())
def test_what_is_left_out_leads_to_what_a_whole_session_does(events: list[tuple[str, int]], chance: Random) -> None:
    """Also while writes are refused: the one that was skipped, or only looked, ends as the one that looks at everything."""
    quick, whole = Hall(*slots(2)), Hall(*slots(2))
    for what, number in events:
        refused = chance.random() < 0.2
        said = []
        for hall in (quick, whole):
            happens(hall, what, number)
            if hall is whole:
                hall.state.answers.last = None
                hall.state.answers.due = True
                for job in hall.state.tasks.jobs:
                    hall.state.tasks.touch(job)
            if refused:
                for one in session.decide(hall.state, 0):
                    hall.state.settle(one, ok=False)
            said.append(hall.run())
        assert said[0] == said[1]
        assert quick.state.tasks.status == whole.state.tasks.status
        assert quick.state.answers.told == whole.state.answers.told


def test_what_an_admitted_workload_needs_keeps_nobody_out() -> None:
    hall = Hall(node("n", cpu=4), conf=VOLCANO)
    hall.put(group("ns/a", 4, resources=amounts(cpu=4), workload="ns/w", phase=Phase.INQUEUE))
    hall.put(group("ns/b", 4, resources=amounts(cpu=4)), *members("ns/b", 4))
    assert len(bound(hall.run())) == 4


BY_USAGE = Conf(("enqueue", "allocate"), ((Option("gang"), Option("usage"), Option("predicates"), Option("binpack")),))


def test_a_gang_that_busy_nodes_keep_out_starts_when_one_cools_down() -> None:
    hall = Hall(node("n1", cpu=4), group("ns/a", 1), *members("ns/a", 1), conf=BY_USAGE)
    hall.put(NodeUsage("n1", 95.0, 10.0, 0))
    assert bound(hall.run(1000)) == {}
    hall.put(NodeUsage("n1", 94.0, 10.0, 2000))
    assert bound(hall.run(2000)) == {}
    hall.put(NodeUsage("n1", 20.0, 10.0, 3000))
    assert bound(hall.run(3000)) == {"ns/a-0": "n1"}


def test_a_gang_that_busy_nodes_keep_out_starts_when_nobody_knows_any_more() -> None:
    hall = Hall(node("n1", cpu=4), group("ns/a", 1), *members("ns/a", 1), conf=BY_USAGE)
    hall.put(NodeUsage("n1", 95.0, 10.0, 1000))
    assert bound(hall.run(1000)) == {}
    wake = hall.state.wake_at_ms()
    assert wake == 1000 + 5 * 60_000 + 1
    assert bound(hall.run(wake - 1)) == {}
    assert bound(hall.run(wake)) == {"ns/a-0": "n1"}


@pytest.mark.parametrize("fact", [NodeUsage("n1", 1.0, 1.0, 5), NumaTopology("n1", policy="restricted")])
def test_what_else_is_known_of_a_node_makes_a_session_due_where_it_is_news(fact: NodeUsage | NumaTopology) -> None:
    hall = Hall(node("n1", cpu=4), group("ns/a", 1), *members("ns/a", 1), conf=BY_USAGE)
    hall.run()
    assert not hall.state.answers.due
    hall.put(fact)
    assert hall.state.answers.due
    hall.run()
    hall.put(fact)
    assert not hall.state.answers.due
    hall.state.apply(Remove(type(fact), "n1"))
    assert hall.state.answers.due


def test_words_alone_make_no_session_due(monkeypatch: pytest.MonkeyPatch) -> None:
    hall = Hall(node("n", cpu=2), group("ns/a", 2), *members("ns/a", 2))
    hall.run()
    hall.put(group("ns/b", 1), *members("ns/b", 1))
    runs = []
    plain = gang_session.rounds.run
    monkeypatch.setattr(gang_session.rounds, "run", lambda *said: runs.append(said) or plain(*said))
    said = session.decide(hall.state, 0)
    assert {type(one) for one in said} == {GangPhase, Unplaced}
    assert (session.decide(hall.state, 0), len(runs)) == ([], 1)


class Stranger:
    """A plug-in that isn't Kumi's, and has no hook."""

    @classmethod
    def configured(cls, option: Option) -> Stranger:
        return cls()

    def open(self, session: object) -> Stranger:
        return self


GANGS = ((Option("gang"), Option("predicates"), Option("proportion")),)
FULL = [node("n", cpu=1), *members("ns/z", 1, node="n"), group("ns/z", 1), group("ns/a", 1), *members("ns/a", 1)]
LEAVING = [replace(one, terminating=True) if isinstance(one, Pod) and one.node else one for one in FULL]
TIMED = [*FULL, group("ns/z", 1, execution_ms=9_000), *members("ns/z", 1, node="n", started_ms=1)]
TOO_LARGE = [node("n", cpu=1), group("ns/a", 2, resources=amounts(cpu=2)), *members("ns/a", 2)]
SETTLED = {
    "words": (Profile(conf=Conf(("enqueue", "allocate"), GANGS)), FULL, False),
    "bound": (Profile(conf=Conf(("enqueue", "allocate"), GANGS)), [node("m", cpu=1), *FULL], True),
    "promised": (Profile(conf=Conf(("enqueue", "allocate"), GANGS)), LEAVING, True),
    "reserved": (parse({"line": "easy"}), TIMED, True),
    "a stranger's plug-in": (Profile(conf=Conf(("enqueue", "allocate"), GANGS), plugins={"s": Stranger}), FULL, True),
    "not let in": (Profile(conf=Conf(("enqueue", "allocate"), GANGS)), TOO_LARGE, True),
    "let in at last": (Profile(conf=Conf(("allocate", "enqueue"), GANGS)), FULL, True),
}


@pytest.mark.parametrize(("profile", "nouns", "due"), SETTLED.values(), ids=SETTLED)
def test_another_session_is_due_where_it_could_say_something_else(
    profile: Profile, nouns: list[Noun], due: bool
) -> None:
    state = State(profile)
    for noun in (Queue("default"), *nouns):
        state.apply(Put(noun))
    said = session.decide(state, 0)
    assert any(isinstance(one, Bind) for one in said) is ("m" in state.nodes.row_by_name)
    assert any(isinstance(one, GangPhase) for one in said)
    assert state.answers.due is due


def test_a_gang_that_is_let_in_at_last_is_placed_by_the_next_session() -> None:
    conf = Conf(("allocate", "enqueue"), GANGS)
    assert bound(Hall(node("n", cpu=1), group("ns/a", 1), *members("ns/a", 1), conf=conf).run()) == {"ns/a-0": "n"}


def test_pods_whose_word_did_not_reach_them_are_told_again() -> None:
    hall = Hall(node("n", cpu=1), group("ns/a", 2), *members("ns/a", 2))
    told = [one for one in session.decide(hall.state, 0) if isinstance(one, Unplaced)]
    assert [one.pod for one in told] == ["ns/a-0", "ns/a-1"]
    hall.state.settle(told[0], ok=False)
    hall.state.settle(told[1], ok=True)
    again = [one for one in session.decide(hall.state, 0) if isinstance(one, Unplaced)]
    assert [one.pod for one in again] == ["ns/a-0"]


def held_group(**fields: object) -> PodGroup:
    """A pod group without pods, whose maker waits until it is let in."""
    return group("ns/a", 1, resources=amounts(cpu=12), **fields)


def letting_in(*plugins: str) -> Conf:
    return Conf(("enqueue", "allocate"), (tuple(Option(name) for name in ("gang", "predicates", *plugins)),))


def phases(decided: list[Decision]) -> list[Phase]:
    return [d.phase for d in decided if isinstance(d, GangPhase) and d.group == "ns/a"]


@pytest.mark.parametrize("plugins", [("overcommit",), ("proportion",), ("capacity",), ("overcommit", "proportion")])
def test_a_pod_group_without_pods_is_let_in_when_a_node_comes(plugins: tuple[str, ...]) -> None:
    hall = Hall(*(node(f"n{n}", cpu=4) for n in range(2)), held_group(), conf=letting_in(*plugins))
    said = last(hall.run(), "ns/a")
    assert (said.phase, [r.code for r in said.reasons]) == (Phase.PENDING, [Code.NODES_CLAIMED])
    hall.put(node("large", cpu=40))
    assert phases(hall.run()) == [Phase.INQUEUE]
    assert hall.run() == []


def test_a_pod_group_without_pods_is_let_in_when_a_quota_of_its_namespace_is_raised() -> None:
    small = NamespaceQuota("ns/quota", hard=amounts(cpu=8))
    hall = Hall(node("n", cpu=40), small, held_group(), conf=letting_in("resourcequota"))
    said = last(hall.run(), "ns/a")
    assert (said.phase, [(r.code, r.where) for r in said.reasons]) == (Phase.PENDING, [(Code.NAMESPACE_QUOTA, "ns")])
    hall.put(replace(small, hard=amounts(cpu=12)))
    assert phases(hall.run()) == [Phase.INQUEUE]


def test_a_pod_group_without_pods_is_let_in_when_its_queue_may_have_more() -> None:
    small = replace(Queue("default"), capability=amounts(cpu=8))
    hall = Hall(node("n", cpu=40), small, held_group(), conf=letting_in("capacity"))
    assert [r.code for r in last(hall.run(), "ns/a").reasons] == [Code.NOT_LET_IN]
    hall.put(Queue("default"))
    assert phases(hall.run()) == [Phase.INQUEUE]


def test_a_pod_group_without_pods_is_let_in_when_it_has_waited_as_long_as_it_may() -> None:
    by_others = letting_in("overcommit")
    file = replace(by_others, tiers=((Option("sla"),), *by_others.tiers))
    hall = Hall(node("n", cpu=8), held_group(created_ms=1000, waiting_ms=4000), conf=file)
    assert phases(hall.run(2000)) == [Phase.PENDING]
    assert hall.run(4999) == []
    assert phases(hall.run(5000)) == [Phase.INQUEUE]


def test_one_that_has_some_of_its_pods_hears_first_why_it_is_not_let_in() -> None:
    hall = Hall(node("n", cpu=8), replace(held_group(), least=3), conf=letting_in("overcommit"))
    hall.put(*members("ns/a", 2))
    assert [r.code for r in last(hall.run(), "ns/a").reasons] == [Code.NODES_CLAIMED, Code.GANG_INCOMPLETE]
    hall.put(node("large", cpu=40))
    assert [r.code for r in last(hall.run(), "ns/a").reasons] == [Code.GANG_INCOMPLETE]
