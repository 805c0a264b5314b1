"""Who holds what, who waits for what, and why."""

from __future__ import annotations

from typing import Any

from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.runtime.decider import FAILED_TO_DECIDE
from kumi.sdk.gangs import gangs, look
from kumi.testing.fake_client import FakeClient

GROUP = "scheduling.volcano.sh/v1beta1"


def group(name: str, queue: str = "q", least: int = 2, status: JsonObject | None = None, **spec: Any) -> JsonObject:
    return {
        "apiVersion": GROUP,
        "kind": "PodGroup",
        "metadata": {"namespace": "ns", "name": name},
        "spec": {"queue": queue, "minMember": least, **spec},
        "status": status or {},
    }


def pod(name: str, group: str, node: str = "", phase: str = "Pending", cpu: str = "500m") -> JsonObject:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "ns", "name": name, "annotations": {"scheduling.k8s.io/group-name": group}},
        "spec": {"containers": [container], **({"nodeName": node} if node else {})},
        "status": {"phase": phase},
    }


def test_a_gang_holds_what_its_placed_pods_ask_for_and_waits_for_what_the_others_do() -> None:
    pods = [pod("a", "g", "n", "Running"), pod("b", "g", "n", "Succeeded"), pod("c", "g"), pod("d", "other")]
    (found,) = gangs([group("g", least=3)], pods)
    assert (found.pods, found.placed) == (3, 1)
    assert found.holds == {"cpu": "500m", "pods": "1"}
    assert found.waits_for == {"cpu": "500m", "pods": "1"}


def test_one_without_pods_waits_for_what_it_says_that_it_needs() -> None:
    (found,) = gangs([group("g", minResources={"cpu": "4"})], [])
    assert (found.holds, found.waits_for) == ({}, {"cpu": "4"})
    (over,) = gangs([group("g", status={"phase": "Completed"}, minResources={"cpu": "4"})], [])
    assert over.waits_for == {}


def test_why_is_said_only_while_it_is_true() -> None:
    for status, why in (("True", "full"), ("False", "")):
        condition = {"type": "Unschedulable", "status": status, "message": "full"}
        (found,) = gangs([group("g", status={"conditions": [condition]})], [])
        assert found.why == why


def test_one_that_runs_says_why_the_first_of_its_pods_that_says_so_has_no_node() -> None:
    runs = {"phase": "Running", "conditions": [{"type": "Unschedulable", "status": "False", "message": "old"}]}
    pods = [pod("b", "g"), pod("a", "g"), pod("c", "g"), pod("d", "g", "n")]
    for number, one in enumerate(pods):
        said = {"type": "PodScheduled", "status": "False", "message": f"full {number}"}
        one["status"]["conditions"] = [said] if one["metadata"]["name"] != "a" else []
    assert gangs([group("g", status=runs)], pods)[0].why == "full 0"
    assert gangs([group("g", status=runs)], pods[3:])[0].why == ""


async def test_a_queue_tells_what_it_holds_and_who_runs_and_waits_in_it() -> None:
    client = FakeClient(load())
    made = {
        "apiVersion": GROUP,
        "kind": "Queue",
        "metadata": {"name": "q"},
        "spec": {"weight": 2, "capability": {"cpu": "8"}},
    }
    await client.create(made)
    kind = next(k for k in load() if k.kind == "Queue" and k.group == "scheduling.volcano.sh")
    status = {"status": {"state": "Open", "allocated": {"cpu": "1"}}}
    await client.patch(kind, "", "q", status, subresource="status")
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}})
    for name, phase in (("a", "Running"), ("b", "Inqueue"), ("c", "Completed")):
        obj = await client.create(group(name))
        groups = next(k for k in load() if k.kind == "PodGroup" and k.group == "scheduling.volcano.sh")
        await client.patch(groups, "ns", obj["metadata"]["name"], {"status": {"phase": phase}}, subresource="status")
    queues, found = await look(client)
    (queue,) = queues
    assert [gang.name for gang in found] == ["a", "b", "c"]
    assert (queue.parent, queue.weight, queue.holds, queue.capability) == ("root", 2, {"cpu": "1"}, {"cpu": "8"})
    assert (queue.running, queue.waiting) == (("ns/a",), ("ns/b",))


def test_what_only_quotas_count_is_not_waited_for() -> None:
    (found,) = gangs([group("g", minResources={"cpu": "4", "requests.cpu": "4", "count/pods": "2"})], [])
    assert found.waits_for == {"cpu": "4"}


async def test_one_that_waits_and_of_which_nobody_says_why_says_the_last_warning_about_it() -> None:
    client = FakeClient(list(load()))
    decided = {"conditions": [{"type": "Unschedulable", "status": "True", "message": "full"}]}
    for made in (group("g"), group("told"), pod("p", "g"), pod("t", "told"), group("over", least=0)):
        await client.create(made)
    kind = next(kind for kind in load() if kind.kind == "PodGroup")
    await client.patch(kind, "ns", "told", {"status": decided}, subresource="status")
    for number, about in enumerate(("g", "g", "told", "over")):
        involved = {"kind": "PodGroup", "namespace": "ns", "name": about}
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "ns", "name": f"e{number}"}}
        said = {"type": "Warning", "message": f"fails {number}", "lastTimestamp": f"2026-01-01T00:00:0{number}Z"}
        await client.create({**event, **said, "involvedObject": involved})
    _, found = await look(client, "ns")
    assert {gang.name: gang.why for gang in found} == {"g": "fails 1", "told": "full", "over": ""}
    failed = {"type": "Warning", "message": "it fails", "lastTimestamp": "later", "reason": FAILED_TO_DECIDE}
    about = {"involvedObject": {"kind": "PodGroup", "namespace": "ns", "name": "told"}}
    await client.create(
        {"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "ns", "name": "f"}, **failed, **about}
    )
    _, found = await look(client, "ns")
    assert next(gang.why for gang in found if gang.name == "told") == "full At later: it fails"
