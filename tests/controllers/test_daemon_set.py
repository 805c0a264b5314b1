"""DaemonSet on the real registry: one pod on every node that it is meant for."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from kumi.api.apps import ControllerRevision, DaemonSet
from kumi.api.core import Node, Pod
from kumi.api.errors import ApiError
from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.controllers.daemon_pods import node_of
from kumi.controllers.daemon_set import ENDED_MS, DaemonSetController
from kumi.testing.stage import Stage
from kumi.testing.view import decoded


def template(image: str = "i:1", **spec: Any) -> JsonObject:
    return {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}], **spec}}


async def add_node(on: Stage, name: str, **spec: Any) -> None:
    await on.make({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec})


async def stage(nodes: int = 3, grace: bool = False, **spec: Any) -> Stage:
    made = Stage([DaemonSetController()], grace=grace)
    await made.open("ns")
    for number in range(nodes):
        await add_node(made, f"n{number}")
    given = {"selector": {"matchLabels": {"a": "b"}}, "template": template(), **spec}
    manifest = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "ds", "namespace": "ns"}}
    await made.make({**manifest, "spec": given})
    await made.settle()
    return made


async def pods(on: Stage) -> dict[str, list[JsonObject]]:
    """Those that are there, by node."""
    found: dict[str, list[JsonObject]] = {}
    for raw in await on.all(Pod, "ns"):
        pod = decoded(raw)
        assert isinstance(pod, Pod)
        found.setdefault(node_of(pod), []).append(raw)
    return found


async def images(on: Stage) -> dict[str, list[str]]:
    return {
        node: [each["spec"]["containers"][0]["image"] for each in there] for node, there in (await pods(on)).items()
    }


async def make_ready(on: Stage) -> None:
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": format_time(on.now_ms)}
    for raw in await on.all(Pod, "ns"):
        if not raw["status"].get("conditions"):
            await on.pod_status("ns", raw["metadata"]["name"], {"phase": "Running", "conditions": [condition]})
    await on.settle()


async def edit(on: Stage, **spec: Any) -> None:
    await on.patch(DaemonSet, "ns/ds", {"spec": spec})
    await on.settle()


async def status(on: Stage) -> JsonObject:
    [found] = await on.all(DaemonSet, "ns")
    answer: JsonObject = found["status"]
    return answer


async def test_every_node_gets_a_pod_and_so_does_one_that_comes_later() -> None:
    on = await stage()
    assert await images(on) == {"n0": ["i:1"], "n1": ["i:1"], "n2": ["i:1"]}
    await add_node(on, "late")
    await on.settle()
    assert sorted(await pods(on)) == ["late", "n0", "n1", "n2"]


async def test_the_status_counts_nodes_by_how_their_pod_is() -> None:
    on = await stage()
    said = await status(on)
    counts = [said.get(f"{name}NumberScheduled") for name in ("desired", "current", "updated")]
    assert (counts, said["numberReady"], said["numberUnavailable"]) == ([3, 3, 3], 0, 3)
    await make_ready(on)
    said = await status(on)
    assert (said["numberReady"], said["numberAvailable"], said.get("numberUnavailable", 0)) == (3, 3, 0)
    assert said["observedGeneration"] == 1


async def test_a_pod_is_available_only_after_min_ready_seconds() -> None:
    on = await stage(nodes=1, minReadySeconds=30)
    await make_ready(on)
    assert (await status(on)).get("numberAvailable", 0) == 0
    on.advance(30)
    await on.settle()
    assert (await status(on))["numberAvailable"] == 1


async def test_a_node_that_is_no_longer_meant_loses_its_pod() -> None:
    on = await stage()
    await on.patch(Node, "n1", {"spec": {"taints": [{"key": "mine", "effect": "NoExecute"}]}})
    await on.settle()
    assert sorted(await pods(on)) == ["n0", "n2"]


async def test_a_pod_stays_where_no_new_one_would_go_and_is_counted_as_misscheduled() -> None:
    on = await stage()
    await on.patch(Node, "n1", {"spec": {"taints": [{"key": "mine", "effect": "NoSchedule"}]}})
    await on.settle()
    assert sorted(await pods(on)) == ["n0", "n1", "n2"]
    assert (await status(on))["numberMisscheduled"] == 1
    assert (await status(on))["desiredNumberScheduled"] == 2


async def test_the_pod_of_a_node_that_is_gone_goes() -> None:
    on = await stage()
    await on.delete(Node, "n2")
    await on.settle()
    assert sorted(await pods(on)) == ["n0", "n1"]


async def test_a_pod_that_failed_is_told_and_replaced_after_a_while() -> None:
    on = await stage(nodes=1)
    [[pod]] = (await pods(on)).values()
    await on.pod_status("ns", pod["metadata"]["name"], {"phase": "Failed"})
    await on.settle()
    [[still]] = (await pods(on)).values()
    assert still["metadata"]["uid"] == pod["metadata"]["uid"]
    on.advance(ENDED_MS // 1000)
    await on.settle()
    [[new]] = (await pods(on)).values()
    assert new["metadata"]["uid"] != pod["metadata"]["uid"]
    assert "FailedDaemonPod" in [note.reason for note in on.notes]


async def test_no_pod_comes_while_the_one_before_stops() -> None:
    on = await stage(nodes=1, grace=True)
    [[pod]] = (await pods(on)).values()
    name = {"name": pod["metadata"]["name"], "namespace": "ns"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": name, "target": {"kind": "Node", "name": "n0"}}
    await on.client.create(binding, subresource="binding")
    await on.delete(Pod, f"ns/{pod['metadata']['name']}")
    await on.settle()
    assert len((await pods(on))["n0"]) == 1
    await on.pod_gone("ns", pod["metadata"]["name"])
    await on.settle()
    [[new]] = (await pods(on)).values()
    assert new["metadata"]["uid"] != pod["metadata"]["uid"]


async def test_a_new_template_replaces_one_pod_at_a_time_as_they_become_available() -> None:
    on = await stage()
    await make_ready(on)
    await edit(on, template=template("i:2"))
    assert sorted(chain(*(await images(on)).values())) == ["i:1", "i:1", "i:2"]
    for _ in range(3):
        await make_ready(on)
    assert await images(on) == {"n0": ["i:2"], "n1": ["i:2"], "n2": ["i:2"]}
    assert (await status(on))["updatedNumberScheduled"] == 3


async def test_half_may_be_missing_where_the_set_says_so() -> None:
    on = await stage(nodes=4, updateStrategy={"rollingUpdate": {"maxUnavailable": "50%"}})
    await make_ready(on)
    await edit(on, template=template("i:2"))
    assert sorted(chain(*(await images(on)).values())) == ["i:1", "i:1", "i:2", "i:2"]


async def test_with_surge_the_new_pod_is_there_before_the_old_one_goes() -> None:
    on = await stage(updateStrategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})
    await make_ready(on)
    await edit(on, template=template("i:2"))
    assert (await images(on))["n0"] in (["i:1", "i:2"], ["i:2", "i:1"])
    assert sorted(len(there) for there in (await images(on)).values()) == [1, 1, 2]
    for _ in range(4):
        await make_ready(on)
    assert await images(on) == {"n0": ["i:2"], "n1": ["i:2"], "n2": ["i:2"]}


async def test_on_delete_replaces_only_what_somebody_deletes() -> None:
    on = await stage(updateStrategy={"type": "OnDelete"})
    await make_ready(on)
    await edit(on, template=template("i:2"))
    assert await images(on) == {"n0": ["i:1"], "n1": ["i:1"], "n2": ["i:1"]}
    [pod] = (await pods(on))["n1"]
    await on.delete(Pod, f"ns/{pod['metadata']['name']}")
    await on.settle()
    assert await images(on) == {"n0": ["i:1"], "n1": ["i:2"], "n2": ["i:1"]}


async def test_a_template_that_comes_back_has_the_newest_revision_and_old_ones_go_beyond_the_limit() -> None:
    on = await stage(nodes=1, revisionHistoryLimit=1)
    for image in ("i:2", "i:3", "i:2"):
        await edit(on, template=template(image))
    found = await on.all(ControllerRevision, "ns")
    numbers = {r["data"]["spec"]["template"]["spec"]["containers"][0]["image"]: r["revision"] for r in found}
    assert numbers == {"i:3": 3, "i:2": 4}


async def test_pods_that_are_too_many_on_a_node_go_but_the_oldest() -> None:
    on = await stage(nodes=1)
    [[pod]] = (await pods(on)).values()
    copy = {**pod, "metadata": {**pod["metadata"], "name": "zz"}, "status": {}}
    for field in ("uid", "resourceVersion", "creationTimestamp", "generateName"):
        copy["metadata"].pop(field, None)
    await on.make(copy)
    await on.settle()
    [[left]] = (await pods(on)).values()
    assert left["metadata"]["name"] == pod["metadata"]["name"]


async def test_pods_may_be_missing_or_too_many_but_not_both() -> None:
    with pytest.raises(ApiError, match="maxSurge"):
        await stage(updateStrategy={"rollingUpdate": {"maxSurge": 1}})
