"""The engine's nouns as API objects: what is read of an object is the noun that it was made of."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given

from kumi.api.errors import KumiError
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.bridge.into import Deltas
from kumi.bridge.into.shape import NAME_FIELD
from kumi.engine.gangs import DisruptionBudget, NodeGroups, PriorityClass, Queue, QueueState
from kumi.engine.model import (
    AdmissionCheck,
    CheckRule,
    ClusterQueue,
    Cohort,
    Evictable,
    Flavor,
    FlavorQuotas,
    Fungibility,
    LocalQueue,
    Namespace,
    Node,
    Noun,
    Pod,
    PodShape,
    Preemption,
    Quota,
    Requirement,
    ResourceGroup,
    StopPolicy,
    Strategy,
    Taint,
    Toleration,
    Topology,
    VolumeLimits,
)
from kumi.evaluator.objects import kind_of, object_of, reported
from kumi.testing.stage import Stage
from tests.evaluator.loads import settings

QUOTAS = (("nvidia.com/gpu", Quota(8000, 2000, 0)), ("memory", Quota(2**40)))
GROUP = ResourceGroup(("nvidia.com/gpu", "memory"), (FlavorQuotas("spot", QUOTAS),))
HOST = "kubernetes.io/hostname"
NOUNS: list[Noun] = [
    Node("n", ((HOST, "n"), (NAME_FIELD, "n"), ("zone", "a")), (("cpu", 1500), ("memory", 2**30), ("pods", 110_000))),
    Node("n", ((HOST, "n"), (NAME_FIELD, "n")), (("pods", 5000),), (Taint("k", "v", "NoExecute"),), True, False),
    Node("n", ((HOST, "n"), (NAME_FIELD, "n")), (("pods", 5000),), images=(("a:1", 5), ("b:2", 7))),
    Namespace("team", (("kubernetes.io/metadata.name", "team"), ("x", "y"))),
    PriorityClass("high", 10),
    PriorityClass("usual", -5, default=True),
    VolumeLimits("n", (("a.csi", 3), ("b.csi", 0))),
    Flavor(
        "spot",
        (("kind", "spot"),),
        (Taint("spot", "", "NoSchedule"),),
        (Toleration("spot", "Exists", "", ""),),
        "racks",
    ),
    Topology("racks", ("block", HOST)),
    AdmissionCheck("budget", "example.com/budget"),
    AdmissionCheck("budget", "example.com/budget", active=False),
    Cohort("all", "root", (GROUP,), 2.5),
    ClusterQueue("plain", (GROUP,), cohort="all"),
    ClusterQueue(
        "rich",
        (GROUP,),
        Strategy.STRICT,
        StopPolicy.HOLD,
        (Requirement("team", "In", ("a", "b")),),
        "all",
        Preemption(Evictable.LOWER_OR_NEWER_EQUAL, Evictable.ANY, Evictable.LOWER_PRIORITY, 7),
        Fungibility(False, False, True),
        0.5,
        (CheckRule("budget", ("spot",)), CheckRule("other")),
        True,
    ),
    ClusterQueue("nobody", (), selector=None),
    LocalQueue("team/lq", "cq", StopPolicy.HOLD_AND_DRAIN, 3.0),
    Queue("plain"),
    Queue("rich", 0, 4, (("cpu", 8000),), (("cpu", 4000),), (("cpu", 2000),), False, 3, "root", QueueState.CLOSED),
    Queue("in-tree", hierarchy=("root", "a"), weights=(1.0, 2.0), groups=NodeGroups(("a",), ("b",), ("c",), ("d",))),
]


def read(manifest: JsonObject) -> Noun:
    """What the bridge reads of an object."""
    kind = load().of_object(manifest)
    assert kind is not None
    return Deltas().put(msgspec.convert(manifest, kind.type)).noun


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: f"{type(noun).__name__}-{getattr(noun, 'name', '')}")
async def test_what_the_api_keeps_of_it_is_read_as_the_same_noun(noun: Noun) -> None:
    manifest = object_of(noun)
    assert read(manifest) == noun
    stage = Stage()
    await stage.open("team")
    if isinstance(noun, Namespace | Queue):  # is there already, or depends on others
        return
    made = await stage.make(manifest)
    status = manifest.get("status")
    if status:
        kind, meta = stage.scheme.of_object(made), made["metadata"]
        assert kind is not None
        made = await stage.client.patch(kind, "", meta["name"], {"status": status}, subresource="status")
    assert read(made) == noun


@given(settings())
def test_the_names_of_kinds_are_those_of_the_objects(nouns: tuple[Noun, ...]) -> None:
    for noun in nouns:
        made = object_of(noun)
        assert (made["apiVersion"], made["kind"]) == kind_of(type(noun))


def test_a_disruption_budget_says_what_it_guards() -> None:
    noun = DisruptionBudget("team/b", (Requirement("app", "In", ("x",)),), allowed=2)
    found = read(object_of(noun))
    assert found == replace(noun, allowed=0)  # its controller counts


def test_nouns_that_are_nobody_s_object_are_refused() -> None:
    with pytest.raises(KumiError, match="with a Pod has no objects: at stack speed it is given as YAML"):
        object_of(Pod("u", "ns/p", PodShape(()), 0))
    with pytest.raises(KumiError, match="Pod is no object's alone"):
        kind_of(Pod)


def test_a_node_about_which_nobody_says_how_it_is_is_ready() -> None:
    node: JsonObject = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {"capacity": {"cpu": "1"}},
    }
    said = reported(node)["status"]
    assert (said["capacity"], [(c["type"], c["status"]) for c in said["conditions"]]) == (
        {"cpu": "1"},
        [("Ready", "True")],
    )
    assert "conditions" not in node["status"]
    sick = {**node, "status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    assert reported(sick) is sick
