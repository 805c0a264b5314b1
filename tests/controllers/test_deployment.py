"""Deployment on the real registry, with its sets and pods."""

from __future__ import annotations

from typing import Any

from kumi.api.apps import Deployment, ReplicaSet
from kumi.api.core import Pod
from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.controllers.deployment import DeploymentController
from kumi.controllers.replica_set import ReplicaSetController
from kumi.controllers.revisions import REVISION
from kumi.testing.stage import Stage


def template(image: str = "i:1") -> JsonObject:
    return {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}]}}


async def stage(**spec: Any) -> Stage:
    made = Stage([DeploymentController(), ReplicaSetController()])
    await made.open("ns")
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "ns"}}
    given = {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": template(), **spec}
    await made.make({**manifest, "spec": given})
    await made.settle()
    return made


async def all_ready(on: Stage) -> None:
    """Every pod is ready, again and again until none is new."""
    for _ in range(20):
        new = [pod for pod in await on.all(Pod, "ns") if not pod["status"].get("conditions")]
        if not new:
            return
        for pod in new:
            ready = {"type": "Ready", "status": "True", "lastTransitionTime": format_time(on.now_ms)}
            await on.pod_status("ns", pod["metadata"]["name"], {"phase": "Running", "conditions": [ready]})
        await on.settle()


async def edit(on: Stage, **spec: Any) -> None:
    await on.patch(Deployment, "ns/web", {"spec": spec})
    await on.settle()


async def sizes(on: Stage) -> dict[str, int]:
    """Image of each set -> its size."""
    sets = await on.all(ReplicaSet, "ns")
    return {each["spec"]["template"]["spec"]["containers"][0]["image"]: each["spec"]["replicas"] for each in sets}


async def web(on: Stage) -> JsonObject:
    found = await on.one(Deployment, "ns/web")
    assert found is not None
    return found


async def conditions(on: Stage) -> dict[str, tuple[str, str]]:
    return {c["type"]: (c["status"], c["reason"]) for c in (await web(on))["status"]["conditions"]}


async def test_it_makes_a_set_of_its_template_and_says_when_it_is_done() -> None:
    on = await stage()
    assert await sizes(on) == {"i:1": 3}
    assert await conditions(on) == {
        "Progressing": ("True", "ReplicaSetUpdated"),
        "Available": ("False", "MinimumReplicasUnavailable"),
    }
    await all_ready(on)
    assert await conditions(on) == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }
    status = (await web(on))["status"]
    assert (status["replicas"], status["updatedReplicas"], status["availableReplicas"]) == (3, 3, 3)
    assert (await web(on))["metadata"]["annotations"][REVISION] == "1"


async def test_a_new_template_replaces_pods_within_the_bounds() -> None:
    on = await stage()
    await all_ready(on)
    await edit(on, template=template("i:2"))
    assert await sizes(on) == {"i:1": 3, "i:2": 1}
    await all_ready(on)
    assert await sizes(on) == {"i:1": 0, "i:2": 3}
    assert (await web(on))["metadata"]["annotations"][REVISION] == "2"


async def test_going_back_uses_the_old_set_under_a_new_number() -> None:
    on = await stage()
    await all_ready(on)
    await edit(on, template=template("i:2"))
    await all_ready(on)
    await edit(on, template=template("i:1"))
    await all_ready(on)
    assert await sizes(on) == {"i:1": 3, "i:2": 0}
    numbers = {
        each["spec"]["template"]["spec"]["containers"][0]["image"]: each["metadata"]["annotations"][REVISION]
        for each in await on.all(ReplicaSet, "ns")
    }
    assert numbers == {"i:1": "3", "i:2": "2"}


async def test_one_that_is_recreated_waits_for_the_last_old_pod() -> None:
    on = await stage(strategy={"type": "Recreate"})
    await all_ready(on)
    on.grace = True
    for pod in await on.all(Pod, "ns"):
        binding = {"apiVersion": "v1", "kind": "Binding", "target": {"name": "n"}}
        meta = {"namespace": "ns", "name": pod["metadata"]["name"]}
        await on.client.create({**binding, "metadata": meta}, subresource="binding")
    await edit(on, template=template("i:2"))
    assert await sizes(on) == {"i:1": 0}
    for pod in await on.all(Pod, "ns"):
        await on.pod_gone("ns", pod["metadata"]["name"])
    await on.settle()
    assert await sizes(on) == {"i:1": 0, "i:2": 3}


async def test_a_paused_one_is_scaled_but_not_rolled() -> None:
    on = await stage()
    await all_ready(on)
    await edit(on, paused=True, template=template("i:2"))
    assert await sizes(on) == {"i:1": 3}
    assert (await conditions(on))["Progressing"] == ("Unknown", "DeploymentPaused")
    await edit(on, replicas=5)
    assert await sizes(on) == {"i:1": 5}
    await edit(on, paused=False)
    assert (await sizes(on))["i:2"] > 0
    assert (await conditions(on))["Progressing"][0] == "True"


async def test_no_progress_in_time_is_told() -> None:
    on = await stage(progressDeadlineSeconds=10)
    on.advance(11)
    await on.settle()
    assert (await conditions(on))["Progressing"] == ("False", "ProgressDeadlineExceeded")
    await all_ready(on)
    assert (await conditions(on))["Progressing"] == ("True", "NewReplicaSetAvailable")


async def test_old_sets_beyond_the_limit_go_the_oldest_first() -> None:
    on = await stage(revisionHistoryLimit=1)
    await all_ready(on)
    for image in ("i:2", "i:3"):
        await edit(on, template=template(image))
        await all_ready(on)
    assert await sizes(on) == {"i:2": 0, "i:3": 3}


async def test_a_scaling_in_the_middle_is_shared() -> None:
    on = await stage(replicas=10, strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 5}})
    await all_ready(on)
    await edit(on, template=template("i:2"))
    assert await sizes(on) == {"i:1": 5, "i:2": 5}
    await edit(on, replicas=20)
    assert sum((await sizes(on)).values()) == 20
    assert (await sizes(on))["i:1"] > 5


async def test_a_name_that_is_taken_counts_as_a_collision() -> None:
    on = await stage()
    [first] = await on.all(ReplicaSet, "ns")
    taken = {"metadata": {"ownerReferences": None, "labels": {"a": None}}}
    await on.patch(Deployment, "ns/web", {"metadata": {"finalizers": ["x/y"]}})
    await on.patch(ReplicaSet, f"ns/{first['metadata']['name']}", taken)
    await on.settle()
    assert (await web(on))["status"]["collisionCount"] == 1
    assert len(await on.all(ReplicaSet, "ns")) == 2


async def test_deleting_it_makes_nothing_new() -> None:
    on = await stage()
    await on.patch(Deployment, "ns/web", {"metadata": {"finalizers": ["x/y"]}})
    await on.delete(Deployment, "ns/web")
    await on.patch(Deployment, "ns/web", {"spec": {"template": template("i:9")}})
    await on.settle()
    assert await sizes(on) == {"i:1": 3}
