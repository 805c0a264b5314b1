"""Single GPUs: who has which share of which, whatever happens, and the same after a restart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.decisions import Admit, Bind, Evict, EvictPod, Hold, Nominate, Unplaced
from kumi.engine.gangs import Member, PodGroup, PriorityClass, Queue
from kumi.engine.model import Evictable, Noun, Pod, PodShape, Preemption, Profile, Put, Remove, Workload
from kumi.engine.placement import session
from kumi.engine.placement.devices import WHOLE
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import GPU, door, flavor, node, pod, pods_of, queue, workload

SHARES = (100, 250, 300, 460, 500, 600, 750, 900)


def sharing(thousandths: int, cpu: int = 0) -> PodShape:
    return PodShape((("cpu", cpu), (GPU, thousandths)), share=thousandths)


def wholly(gpus: int) -> PodShape:
    return PodShape(((GPU, gpus * WHOLE),))


shapes = st.sampled_from(SHARES).map(sharing) | st.integers(1, 3).map(wholly)


def state_of(*nouns: Noun, **arguments: str) -> State:
    state = State(Profile(arguments=arguments))
    for noun in nouns:
        state.apply(Put(noun))
    return state


def decide(state: State) -> list[Any]:
    """What placement says, acknowledged; no rule is broken afterwards."""
    decided = session.decide(state, 0)
    for decision in decided:
        state.settle(decision, ok=True)
    invariants.check(state)
    return decided


def place(state: State, *pods: Pod) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Each pod alone, one after the other: name -> (node, devices)."""
    found = {}
    for one in pods:
        state.apply(Put(one))
        for decision in decide(state):
            if isinstance(decision, Bind):
                found[decision.pod.partition("/")[2]] = (decision.node, decision.devices)
    return found


def used(state: State, name: str) -> list[int]:
    column: list[int] = state.nodes.devices.used[:, state.nodes.row_by_name[name]].tolist()
    return column


