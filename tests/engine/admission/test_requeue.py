"""Requeue: what was set aside is tried again exactly when something could have helped it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.admission import cycle, requeue
from kumi.engine.admission.entries import Entry
from kumi.engine.admission.flavors import Refused, assign
from kumi.engine.admission.nominate import nominate
from kumi.engine.decisions import Admit, Hold
from kumi.engine.model import (
    ClusterQueue,
    LocalQueue,
    Namespace,
    Node,
    Put,
    Quota,
    Requirement,
    StopPolicy,
    Strategy,
    Workload,
)
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import door, flavor, node, queue, shape
from kumi.testing.diagram import Cluster
from kumi.testing.strategies import World, worlds


def attempts(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """From now on: the workloads that are tried, in order."""
    tried: list[str] = []

    def noted(state: State, workload: Workload, cq: ClusterQueue) -> Entry:
        tried.append(workload.key)
        return nominate(state, workload, cq)

    monkeypatch.setattr(cycle, "nominate", noted)
    return tried


def test_whatever_happens_nobody_who_would_fit_is_left_aside() -> None:
    """The law: after any events and a cycle, a parked kind of an open queue doesn't fit, and its reasons still hold."""
    seen = Counter[str]()

    @settings(max_examples=200, database=None, derandomize=True)
    @given(worlds(), st.lists(st.tuples(st.integers(1, 20), st.integers(0, 5)), min_size=4, max_size=8))
    def check(world: World, events: list[tuple[int, int]]) -> None:
        state = State()
        for noun in world.nouns:
            state.apply(Put(noun))
        cycle.decide(state, 0)
        for which, kind in events:
            happen(state, world, which, kind)
            seen["admitted later"] += sum(isinstance(d, Admit) for d in cycle.decide(state, 0))
            for name in state.queues.line:
                cq = state.catalog.cluster_queues[name]
                head = state.queues.line[name][0][3] if cq.strategy is Strategy.STRICT else None
                for key in state.queues.spot if not state.catalog.closed(name) else ():
                    if state.queues.spot[key].queue == name and head in (None, key):
                        assert isinstance(assign(state, state.workloads[key], cq), Refused)

    check()
    assert seen["admitted later"] > 40, seen


def happen(state: State, world: World, which: int, kind: int) -> None:
    """One event: something ends, a node changes, a queue changes."""
    held = sorted(state.holdings.admission)
    nodes = [n for n in world.setup if isinstance(n, Node)]
    queues = sorted(state.catalog.cluster_queues)
    if kind <= 1 and held:
        state.apply(Put(replace(state.workloads[held[which % len(held)]], finished=True)))
    elif kind == 2 and nodes:
        was = nodes[which % len(nodes)]
        has = (("cpu", 9000), ("nvidia.com/gpu", 1000 * which))
        state.apply(Put(replace(was, allocatable=has, ready=True, taints=(), unschedulable=False)))
    elif kind == 3 and nodes:
        was = nodes[which % len(nodes)]
        state.apply(Put(replace(was, unschedulable=not was.unschedulable, taints=())))
    elif kind == 4:
        cq = state.catalog.cluster_queues[queues[which % len(queues)]]
        groups = tuple(replace(g, flavors=tuple(_more(f, which) for f in g.flavors)) for g in cq.groups)
        state.apply(Put(replace(cq, groups=groups, stop=StopPolicy.NONE)))
    elif kind == 5:
        state.apply(Put(Namespace("blue", (("team", "red"),))))


def _more(quotas: object, units: int) -> object:
    named = quotas.quotas  # type: ignore[attr-defined]
    return replace(quotas, quotas=tuple((r, Quota(q.nominal + 1000 * units)) for r, q in named))  # type: ignore[type-var]


def test_quota_that_is_freed_brings_back_those_whom_it_is_enough_for_and_the_first_in_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Cluster.drawn("n1 | A A B . . . . .", gpus=4)
    for letter, count in (("C", 4), ("D", 2), ("E", 3)):
        cluster.submit(letter, count)
    cluster.run()
    assert cluster.holding() == "AB"
    tried = attempts(cluster, monkeypatch)
    cluster.finish("B")
    cluster.run()
    assert tried == ["ns/c", "ns/d"]
    assert cluster.holding() == "AD"


def test_room_on_a_node_brings_back_those_for_whom_it_may_be_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster.drawn("n1 | A A B\nn2 | C")
    cluster.submit("D", pod_sets=(replace(cluster.workloads["ns/a"].pod_sets[0], count=1, shape=shape(gpu=2)),))
    cluster.submit("E", 2)
    cluster.run()
    tried = attempts(cluster, monkeypatch)
    cluster.finish("B")
    cluster.run()
    assert tried == []
    cluster.finish("A")
    cluster.run()
    assert (tried, cluster.holding()) == (["ns/d", "ns/e"], "CD")  # E is the first in line now


