"""Records: who is told what, how often, and who stands in the way."""

from __future__ import annotations

from dataclasses import replace

from kumi.engine.decisions import Hold
from kumi.engine.model import Namespace, StopPolicy, Strategy
from kumi.engine.reasons import Ahead, Code, Reason, Record, Tried
from kumi.testing.builders import GPU, door, flavor, node, queue, shape
from kumi.testing.diagram import Cluster


def held(cluster: Cluster) -> dict[str, Record]:
    return {d.workload: d.record for d in cluster.run() if isinstance(d, Hold)}


def test_a_record_says_what_is_needed_what_there_is_and_who_has_it() -> None:
    cluster = Cluster.drawn("n1 | A A A A . .", gpus=8)
    cluster.now_ms = 7
    cluster.submit("B", 4)
    assert held(cluster)["ns/b"] == Record(
        Reason(Code.NODES_FULL, GPU, "default", "", "main", 4000, 2000, 2),
        holders=(Ahead("ns/a", "Job ns/a", 4000),),
        position=1,
        at_ms=7,
        tried=(Tried("main", "default", "Fit"),),
    )


def test_holders_of_quota_are_those_of_the_same_flavor_and_queue_the_largest_first() -> None:
    cluster = Cluster.drawn("n1 | A B B C C C D D D D E .", gpus=11)
    cluster.submit("F", 9)
    assert held(cluster)["ns/f"].holders == (
        Ahead("ns/d", "Job ns/d", 4000),
        Ahead("ns/c", "Job ns/c", 3000),
        Ahead("ns/b", "Job ns/b", 2000),
    )


def test_holders_of_nodes_are_those_on_nodes_that_the_shape_may_use() -> None:
    cluster = Cluster.drawn("n1 | A A A zone=a\nn2 | B x . zone=b")
    cluster.put(flavor(zone="b"))
    cluster.submit("C", 2)
    assert held(cluster)["ns/c"].holders == (Ahead("", "Pod ns/x-0", 1000), Ahead("ns/b", "Job ns/b", 1000))


def test_what_can_never_be_is_nobodys_fault() -> None:
    cluster = Cluster.drawn("n1 | A A .")
    cluster.submit("B", 4)
    record = held(cluster)["ns/b"]
    assert (record.reason.code, record.reason.permanent, record.holders) == (Code.CAPACITY_TOO_SMALL, True, ())


def test_the_other_flavors_noes_are_there_too() -> None:
    cluster = Cluster.drawn("n1 | A")
    cluster.put(queue("cq", {"default": {"gpu": 9}, "spot": {"gpu": 0}}), flavor("spot"))
    cluster.submit("B")
    record = held(cluster)["ns/b"]
    assert (record.reason.code, record.reason.flavor) == (Code.NODES_FULL, "default")
    assert [(r.code, r.flavor) for r in record.others] == [(Code.OVER_QUOTA, "spot")]


def test_position_and_those_ahead_the_head_first_three_at_most() -> None:
    cluster = Cluster.drawn("n1 | A", strategy=Strategy.STRICT)
    for number, letter in enumerate("BCDEF"):
        cluster.submit(letter, created_ms=number)
    records = held(cluster)
    assert [records[f"ns/{key}"].position for key in "bcdef"] == [1, 2, 3, 4, 5]
    assert [a.workload for a in records["ns/f"].ahead] == ["ns/b", "ns/c", "ns/d"]
    assert records["ns/b"].ahead == ()


def test_a_new_one_of_a_kind_that_was_refused_is_told_the_same_without_an_attempt() -> None:
    cluster = Cluster.drawn("n1 | A")
    cluster.submit("B")
    first = held(cluster)["ns/b"]
    cluster.submit("C", created_ms=1)
    second = held(cluster)["ns/c"]
    assert (second.reason, second.holders) == (first.reason, first.holders)
    assert (second.position, [a.workload for a in second.ahead]) == (2, ["ns/b"])


def test_nothing_is_said_twice_and_time_is_no_news() -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.submit("B", 2)
    assert list(held(cluster)) == ["ns/b"]
    cluster.now_ms = 99
    cluster.put(node("n2", gpu=1))
    cluster.put(replace(cluster.state.nodes.node_by_name["n2"], allocatable=(("pods", 1000),)))
    assert held(cluster) == {}


def test_an_attempt_that_meets_the_same_is_no_news() -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.submit("B", 2)
    held(cluster)
    cluster.put(replace(cluster.state.catalog.cluster_queues["cq"], cohort="later"))
    assert held(cluster) == {}


def test_other_numbers_are_news() -> None:
    cluster = Cluster.drawn("n1 | A A B C")
    cluster.submit("D", 4)
    assert held(cluster)["ns/d"].reason.have == 0
    cluster.finish("B")
    record = held(cluster)["ns/d"]
    assert (record.reason.have, record.reason.pods) == (1000, 3)


def test_who_waits_for_a_thing_is_told_which() -> None:
    cluster = Cluster.drawn("n1 | .")
    cluster.put(door("ns/lost", "none"), door("ns/shut", "cq", stop=StopPolicy.HOLD), queue("shy", selector=None))
    cluster.put(door("ns/shy", "shy"), Namespace("ns"))
    for letter, fields in {
        "A": {"active": False},
        "B": {"queue": "ns/none"},
        "C": {"queue": "ns/lost"},
        "D": {"queue": "ns/shut"},
        "E": {"queue": "ns/shy"},
        "F": {"requeue_at_ms": 5},
    }.items():
        cluster.submit(letter, **fields)
    assert {key: record.reason for key, record in held(cluster).items()} == {
        "ns/a": Reason(Code.INACTIVE),
        "ns/b": Reason(Code.NO_LOCAL_QUEUE, where="ns/none"),
        "ns/c": Reason(Code.NO_CLUSTER_QUEUE, where="none"),
        "ns/d": Reason(Code.LOCAL_QUEUE_STOPPED, where="ns/shut"),
        "ns/e": Reason(Code.NAMESPACE_NOT_SELECTED, where="shy"),
        "ns/f": Reason(Code.BACKING_OFF, need=5),
    }


def test_everybody_in_a_queue_that_closes_and_opens_is_told() -> None:
    cluster = Cluster.drawn("n1 | A")
    cluster.submit("B")
    cluster.submit("C", 1, created_ms=1)
    held(cluster)
    cq = cluster.state.catalog.cluster_queues["cq"]
    cluster.put(replace(cq, stop=StopPolicy.HOLD))
    records = held(cluster)
    assert {key: record.reason.code for key, record in records.items()} == dict.fromkeys(
        ("ns/b", "ns/c"), Code.CLUSTER_QUEUE_STOPPED
    )
    assert [record.position for record in records.values()] == [1, 2]
    cluster.put(cq)
    assert {key: record.reason.code for key, record in held(cluster).items()} == dict.fromkeys(
        ("ns/b", "ns/c"), Code.NODES_FULL
    )


def test_a_pod_set_too_large_for_any_node_names_the_largest() -> None:
    cluster = Cluster.drawn("n1 | .\nn2 | A A")
    cluster.submit("B", pod_sets=(replace(cluster.workloads["ns/a"].pod_sets[0], shape=shape(gpu=3)),))
    reason = held(cluster)["ns/b"].reason
    assert (reason.code, reason.where, reason.need, reason.have) == (Code.NODE_TOO_SMALL, "n2", 3000, 2000)
    assert reason.permanent
