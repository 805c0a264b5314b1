"""Queues: lines, kinds, heads."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.admission.order import kind, place
from kumi.engine.journal import Journal
from kumi.engine.model import Strategy, Workload
from kumi.engine.queues import Parked, Queues, Spot
from kumi.engine.reasons import Code, Reason
from kumi.testing.builders import workload

FULL = Parked(Reason(Code.NODES_FULL))
JOBS = [workload(f"ns/{n}", 1 + n % 3, gpu=1, created_ms=n * 7 % 5, priority=n % 2) for n in range(9)]


def spot(job: Workload) -> Spot:
    return Spot("cq", place(job), kind(job))


def filled(*jobs: Workload) -> Queues:
    queues = Queues(Journal())
    for job in jobs:
        queues.enter(job.key, spot(job))
    return queues


def plain_head(jobs: list[Workload], parked: set[int], strategy: Strategy) -> str | None:
    """The rule without any index: `parked` are the counts of the kinds set aside."""
    for job in sorted(jobs, key=place):
        if (job.pod_sets[0].count, job.priority) not in parked:
            return job.key
        if strategy is Strategy.STRICT:
            return None
    return None


actions = st.lists(st.tuples(st.sampled_from(["enter", "leave", "park", "wake"]), st.sampled_from(JOBS)), max_size=40)


@given(actions, st.sampled_from(Strategy))
def test_the_head_is_what_the_plain_rule_says(todo: list[tuple[str, Workload]], strategy: Strategy) -> None:
    queues, inside, parked = Queues(Journal()), {}, set()
    for action, job in todo:
        shape = (job.pod_sets[0].count, job.priority)
        if action == "enter" and job.key not in inside:
            queues.enter(job.key, spot(job))
            inside[job.key] = job
        elif action == "leave":
            queues.leave(job.key)
            inside.pop(job.key, None)
        elif action == "park" and job.key in inside:
            queues.park("cq", kind(job), FULL)
            parked.add(shape)
        elif action == "wake" and shape in parked:
            queues.wake("cq", kind(job))
            parked.discard(shape)
        parked &= {(j.pod_sets[0].count, j.priority) for j in inside.values()}
        assert queues.head("cq", strategy) == plain_head(list(inside.values()), parked, strategy)
        line = [j.key for j in sorted(inside.values(), key=place)]
        assert [queues.position(key) for key in line] == list(range(1, len(line) + 1))
        assert [queues.before(key, 3) for key in line] == [line[:n][:3] for n in range(len(line))]
        if queues.head("cq", strategy) is not None:
            assert "cq" in queues.hot


def test_a_new_one_of_a_parked_kind_is_parked_too() -> None:
    first, second = workload("ns/a", gpu=1), workload("ns/b", gpu=1)
    queues = filled(first)
    queues.park("cq", kind(first), FULL)
    queues.enter("ns/b", spot(second))
    assert queues.head("cq", Strategy.BEST_EFFORT) is None


def test_a_better_one_of_another_kind_unblocks_a_strict_queue() -> None:
    first, better = workload("ns/a", 5), workload("ns/b", 1, priority=9)
    queues = filled(first)
    queues.park("cq", kind(first), FULL)
    queues.enter("ns/b", spot(better))
    assert queues.head("cq", Strategy.STRICT) == "ns/b"


def test_waking_all_makes_every_kind_ready() -> None:
    queues = filled(*JOBS)
    for job in JOBS:
        queues.park("cq", kind(job), FULL)
    queues.cool("cq")
    queues.wake_all("cq")
    assert queues.head("cq", Strategy.STRICT) == min(JOBS, key=place).key
    assert "cq" in queues.hot


def test_one_that_is_in_no_line_has_no_position() -> None:
    queues = filled()
    queues.leave("ns/none")
    assert queues.position("ns/none") == 0
    assert queues.before("ns/none", 3) == []
    assert queues.head("cq", Strategy.STRICT) is None


def test_an_empty_line_leaves_nothing_behind() -> None:
    queues = filled(JOBS[0])
    queues.park("cq", kind(JOBS[0]), FULL)
    queues.leave(JOBS[0].key)
    assert (queues.line, queues.members, queues.ready, queues.parked, queues.hot) == ({}, {}, {}, {}, {})


def test_one_that_is_parked_alone_lets_its_equals_pass_and_blocks_a_strict_line_unless_it_is_said_not_to() -> None:
    first, second = workload("ns/a", gpu=1), workload("ns/b", gpu=1)
    queues = filled(first, second)
    queues.park_alone("ns/a", FULL)
    assert queues.head("cq", Strategy.BEST_EFFORT) == "ns/b"
    assert queues.head("cq", Strategy.STRICT) is None
    queues.park_alone("ns/a", replace(FULL, blocks=False))
    assert queues.head("cq", Strategy.STRICT) == "ns/b"
    queues.wake_alone("ns/a")
    assert queues.head("cq", Strategy.STRICT) == "ns/a"


def test_one_that_is_parked_alone_and_leaves_is_forgotten() -> None:
    queues = filled(workload("ns/a", gpu=1))
    queues.park_alone("ns/a", FULL)
    queues.leave("ns/a")
    assert (queues.line, queues.members, queues.alone) == ({}, {}, {})


def test_one_that_sticks_goes_first_until_it_leaves() -> None:
    queues = filled(workload("ns/a", gpu=1, priority=9), workload("ns/b", gpu=2))
    queues.stick("ns/b")
    assert queues.head("cq", Strategy.BEST_EFFORT) == "ns/b"
    queues.leave("ns/b")
    assert queues.head("cq", Strategy.BEST_EFFORT) == "ns/a"
    assert queues.sticky == {}


def test_lanes_take_turns_by_usage_and_then_by_the_places_of_their_heads() -> None:
    usage = {"ns/x": 2.0, "ns/y": 1.0}
    queues = Queues(Journal(), lambda door: usage[door])
    for name, door, priority in (("a", "ns/x", 9), ("b", "ns/y", 1), ("c", "ns/y", 0)):
        one = workload(f"ns/{name}", gpu=1, priority=priority)
        queues.enter(one.key, Spot("cq", place(one), kind(one), door, door))
    assert queues.head("cq", Strategy.BEST_EFFORT) == "ns/b"
    assert list(queues.in_order("cq")) == ["ns/b", "ns/c", "ns/a"]
    assert [queues.position(f"ns/{name}") for name in "abc"] == [3, 1, 2]
    assert queues.before("ns/a", 5) == ["ns/b", "ns/c"]
    usage["ns/y"] = 2.0
    assert queues.head("cq", Strategy.BEST_EFFORT) == "ns/a"
    queues.leave("ns/a")
    assert list(queues.lanes["cq"]) == ["cq ns/y"]


def test_a_kind_is_parked_in_all_lanes() -> None:
    queues = Queues(Journal())
    for name, door in (("a", "ns/x"), ("b", "ns/y")):
        one = workload(f"ns/{name}", gpu=1)
        queues.enter(one.key, Spot("cq", place(one), kind(one), door, door))
    queues.park("cq", kind(workload("ns/a", gpu=1)), FULL)
    assert queues.head("cq", Strategy.BEST_EFFORT) is None
    queues.leave("ns/a")
    queues.wake("cq", kind(workload("ns/b", gpu=1)))
    assert queues.head("cq", Strategy.BEST_EFFORT) == "ns/b"


def test_a_head_that_was_tried_and_stays_is_marked_until_something_happens() -> None:
    queues = filled(workload("ns/a", gpu=1))
    queues.cool("cq")
    queues.try_later("ns/a", FULL)
    assert queues.head("cq", Strategy.STRICT) == "ns/a"
    assert queues.tried == {"cq": {"ns/a": FULL}}
    queues.stir("cq")
    assert (queues.tried, queues.hot) == ({}, {"cq": None})


def test_back_offs_are_kept_by_their_time() -> None:
    queues = Queues(Journal())
    queues.postpone("ns/b", 5)
    queues.postpone("ns/a", 9)
    queues.postpone("ns/c", 5)
    queues.unpostpone("ns/b", 5)
    assert queues.later == [(5, "ns/c"), (9, "ns/a")]
