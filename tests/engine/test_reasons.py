"""Reasons: every code says its layer and what would help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kumi.engine.foresight.explain import explain
from kumi.engine.model import (
    AdmissionCheck,
    CheckRule,
    CheckState,
    ClusterQueue,
    Evictable,
    LocalQueue,
    Namespace,
    PodShape,
    Preemption,
    Profile,
    Requirement,
    StopPolicy,
    Strategy,
    Workload,
)
from kumi.engine.reasons import Code, Layer, Reason
from kumi.engine.settings import PodsReady, Settings
from kumi.testing.builders import door, flavor, node, queue
from kumi.testing.diagram import Cluster

Event = Callable[[Cluster], None]


@pytest.mark.parametrize("code", Code, ids=lambda code: code.name)
def test_every_code_names_a_layer_and_what_would_help(code: Code) -> None:
    assert isinstance(code.layer, Layer)
    assert code.helps
    assert Code[code.name] is code


def test_layers_are_in_the_order_in_which_an_attempt_meets_them() -> None:
    met = [Code.INACTIVE, Code.NO_LOCAL_QUEUE, Code.QUOTA_IN_USE, Code.NODES_FULL, Code.NODE_TOO_SMALL]
    assert [code.layer for code in met] == sorted({code.layer for code in met})


def test_how_many_nodes_say_no_is_no_difference() -> None:
    reason = Reason(Code.NODES_FULL, nodes=3)
    assert reason == replace(reason, nodes=4)
    assert reason != replace(reason, detail="taint")


def _changed(**fields: object) -> Event:
    """The workload that waits is other than it was."""
    return lambda c: c.put(replace(c.workloads["ns/b"], **fields))  # type: ignore[arg-type]


def _queue(**fields: object) -> Event:
    def event(cluster: Cluster) -> None:
        known = cluster.state.catalog.cluster_queues.get("cq")
        if known is not None:
            cluster.put(replace(known, **fields))  # type: ignore[arg-type]

    return event


def _finished(letter: str) -> Event:
    def event(cluster: Cluster) -> None:
        if f"ns/{letter.lower()}" in cluster.workloads:
            cluster.finish(letter)

    return event


def _time(cluster: Cluster) -> None:
    cluster.now_ms += 1000


def _stopped(cluster: Cluster) -> None:
    """Whoever is being evicted has stopped."""
    for one in [w for w in cluster.workloads.values() if w.evicted and w.admission]:
        cluster.put(replace(one, admission=None, evicted=False))


def _ready(cluster: Cluster) -> None:
    if "ns/a" in cluster.workloads:
        cluster.put(replace(cluster.workloads["ns/a"], pods_ready=True))


def _checked(cluster: Cluster) -> None:
    _changed(checks=(CheckState("quality", "Pending"),))(cluster)


EVENTS: dict[str, Event] = {
    "the workload is activated": _changed(active=True),
    "the back-off is over": _time,
    "whoever holds its admission gate takes it away": _changed(gates=()),
    "its admission checks are asked again": _checked,
    "the LocalQueue is created": lambda c: c.put(door("ns/lq", "cq")),
    "the LocalQueue's stopPolicy is None": lambda c: c.put(door("ns/lq", "cq")),
    "the ClusterQueue is created": lambda c: c.put(queue("cq", {"default": {"gpu": 2}})),
    "the ClusterQueue's stopPolicy is None": _queue(stop=StopPolicy.NONE),
    "the ResourceFlavor is created": lambda c: c.put(flavor("default")),
    "the AdmissionCheck is created": lambda c: c.put(AdmissionCheck("quality")),
    "the AdmissionCheck becomes active": lambda c: c.put(AdmissionCheck("quality")),
    "the namespace's labels or the queue's namespaceSelector change": lambda c: c.put(
        Namespace("ns", (("team", "red"),))
    ),
    "the workload ahead starts or leaves": lambda c: c.remove(Workload, "ns/h"),
    "the queue covers the resource": lambda c: c.put(queue("cq", {"default": {"gpu": 2, "cpu": 2}})),
    "a flavor matches the pods' tolerations, node selector and affinity": lambda c: c.put(flavor("default", zone="a")),
    "the queue's quota is raised": lambda c: c.put(queue("cq", {"default": {"gpu": 9}})),
    "admitted work ends": _finished("A"),
    "the preempted workloads have stopped": _stopped,
    "the pods of all admitted workloads are ready": _ready,
    "a node joins": lambda c: c.put(node("n2", {"zone": "a"}, gpu=2, cpu=2)),
    "a larger node joins": lambda c: c.put(node("n3", {"zone": "a"}, gpu=2, cpu=2)),
    "a node matches the pods' tolerations, node selector and affinity": lambda c: c.put(
        node("n4", {"zone": "a"}, gpu=1)
    ),
    "nodes are added": lambda c: c.put(node("n5", {"zone": "a"}, gpu=2)),
    "pods on the nodes end": _finished("A"),
}
"""what a record names -> what happens then"""

SAME = (
    {"a node joins", "a larger node joins", "nodes are added"},
    {"a node matches the pods' tolerations, node selector and affinity"},
    {"admitted work ends", "pods on the nodes end"},
    {"the LocalQueue is created", "the LocalQueue's stopPolicy is None"},
    {"the AdmissionCheck is created", "the AdmissionCheck becomes active"},
)
"""what is the same happening by several names"""

ALSO: dict[Code, set[str]] = {
    Code.QUOTA_IN_USE: {"the queue's quota is raised"},
    Code.NODES_FULL: {"nodes are added", "a node matches the pods' tolerations, node selector and affinity"},
    Code.CAPACITY_TOO_SMALL: {"a node matches the pods' tolerations, node selector and affinity"},
    Code.NO_NODES: {"a node matches the pods' tolerations, node selector and affinity"},
    Code.NODE_NOT_MATCHED: {"nodes are added"},
    Code.CLUSTER_QUEUE_STOPPED: {
        "the ClusterQueue is created",
        "the queue's quota is raised",
        "the queue covers the resource",
    },
    Code.CHECK_NOT_FOUND: {
        "the ClusterQueue is created",
        "the queue's quota is raised",
        "the queue covers the resource",
    },
    Code.CHECK_INACTIVE: {
        "the ClusterQueue is created",
        "the queue's quota is raised",
        "the queue covers the resource",
    },
    Code.NO_CLUSTER_QUEUE: {"the queue's quota is raised", "the queue covers the resource"},
    Code.NAMESPACE_NOT_SELECTED: {
        "the ClusterQueue is created",
        "the queue's quota is raised",
        "the queue covers the resource",
    },
    Code.BEHIND_HEAD: {
        "the ClusterQueue is created",
        "the queue's quota is raised",
        "the queue covers the resource",
    },
    Code.FLAVOR_NOT_MATCHED: {"the ResourceFlavor is created"},
    Code.PODS_NOT_READY: {"admitted work ends"},
    Code.PREEMPTING: {"admitted work ends", "the queue's quota is raised"},
}
"""what comes to the same: events of the pool that put the whole queue anew, without what kept the workload out"""


def _drawn(text: str = "n1 | A . .", gpus: int = 2, **fields: object) -> Cluster:
    return Cluster.drawn(text, gpus, **fields)  # type: ignore[arg-type]


def _waits(cluster: Cluster, count: int = 1, **fields: object) -> Cluster:
    cluster.submit("B", count, **fields)
    return cluster


def _without(type_: type, key: str) -> Cluster:
    cluster = _drawn()
    cluster.remove(type_, key)
    return _waits(cluster)


def _checks(*known: AdmissionCheck) -> Cluster:
    cluster = _drawn(checks=(CheckRule("quality"),))
    for check in known:
        cluster.put(check)
    return _waits(cluster)


def _behind() -> Cluster:
    cluster = _drawn(strategy=Strategy.STRICT)
    cluster.submit("H", 5, priority=1)
    return _waits(cluster)


def _preempts() -> Cluster:
    policy = Preemption(within=Evictable.LOWER_PRIORITY)
    return _waits(_drawn("n1 | A A .", preemption=policy), 2, priority=1)


def _blocked() -> Cluster:
    settings = Settings(pods_ready=PodsReady(block_admission=True))
    return _waits(_drawn(profile=Profile(places=False, settings=settings)))


def _flavorless() -> Cluster:
    cluster = _drawn("n1 | A . . zone=a")
    cluster.put(flavor("default", zone="b"))
    return _waits(cluster, pod_shape=PodShape((("nvidia.com/gpu", 1000),), (("zone", "a"),)))


def _stopped_door() -> Cluster:
    cluster = _drawn()
    cluster.put(door("ns/lq", "cq", stop=StopPolicy.HOLD))
    return _waits(cluster)


SCENARIOS: dict[Code, Callable[[], Cluster]] = {
    Code.INACTIVE: lambda: _waits(_drawn(), active=False),
    Code.BACKING_OFF: lambda: _waits(_drawn(), requeue_at_ms=1000),
    Code.GATED: lambda: _waits(_drawn(), gates=("somebody",)),
    Code.CHECK_SAID_NO: lambda: _waits(_drawn(), checks=(CheckState("quality", "Retry"),)),
    Code.NO_LOCAL_QUEUE: lambda: _without(LocalQueue, "ns/lq"),
    Code.LOCAL_QUEUE_STOPPED: _stopped_door,
    Code.NO_CLUSTER_QUEUE: lambda: _without(ClusterQueue, "cq"),
    Code.CLUSTER_QUEUE_STOPPED: lambda: _waits(_drawn(stop=StopPolicy.HOLD)),
    Code.FLAVOR_NOT_FOUND: lambda: _without(type(flavor()), "default"),
    Code.CHECK_NOT_FOUND: _checks,
    Code.CHECK_INACTIVE: lambda: _checks(AdmissionCheck("quality", active=False)),
    Code.NAMESPACE_NOT_SELECTED: lambda: _waits(_drawn(selector=(Requirement("team", "In", ("red",)),))),
    Code.BEHIND_HEAD: _behind,
    Code.RESOURCE_NOT_COVERED: lambda: _waits(_drawn(profile=Profile(places=False)), gpu=1, cpu=1),
    Code.FLAVOR_NOT_MATCHED: _flavorless,
    Code.OVER_QUOTA: lambda: _waits(_drawn("n1 | A . . . .", 2), 3),
    Code.QUOTA_IN_USE: lambda: _waits(_drawn(), 2),
    Code.PREEMPTING: _preempts,
    Code.PODS_NOT_READY: _blocked,
    Code.NO_NODES: lambda: _waits(_drawn("", 9)),
    Code.CAPACITY_TOO_SMALL: lambda: _waits(_drawn("n1 | .", 9), 2),
    Code.NODES_FULL: lambda: _waits(_drawn("n1 | A", 9)),
    Code.NODE_TOO_SMALL: lambda: _waits(_drawn("n1 | .", 9), gpu=2),
    Code.NODE_NOT_MATCHED: lambda: _waits(_drawn("n1 | . down", 9)),
}


@pytest.mark.parametrize("code", SCENARIOS, ids=lambda code: code.name)
def test_the_event_that_a_record_names_helps_and_no_other_does(code: Code) -> None:
    cluster = SCENARIOS[code]()
    cluster.run()
    record = explain(cluster.state, "ns/b", cluster.now_ms)
    assert record is not None
    assert record.reason.code is code
    named = record.reason.code.helps
    same = next((names for names in SAME if named in names), {named}) | ALSO.get(code, set())
    for also in list(same):
        same |= next((names for names in SAME if also in names), set())
    for name, event in EVENTS.items():
        tried = SCENARIOS[code]()
        tried.run()
        event(tried)
        tried.run()
        admitted = "ns/b" in tried.state.holdings.admission
        if name == named:
            assert admitted, f"{code.name}: {name}, and it still waits"
        elif name not in same:
            assert not admitted, f"{code.name}: {name}, and it is admitted"