def test_one_that_was_brought_back_is_not_tried_when_others_have_taken_the_quota(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Cluster.drawn("n1 | A A . . . . .", gpus=3)
    cluster.submit("B", 3, priority=2)
    cluster.submit("C", 3, priority=1)
    cluster.submit("D", 2)
    cluster.run()
    tried = attempts(cluster, monkeypatch)
    cluster.finish("A")
    cluster.run()
    assert (tried, cluster.holding()) == (["ns/b", "ns/c"], "B")  # C is the first in line now
    cluster.put(replace(cluster.workloads["ns/c"], active=False))
    cluster.finish("B")
    cluster.run()
    assert (tried, cluster.holding()) == (["ns/b", "ns/c", "ns/d"], "D")


def test_a_node_that_the_shape_may_not_use_helps_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster.drawn("n1 | A")
    cluster.submit("B", 1)
    cluster.run()
    tried = attempts(cluster, monkeypatch)
    cluster.put(node("n2", gpu=4, unschedulable=True))
    cluster.run()
    assert tried == []
    cluster.put(node("n2", gpu=4))
    cluster.run()
    assert (tried, cluster.holding()) == (["ns/b"], "AB")


@pytest.mark.parametrize("event", ["grows", "is uncordoned", "gets the label", "loses the taint", "is ready", "joins"])
def test_a_node_that_changes_brings_back_those_who_may_use_it(event: str) -> None:
    good = node("n1", {"zone": "a"}, gpu=2)
    bad = {
        "grows": node("n1", {"zone": "a"}, gpu=1),
        "is uncordoned": replace(good, unschedulable=True),
        "gets the label": replace(good, labels=()),
        "loses the taint": node(
            "n1", {"zone": "a"}, gpu=2, taints=Cluster.drawn("n | !t").state.nodes.node_by_name["n"].taints
        ),
        "is ready": replace(good, ready=False),
        "joins": None,
    }[event]
    cluster = Cluster.drawn("")
    cluster.put(flavor("default", zone="a"), *([bad] if bad else []))
    cluster.submit("A", 2)
    cluster.run()
    assert cluster.holding() == ""
    cluster.put(good)
    cluster.run()
    assert cluster.holding() == "A"


def test_a_change_of_the_queue_brings_everybody_back() -> None:
    cluster = Cluster.drawn("n1 | . . . .", gpus=1)
    cluster.submit("A", 2)
    (hold,) = cluster.run()
    assert isinstance(hold, Hold)
    assert hold.record.reason.code is Code.OVER_QUOTA
    cluster.put(queue("cq", {"default": {"gpu": 2}}))
    cluster.run()
    assert cluster.holding() == "A"


def test_a_change_of_the_flavor_brings_everybody_back() -> None:
    cluster = Cluster.drawn("n1 | . . zone=a")
    cluster.put(flavor("default", zone="b"))
    cluster.submit("A", 2)
    cluster.run()
    cluster.put(flavor("default", zone="a"))
    cluster.run()
    assert cluster.holding() == "A"


def test_a_search_that_was_cut_is_tried_again_at_any_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kumi.engine.admission.combinations.OPTIONS_AT_MOST", 1)
    cluster = Cluster.drawn("n1 | A B . .", gpus=9)
    both = tuple(replace(cluster.workloads["ns/a"].pod_sets[0], name=n, count=2) for n in ("leader", "worker"))
    cluster.submit("C", pod_sets=both)
    cluster.run()
    tried = attempts(cluster, monkeypatch)
    cluster.finish("B")
    cluster.run()
    cluster.put(node("n2", gpu=1, unschedulable=True))
    cluster.run()
    assert tried == ["ns/c"] * 2


def test_a_back_off_is_waited_for() -> None:
    cluster = Cluster.drawn("n1 | . .")
    cluster.submit("A", 2, requeue_at_ms=1000)
    (hold,) = cluster.run()
    assert isinstance(hold, Hold)
    assert hold.record.reason.code is Code.BACKING_OFF
    cluster.now_ms = 999
    assert cluster.run() == []
    cluster.now_ms = 1000
    cluster.run()
    assert cluster.holding() == "A"


def test_one_that_backs_off_blocks_nobody_even_where_the_order_is_strict() -> None:
    cluster = Cluster.drawn("n1 | . .", strategy=Strategy.STRICT)
    cluster.submit("A", 9, requeue_at_ms=1000)
    cluster.submit("B", 2, created_ms=1)
    cluster.run()
    assert cluster.holding() == "B"


@pytest.mark.parametrize("what", ["door", "queue", "namespace", "activation", "door opens", "queue opens"])
def test_one_that_waits_for_a_thing_is_tried_when_it_is_there(what: str) -> None:
    cluster = Cluster.drawn("n1 | .", selector=(Requirement("team", "In", ("red",)),))
    cq, lq = cluster.state.catalog.cluster_queues["cq"], door("ns/lq", "cq")
    there = Namespace("ns", (("team", "red"),))
    cluster.put(there)
    missing = {
        "door": lambda: cluster.remove(LocalQueue, "ns/lq"),
        "queue": lambda: cluster.remove(type(cq), "cq"),
        "namespace": lambda: cluster.remove(Namespace, "ns"),
        "activation": lambda: None,
        "door opens": lambda: cluster.put(replace(lq, stop=StopPolicy.HOLD)),
        "queue opens": lambda: cluster.put(replace(cq, stop=StopPolicy.HOLD)),
    }
    missing[what]()
    job = cluster.submit("A", active=what != "activation")
    assert [type(d) for d in cluster.run()] == [Hold]
    assert cluster.run() == []
    cluster.put(cq, lq, there, replace(job, active=True))
    cluster.run()
    assert cluster.holding() == "A"


def test_an_update_that_changes_nothing_for_the_queue_brings_nobody_back(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster.drawn("n1 | A")
    job = cluster.submit("B")
    cluster.run()
    tried = attempts(cluster, monkeypatch)
    cluster.put(replace(job, job="renamed"), replace(job, evicted=True))
    assert cluster.run() == []
    assert tried == []
    cluster.put(replace(job, priority=1))
    cluster.run()
    assert tried == ["ns/b"]


def test_bringing_back_twice_changes_nothing() -> None:
    cluster = Cluster.drawn("n1 | A")
    cluster.submit("B")
    cluster.run()
    cluster.finish("A")
    requeue.bring_back(cluster.state, 0)
    ready = repr(cluster.state.queues.ready)
    requeue.bring_back(cluster.state, 0)
    assert repr(cluster.state.queues.ready) == ready
