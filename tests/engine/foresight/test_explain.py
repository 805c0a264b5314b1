"""Explain: fresh at any time, and nothing is changed by asking."""

from __future__ import annotations

import pytest
from hypothesis import given

from kumi.api.errors import KumiError
from kumi.engine.admission import cycle
from kumi.engine.decisions import Admit, Hold
from kumi.engine.foresight.explain import explain
from kumi.engine.model import Put, StopPolicy, Strategy
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import queue
from kumi.testing.diagram import Cluster, picture
from kumi.testing.strategies import World, worlds


@given(worlds())
def test_asking_changes_nothing_and_agrees_with_what_was_decided(world: World) -> None:
    state = State()
    for noun in world.nouns:
        state.apply(Put(noun))
    decided = cycle.decide(state, 0)
    crowded = any(isinstance(decision, Admit) for decision in decided)
    before = picture(state)
    answers = {job.key: explain(state, job.key, 0) for job in world.workloads}
    assert picture(state) == before
    for decision in decided:
        if isinstance(decision, Admit):
            assert answers[decision.workload] is None
        if isinstance(decision, Hold):
            answer = answers[decision.workload]
            assert answer is not None
            same = answer.reason.code.layer == decision.record.reason.code.layer
            assert same or answer.position > 1 or crowded  # an admission after the attempt may have changed the answer


def test_one_that_nobody_knows_is_an_error_that_names_it() -> None:
    with pytest.raises(KumiError, match="ns/none"):
        explain(State(), "ns/none", 0)


def test_one_that_runs_or_will_next_does_not_wait() -> None:
    cluster = Cluster.drawn("n1 | A .")
    cluster.submit("B")
    assert explain(cluster.state, "ns/a", 0) is None
    assert explain(cluster.state, "ns/b", 0) is None
    cluster.finish("A")
    assert explain(cluster.state, "ns/a", 0) is None


def test_position_and_amounts_are_those_of_now() -> None:
    cluster = Cluster.drawn("n1 | A A B", gpus=99)
    for number, letter in enumerate("CDE"):
        cluster.submit(letter, 3, created_ms=number)
    cluster.run()
    cluster.finish("B")
    cluster.put(queue("cq", {"default": {"gpu": 98}}))
    record = explain(cluster.state, "ns/e", 7)
    assert record is not None
    assert (record.position, [a.workload for a in record.ahead], record.at_ms) == (3, ["ns/c", "ns/d"], 7)
    assert (record.reason.code, record.reason.have) == (Code.NODES_FULL, 1000)
    assert [h.workload for h in record.holders] == ["ns/a"]


def test_asking_brings_nobody_back_though_something_could_help() -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.submit("B", 2)
    cluster.submit("C", 1, requeue_at_ms=5)
    cluster.run()
    cluster.finish("A")
    before = picture(cluster.state)
    assert explain(cluster.state, "ns/b", 9) is None
    assert picture(cluster.state) == before


def test_behind_a_strict_head_the_noes_of_its_own_attempt_are_told_as_well() -> None:
    cluster = Cluster.drawn("n1 | A A .", strategy=Strategy.STRICT)
    cluster.submit("B", 2)
    cluster.submit("C", 3, created_ms=1)
    cluster.submit("D", 1, created_ms=2)
    cluster.run()
    behind, would_fit = explain(cluster.state, "ns/c", 0), explain(cluster.state, "ns/d", 0)
    assert behind is not None
    assert would_fit is not None
    assert (behind.reason.code, [r.code for r in behind.others]) == (Code.BEHIND_HEAD, [Code.NODES_FULL])
    assert (would_fit.reason.code, would_fit.others, would_fit.position) == (Code.BEHIND_HEAD, (), 3)


def test_a_closed_queue_and_a_back_off_are_told_as_such() -> None:
    cluster = Cluster.drawn("n1 | .", stop=StopPolicy.HOLD)
    cluster.submit("A")
    cluster.submit("B", requeue_at_ms=9)
    closed, resting = explain(cluster.state, "ns/a", 0), explain(cluster.state, "ns/b", 8)
    assert closed is not None
    assert closed.reason.code is Code.CLUSTER_QUEUE_STOPPED
    assert resting is not None
    assert resting.reason.code is Code.BACKING_OFF
    over = explain(cluster.state, "ns/b", 9)
    assert over is not None
    assert over.reason.code is Code.CLUSTER_QUEUE_STOPPED
