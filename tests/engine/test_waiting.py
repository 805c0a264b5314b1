"""Waiting: the line of pods on their own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import Member
from kumi.engine.journal import Journal
from kumi.engine.model import Pod
from kumi.engine.placement.nodes import Nodes
from kumi.engine.settings import UNSAID_MS, QueueOrder
from kumi.engine.shares import Shares
from kumi.engine.waiting import Waiting
from kumi.testing.builders import node, pod

ALONE = pod("ns/p", gpu=1)
LENGTHS = st.none() | st.integers(1, 5)


def said(name: str, deadline: int | None, execution: int | None, **fields: object) -> Pod:
    return replace(pod(f"ns/{name}"), member=Member(deadline_ms=deadline, execution_ms=execution), **fields)  # type: ignore[arg-type]


def line(order: QueueOrder, *pods: Pod) -> list[str]:
    waiting = Waiting(Journal(), order)
    for one in pods:
        waiting.enter(one)
    return list(waiting.in_order())


@given(
    st.lists(st.tuples(LENGTHS, LENGTHS, st.integers(0, 1), st.integers(0, 2)), max_size=7), st.sampled_from(QueueOrder)
)
def test_the_line_is_sorted_by_priority_then_what_the_order_counts_then_creation_and_uid(
    wanted: list[tuple[int | None, int | None, int, int]], order: QueueOrder
) -> None:
    pods = [said(f"p{n}", d, e, priority=p, created_ms=c) for n, (d, e, p, c) in enumerate(wanted)]

    def place(one: Pod) -> tuple[object, ...]:
        counts = order.counts_ms(one.member.deadline_ms, one.member.execution_ms)
        return (-one.priority, counts is None, counts or 0, one.created_ms, one.uid)

    assert line(order, *reversed(pods)) == [one.uid for one in sorted(pods, key=place)]


def test_those_of_one_second_go_by_uid_as_they_came_whatever_they_are_called() -> None:
    second, first = replace(ALONE, uid="2", key="ns/a"), replace(ALONE, uid="1", key="ns/b")
    assert line(QueueOrder.TIME, second, first) == ["1", "2"]


def test_one_that_leaves_while_the_line_is_gone_through_is_not_missed_and_makes_nobody_miss() -> None:
    waiting = Waiting(Journal())
    pods = {one.uid: one for one in (pod("ns/a"), pod("ns/b"), pod("ns/c"))}
    for one in pods.values():
        waiting.enter(one)
    seen = []
    for uid in waiting.in_order():
        seen.append(uid)
        waiting.leave(pods[uid])
    assert (seen, waiting.line, waiting.has(ALONE)) == (["ns/a", "ns/b", "ns/c"], [], False)


def test_those_among_whom_is_asked_are_in_order_whether_they_are_in_line_or_not() -> None:
    waiting = Waiting(Journal(), QueueOrder.SHORTEST)
    slow, fast = said("a", None, 9), said("b", None, 1)
    assert list(waiting.in_order([slow, fast])) == ["ns/b", "ns/a"]


@pytest.fixture
def shares() -> Shares:
    nodes = Nodes(Journal())
    nodes.put(node("n", cpu=10, gpu=4))
    return Shares(Journal(), nodes)


def test_the_namespace_that_holds_the_smaller_share_goes_first_and_its_share_moves_as_it_is_served(
    shares: Shares,
) -> None:
    waiting = Waiting(Journal(), QueueOrder.FAIR, shares)
    pods = {one.uid: one for one in (pod(f"{ns}/{n}", cpu=2, created_ms=n) for ns in ("a", "b") for n in range(3))}
    for one in pods.values():
        waiting.enter(one)
    shares.seat("b", pods["b/0"].shape.requests, 1)
    seen = []
    for uid in waiting.in_order():
        seen.append(uid)
        waiting.leave(pods[uid])
        shares.seat(pods[uid].namespace, pods[uid].shape.requests, 1)
    assert seen == ["a/0", "b/0", "a/1", "b/1", "a/2", "b/2"]
    assert (waiting.line, waiting.of_namespace) == ([], {})


def test_priority_comes_before_shares(shares: Shares) -> None:
    waiting = Waiting(Journal(), QueueOrder.FAIR, shares)
    shares.seat("a", pod("a/x", cpu=9).shape.requests, 1)
    assert list(waiting.in_order([pod("b/p"), pod("a/q", priority=1), pod("a/r")])) == ["a/q", "b/p", "a/r"]


def test_those_with_an_earlier_turn_are_found_behind_others(shares: Shares) -> None:
    waiting = Waiting(Journal(), QueueOrder.FAIR, shares)
    shares.seat("b", pod("b/x", cpu=9).shape.requests, 1)
    late, early = pod("a/p", created_ms=9), pod("b/q", created_ms=1)
    for one in (late, early):
        waiting.enter(one)
    assert list(waiting.in_order()) == ["a/p", "b/q"]
    assert list(waiting.in_order(before=(0, UNSAID_MS, 5, ""))) == ["b/q"]
    assert list(waiting.in_order([late, early], before=(0, UNSAID_MS, 5, ""))) == ["b/q"]


def test_of_those_that_find_no_room_whoever_has_not_heard_why_is_named() -> None:
    waiting = Waiting(Journal())
    full = pod("ns/full", cpu=1)
    waiting.enter(full)
    alike = waiting.by_shape[full.shape]
    alike.full = alike.news = True
    assert list(waiting.that_may_fit([])) == ["ns/full"]
    alike.news = False
    assert list(waiting.that_may_fit([])) == []