class TestLaws:
    @given(st.lists(shapes, max_size=12), st.integers(0, 4), shapes)
    def test_room_is_how_many_more_of_them_find_devices_one_after_the_other(
        self, there: list[PodShape], gpus: int, asked: PodShape
    ) -> None:
        state = state_of(node("n", gpu=gpus))
        place(state, *(pod(f"ns/{i}", shape=shape, created_ms=i) for i, shape in enumerate(there)))
        row = np.array([state.nodes.row_by_name["n"]])
        room = int(state.nodes.places(asked, np.ones(state.nodes.used.shape[1], dtype=np.bool_))[row[0]])
        more = place(state, *(pod(f"ns/more-{i}", shape=asked, created_ms=99 + i) for i in range(room + 1)))
        assert len(more) == room

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_whatever_comes_and_goes_no_device_is_over_and_a_restart_finds_the_same(self, data: st.DataObject) -> None:
        state = state_of(node("a", gpu=2), node("b", gpu=3))
        nouns: dict[str, Pod] = {}
        for i in range(data.draw(st.integers(1, 14))):
            if nouns and data.draw(st.integers(0, 3)) == 0:
                uid = data.draw(st.sampled_from(sorted(nouns)))
                del nouns[uid]
                state.apply(Remove(Pod, uid))
            one = pod(f"ns/{i}", shape=data.draw(shapes), created_ms=i)
            nouns[one.uid] = one
            state.apply(Put(one))
            for decision in decide(state):
                if isinstance(decision, Bind):
                    bound = replace(nouns[decision.pod], node=decision.node, devices=decision.devices)
                    nouns[decision.pod] = bound
                    state.apply(Put(bound if data.draw(st.booleans()) else replace(bound, devices=())))
            invariants.check(state)
        again = state_of(node("b", gpu=3), node("a", gpu=2), *data.draw(st.permutations(list(nouns.values()))))
        invariants.check(again)
        for uid, one in nouns.items():
            if one.devices:
                assert again.nodes.devices.of(uid) == one.devices == state.nodes.devices.of(uid)

    @given(st.lists(st.tuples(shapes, st.lists(st.integers(0, 4), max_size=3, unique=True)), max_size=8))
    def test_pods_that_come_bound_from_outside_are_no_fault_of_the_engine(
        self, found: list[tuple[PodShape, list[int]]]
    ) -> None:
        pods = [
            pod(f"ns/{i}", shape=shape, node="n", devices=tuple(devices), created_ms=i)
            for i, (shape, devices) in enumerate(found)
        ]
        kept = [
            p
            for p in pods
            if not p.devices or len(p.devices) == (1 if p.shape.share else p.shape.requests[0][1] // WHOLE)
        ]
        kept = [p for p in kept if all(d < 3 for d in p.devices)]
        state = state_of(node("n", gpu=3), *kept)
        invariants.check(state)
        for one in kept:
            state.apply(Remove(Pod, one.uid))
            invariants.check(state)
        assert not state.nodes.devices.used.any()

    @given(st.lists(shapes, min_size=1, max_size=8), shapes)
    def test_a_trial_leaves_no_trace(self, there: list[PodShape], more: PodShape) -> None:
        state = state_of(node("n", gpu=4))
        place(state, *(pod(f"ns/{i}", shape=shape, created_ms=i) for i, shape in enumerate(there)))
        devices = state.nodes.devices
        before = (devices.used.copy(), dict(devices.seats), devices.shared)
        with state.trial():
            state.apply(Put(pod("ns/more", shape=more, created_ms=99)))
            session.decide(state, 0)
            state.apply(Remove(Pod, "ns/0"))
        assert devices.used[: before[0].shape[0], : before[0].shape[1]].tolist() == before[0].tolist()
        assert (devices.seats, devices.shared) == before[1:]

    @given(st.lists(shapes, max_size=3), shapes, st.integers(1, 4))
    def test_many_at_once_are_where_one_after_the_other_would_be(
        self, there: list[PodShape], asked: PodShape, count: int
    ) -> None:
        state = state_of(node("n", gpu=3), pod("ns/first", shape=sharing(300), node="n", devices=(0,)))
        place(state, *(pod(f"ns/{i}", shape=shape, created_ms=1 + i) for i, shape in enumerate(there)))
        devices, rows = state.nodes.devices, np.array([state.nodes.row_by_name["n"]])
        found = []
        for each in (count, 1):
            with state.trial():
                given: tuple[int, ...] = ()
                for _ in range(count // each):
                    state.nodes.use_rows(rows, asked.requests, np.array([each]))
                    given += devices.fill(asked, rows, np.array([each]))[0]
                found.append((given, used(state, "n")))
                devices.give(int(rows[0]), given, -(asked.share or WHOLE))
                assert devices.used.sum() == sum(seat.each * len(seat.devices) for seat in devices.seats.values())
        assert found[0] == found[1]


class TestWhich:
    def test_a_share_goes_to_the_fullest_device_that_has_so_much(self) -> None:
        state = state_of(node("n", gpu=3))
        found = place(
            state,
            *(
                pod(f"ns/{name}", shape=sharing(share), created_ms=i)
                for i, (name, share) in enumerate([("a", 300), ("b", 800), ("c", 200), ("d", 500), ("e", 300)])
            ),
        )
        assert {name: devices for name, (_, devices) in found.items()} == {
            "a": (0,),
            "b": (1,),
            "c": (1,),
            "d": (0,),
            "e": (2,),
        }

    def test_whole_devices_are_the_lowest_that_nobody_shares(self) -> None:
        state = state_of(node("n", gpu=4))
        found = place(state, pod("ns/s", shape=sharing(100)), pod("ns/w", shape=wholly(2), created_ms=1))
        assert found == {"s": ("n", (0,)), "w": ("n", (1, 2))}

    def test_where_nobody_shares_no_device_is_named_and_none_is_kept(self) -> None:
        state = state_of(node("n", gpu=2))
        assert place(state, pod("ns/w", shape=wholly(1)))["w"] == ("n", ())
        assert not state.nodes.devices.shared
        assert not state.nodes.devices.seats

    def test_whole_gpus_from_before_anybody_shared_count_without_a_number(self) -> None:
        state = state_of(node("n", gpu=2))
        place(state, pod("ns/w", shape=wholly(1)))
        assert place(state, pod("ns/a", shape=sharing(600), created_ms=1)) == {"a": ("n", (0,))}
        assert place(state, pod("ns/b", shape=sharing(600), created_ms=2)) == {}
        assert place(state, pod("ns/c", shape=sharing(400), created_ms=3)) == {"c": ("n", (0,))}

    def test_an_object_without_the_devices_takes_nothing_back_that_was_decided(self) -> None:
        state = state_of(node("n", gpu=2))
        shares = [("a", 300), ("b", 800), ("c", 200)]
        place(state, *(pod(f"ns/{name}", shape=sharing(share), created_ms=i) for i, (name, share) in enumerate(shares)))
        state.apply(Remove(Pod, "ns/b"))
        state.apply(Put(pod("ns/c", shape=sharing(200), created_ms=2, node="n", priority=5)))
        assert (state.nodes.devices.of("ns/a"), state.nodes.devices.of("ns/c")) == ((0,), (1,))

    def test_later_those_who_leave_have_left_and_those_who_are_promised_have_come(self) -> None:
        leaving = pod("ns/a", shape=sharing(600), node="n", devices=(0,), terminating=True)
        state = state_of(node("n", gpu=2), leaving, pod("ns/b", shape=sharing(700), node="n", devices=(1,)))
        devices, nodes, row = state.nodes.devices, state.nodes, state.nodes.row_by_name["n"]
        assert devices.choose(sharing(400), row) == (0,)
        assert devices.choose(sharing(900), row, later=True) == (0,)
        nodes.pipeline("n", sharing(800).requests, 1)
        devices.seat("ns/c", sharing(800), row, promised=True)
        assert devices.of("ns/c") == ()
        assert [devices.choose(sharing(share), row, later=True) for share in (200, 300, 400)] == [(0,), (1,), ()]
        assert [int(devices.room(sharing(100), np.array([row]), later=later)[0]) for later in (False, True)] == [7, 5]
        assert (devices.over(row, later=True), devices.goes(sharing(400), row)) == (0, False)

    def test_who_says_where_it_is_has_its_device_and_who_does_not_makes_room(self) -> None:
        state = state_of(node("n", gpu=2), pod("ns/a", shape=sharing(700), node="n"))
        state.apply(Put(pod("ns/b", shape=sharing(700), node="n", devices=(0,))))
        invariants.check(state)
        assert (state.nodes.devices.of("ns/b"), state.nodes.devices.of("ns/a")) == ((0,), (1,))


class TestRoom:
    def test_enough_together_is_not_enough_on_one(self) -> None:
        state = state_of(node("n", gpu=2))
        place(state, *(pod(f"ns/{n}", shape=sharing(600), created_ms=n) for n in range(2)))
        state.apply(Put(pod("ns/late", shape=sharing(500), created_ms=9)))
        (said,) = decide(state)
        assert isinstance(said, Unplaced)
        (reason,) = said.reasons
        assert (reason.code, reason.resource, reason.need, reason.have, reason.detail) == (
            Code.GPUS_SPLIT,
            GPU,
            500,
            400,
            "share",
        )

    def test_a_whole_gpu_is_not_two_halves(self) -> None:
        state = state_of(node("n", gpu=2))
        place(state, *(pod(f"ns/{n}", shape=sharing(500 + n), created_ms=n) for n in range(2)))
        state.apply(Put(pod("ns/late", shape=wholly(1), created_ms=9)))
        (said,) = decide(state)
        assert [(r.code, r.need, r.have) for r in said.reasons] == [(Code.NODES_FULL, 1000, 999)]
        state.apply(Remove(Pod, "ns/0"))
        assert [type(d) for d in decide(state)] == [Bind]

    def test_who_ends_gives_its_share_back(self) -> None:
        state = state_of(node("n", gpu=1))
        place(state, pod("ns/a", shape=sharing(600)))
        state.apply(Put(pod("ns/b", shape=sharing(600), created_ms=1)))
        assert [type(d) for d in decide(state)] == [Unplaced]
        state.apply(Put(pod("ns/a", shape=sharing(600), node="n", finished=True)))
        (bound,) = decide(state)
        assert (bound.pod, bound.devices) == ("ns/b", (0,))

    def test_a_node_that_goes_and_comes_back_has_its_pods_on_their_devices(self) -> None:
        state = state_of(
            node("n", gpu=2), *(pod(f"ns/{d}", shape=sharing(700), node="n", devices=(d,)) for d in (1, 0))
        )
        state.apply(Remove(type(node("n")), "n"))
        invariants.check(state)
        state.apply(Put(node("n", gpu=2)))
        invariants.check(state)
        assert [state.nodes.devices.of(f"ns/{d}") for d in (0, 1)] == [(0,), (1,)]

    def test_a_node_that_loses_devices_is_over_and_takes_nobody(self) -> None:
        state = state_of(
            node("n", gpu=2), *(pod(f"ns/{d}", shape=sharing(700), node="n", devices=(d,)) for d in (0, 1))
        )
        state.apply(Put(node("n", gpu=1)))
        invariants.check(state)
        state.apply(Put(pod("ns/late", shape=sharing(100), created_ms=9)))
        assert [type(d) for d in decide(state)] == [Unplaced]


def gang(key: str, count: int, shape: PodShape, **fields: Any) -> Iterable[Any]:
    yield PodGroup(key, "q", 0, least=count)
    for n in range(count):
        made = pod(f"{key}-{n}", shape=shape, created_ms=n, **fields)
        yield replace(made, member=Member(group=key))


class TestGangs:
    def test_a_gang_gets_devices_as_pods_on_their_own_do(self) -> None:
        state = state_of(Queue("q"), node("n", gpu=2), *gang("ns/g", 4, sharing(500)))
        binds = [d for d in decide(state) if isinstance(d, Bind)]
        assert sorted(b.devices for b in binds) == [(0,), (0,), (1,), (1,)]

    def test_a_gang_preempts_on_single_gpus(self) -> None:
        there = [
            replace(
                pod(f"ns/low-{n}", shape=sharing(600), node="n", devices=(n,), phase="Running"),
                member=Member(group="ns/low"),
            )
            for n in range(2)
        ]
        low = PodGroup("ns/low", "q", 0, least=1, priority_class="low")
        high = list(gang("ns/high", 1, sharing(500)))
        high[0] = replace(high[0], priority_class="high")
        classes = (PriorityClass("low", 1), PriorityClass("high", 9))
        state = state_of(Queue("q"), *classes, node("n", gpu=2), low, *there, *high)
        decided = decide(state)
        (gone,) = [d.pod for d in decided if isinstance(d, EvictPod)]
        state.apply(Remove(Pod, gone))
        (bound,) = [d for d in decide(state) if isinstance(d, Bind)]
        assert (bound.pod, bound.devices) == ("ns/high-0", (int(gone[-1]),))

    def test_a_gang_that_fits_together_and_not_on_single_gpus_waits(self) -> None:
        state = state_of(Queue("q"), node("n", gpu=2), *gang("ns/g", 3, sharing(600)))
        assert not [d for d in decide(state) if isinstance(d, Bind)]
        state.apply(Put(node("m", gpu=1)))
        assert len([d for d in decide(state) if isinstance(d, Bind)]) == 3


def admitting(*nouns: Noun) -> State:
    return state_of(flavor(), queue("cq", {"default": {"gpu": 99, "cpu": 99}}), door("ns/lq", "cq"), *nouns)


def of_shares(key: str, count: int, thousandths: int, **fields: Any) -> Workload:
    made = workload(key, count, queue="ns/lq", **fields)
    sets = (replace(made.pod_sets[0], shape=sharing(thousandths, 1000)),)
    return replace(made, pod_sets=sets)


class TestAdmission:
    def test_quota_counts_thousandths_and_nodes_single_gpus(self) -> None:
        state = admitting(node("n", cpu=9, gpu=2), of_shares("ns/a", 2, 600), of_shares("ns/b", 1, 500, created_ms=1))
        decided = cycle.decide(state, 0)
        assert [d.workload for d in decided if isinstance(d, Admit)] == ["ns/a"]
        invariants.check(state)
        assert state.holdings.usage["ns/a"][("default", GPU)] == 1200
        (held,) = [d for d in decided if isinstance(d, Hold)]
        assert held.record.reason.code is Code.GPUS_SPLIT

    def test_its_pods_get_the_devices_that_were_promised(self) -> None:
        one = of_shares("ns/a", 3, 600)
        state = admitting(node("n", cpu=9, gpu=3), one)
        for decision in cycle.decide(state, 0):
            state.settle(decision, ok=True)
        promised = used(state, "n")
        assert promised == [600, 600, 600]
        for made in pods_of(one):
            state.apply(Put(made))
        assert sorted(d.devices for d in decide(state)) == [(0,), (1,), (2,)]
        assert used(state, "n") == promised

    def test_a_pod_on_its_own_does_not_take_a_promised_share(self) -> None:
        state = admitting(node("n", cpu=9, gpu=1), of_shares("ns/a", 1, 600))
        for decision in cycle.decide(state, 0):
            state.settle(decision, ok=True)
        assert place(state, pod("ns/x", shape=sharing(500)), pod("ns/y", shape=sharing(400), created_ms=1)) == {
            "y": ("n", (0,))
        }

    def test_after_a_restart_a_promise_moves_for_a_pod_that_has_its_device(self) -> None:
        one = of_shares("ns/a", 2, 600)
        state = admitting(node("n", cpu=9, gpu=2), one)
        (admit,) = [d for d in cycle.decide(state, 0) if isinstance(d, Admit)]
        (first, *_) = pods_of(one)
        held = replace(one, admission=admit.admission, admitted=True)
        again = admitting(node("n", cpu=9, gpu=2), held, replace(first, node="n", devices=(1,)))
        invariants.check(again)
        assert used(again, "n") == [600, 600]

    def test_a_victim_makes_room_on_its_gpu(self) -> None:
        preempting = Preemption(within=Evictable.LOWER_PRIORITY)
        one, high = of_shares("ns/a", 1, 600), of_shares("ns/b", 1, 500, created_ms=1, priority=9)
        state = admitting(
            queue("cq", {"default": {"gpu": 99, "cpu": 99}}, preemption=preempting), node("n", cpu=9, gpu=1), one
        )
        for decision in cycle.decide(state, 0):
            state.settle(decision, ok=True)
        state.apply(Put(high))
        decided = cycle.decide(state, 0)
        assert [d.workload for d in decided if isinstance(d, Evict)] == ["ns/a"]
        invariants.check(state)
        for decision in decided:
            state.settle(decision, ok=True)
        state.apply(Remove(Workload, "ns/a"))
        assert [d.workload for d in cycle.decide(state, 0) if isinstance(d, Admit)] == ["ns/b"]
        invariants.check(state)


class TestPreempting:
    @pytest.mark.parametrize("asked", [sharing(500), wholly(1)])
    def test_who_goes_makes_room_on_one_gpu(self, asked: PodShape) -> None:
        there = [pod(f"ns/{n}", shape=sharing(600), node="n", devices=(n,), created_ms=n) for n in range(2)]
        state = state_of(node("n", gpu=2), *there, pod("ns/high", shape=asked, priority=9, created_ms=9))
        decided = decide(state)
        assert [d.pod for d in decided if isinstance(d, EvictPod)] == ["ns/1"]
        assert [d.pod for d in decided if isinstance(d, Nominate)] == ["ns/high"]
        state.apply(Remove(Pod, "ns/1"))
        (bound,) = [d for d in decide(state) if isinstance(d, Bind)]
        assert (bound.pod, bound.devices) == ("ns/high", (1,))

    def test_a_gpu_that_somebody_has_without_a_number_is_not_free_for_it(self) -> None:
        state = state_of(node("n", gpu=3))
        shares = [pod(f"ns/{name}", shape=sharing(600), created_ms=1) for name in "ab"]
        place(state, pod("ns/w", shape=wholly(1), priority=9), *shares)
        state.apply(Put(pod("ns/high", shape=sharing(500), priority=5, created_ms=9)))
        assert len([d for d in decide(state) if isinstance(d, EvictPod)]) == 1

    def test_nobody_goes_where_it_would_not_help(self) -> None:
        there = [
            pod(f"ns/{n}", shape=sharing(share), node="n", devices=(0,), priority=9 - n)
            for n, share in [(0, 600), (9, 300)]
        ]
        state = state_of(node("n", gpu=1), *there, pod("ns/high", shape=sharing(500), priority=9, created_ms=9))
        assert [type(d) for d in decide(state)] == [Unplaced]
