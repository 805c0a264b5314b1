"""StatefulSet on the real registry: in order, one after the other."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.apps import ControllerRevision, StatefulSet
from kumi.api.claims import PersistentVolumeClaim
from kumi.api.core import Pod
from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.controllers.controller_revisions import HASH
from kumi.controllers.stateful_set import StatefulSetController
from kumi.testing.stage import Stage


def template(image: str = "i:1") -> JsonObject:
    return {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}]}}


async def stage(**spec: Any) -> Stage:
    made = Stage([StatefulSetController()])
    await made.open("ns")
    manifest = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web", "namespace": "ns"}}
    given = {
        "replicas": 3,
        "selector": {"matchLabels": {"a": "b"}},
        "template": template(),
        "serviceName": "web",
        **spec,
    }
    await made.make({**manifest, "spec": given})
    await made.settle()
    return made


async def names(on: Stage) -> list[str]:
    return [each["metadata"]["name"] for each in await on.all(Pod, "ns")]


async def ready(on: Stage, name: str) -> None:
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": format_time(on.now_ms)}
    await on.pod_status("ns", name, {"phase": "Running", "conditions": [condition]})
    await on.settle()


async def all_ready(on: Stage) -> None:
    for _ in range(20):
        new = [p for p in await on.all(Pod, "ns") if not p["status"].get("conditions")]
        if not new:
            return
        await ready(on, new[0]["metadata"]["name"])


async def edit(on: Stage, **spec: Any) -> None:
    await on.patch(StatefulSet, "ns/web", {"spec": spec})
    await on.settle()


async def images(on: Stage) -> dict[str, str]:
    return {p["metadata"]["name"]: p["spec"]["containers"][0]["image"] for p in await on.all(Pod, "ns")}


async def status(on: Stage) -> JsonObject:
    found = await on.one(StatefulSet, "ns/web")
    assert found is not None
    kept: JsonObject = found["status"]
    return kept


async def test_each_pod_waits_for_the_one_before() -> None:
    on = await stage()
    assert await names(on) == ["web-0"]
    await ready(on, "web-0")
    assert await names(on) == ["web-0", "web-1"]
    await all_ready(on)
    assert await names(on) == ["web-0", "web-1", "web-2"]
    counts = await status(on)
    assert (counts["readyReplicas"], counts["currentReplicas"], counts["updatedReplicas"]) == (3, 3, 3)
    assert counts["currentRevision"] == counts["updateRevision"]


async def test_in_parallel_none_waits() -> None:
    on = await stage(podManagementPolicy="Parallel", ordinals={"start": 5})
    assert await names(on) == ["web-5", "web-6", "web-7"]
    await edit(on, replicas=1)
    assert await names(on) == ["web-5"]


async def test_the_last_goes_first_and_only_from_the_end() -> None:
    on = await stage()
    await all_ready(on)
    on.grace = True
    for name in await names(on):
        binding = {"apiVersion": "v1", "kind": "Binding", "target": {"name": "n"}}
        await on.client.create({**binding, "metadata": {"namespace": "ns", "name": name}}, subresource="binding")
    await edit(on, replicas=1)
    going = [p["metadata"]["name"] for p in await on.all(Pod, "ns") if "deletionTimestamp" in p["metadata"]]
    assert going == ["web-2"]
    await on.pod_gone("ns", "web-2")
    await on.settle()
    going = [p["metadata"]["name"] for p in await on.all(Pod, "ns") if "deletionTimestamp" in p["metadata"]]
    assert going == ["web-1"]


async def test_a_pod_that_goes_comes_back_under_its_name() -> None:
    on = await stage(replicas=1)
    [before] = await on.all(Pod, "ns")
    await on.pod_status("ns", "web-0", {"phase": "Failed"})
    await on.settle()
    [after] = await on.all(Pod, "ns")
    assert after["metadata"]["name"] == before["metadata"]["name"]
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


async def test_a_new_template_replaces_the_last_pod_first_and_waits_for_it() -> None:
    on = await stage()
    await all_ready(on)
    await edit(on, template=template("i:2"))
    assert await images(on) == {"web-0": "i:1", "web-1": "i:1", "web-2": "i:2"}
    await ready(on, "web-2")
    assert await images(on) == {"web-0": "i:1", "web-1": "i:2", "web-2": "i:2"}
    await all_ready(on)
    assert set((await images(on)).values()) == {"i:2"}
    counts = await status(on)
    assert counts["currentRevision"] == counts["updateRevision"]
    assert [r["revision"] for r in await on.all(ControllerRevision, "ns")].count(2) == 1


async def test_below_the_partition_pods_stay_and_come_back_as_they_were() -> None:
    on = await stage(replicas=2)
    await all_ready(on)
    await edit(
        on, template=template("i:2"), updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    )
    await all_ready(on)
    assert await images(on) == {"web-0": "i:1", "web-1": "i:2"}
    await on.delete(Pod, "ns/web-0")
    await on.settle()
    assert (await images(on))["web-0"] == "i:1"


async def test_on_delete_pods_wait_for_their_users() -> None:
    on = await stage(replicas=1, updateStrategy={"type": "OnDelete"})
    await all_ready(on)
    await edit(on, template=template("i:2"))
    assert await images(on) == {"web-0": "i:1"}
    await on.delete(Pod, "ns/web-0")
    await on.settle()
    assert await images(on) == {"web-0": "i:2"}


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


@pytest.mark.parametrize(("scaled", "left"), [("Retain", ["data-web-0", "data-web-1"]), ("Delete", ["data-web-0"])])
async def test_claims_are_made_once_and_kept_or_not_when_it_shrinks(scaled: str, left: list[str]) -> None:
    retention = {"whenScaled": scaled, "whenDeleted": "Retain"}
    on = await stage(replicas=2, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=retention)
    await all_ready(on)
    assert [c["metadata"]["name"] for c in await on.all(PersistentVolumeClaim, "ns")] == ["data-web-0", "data-web-1"]
    await edit(on, replicas=1)
    assert [c["metadata"]["name"] for c in await on.all(PersistentVolumeClaim, "ns")] == left


async def test_a_pod_of_its_name_that_is_not_its_own_is_in_the_way() -> None:
    on = Stage([StatefulSetController()])
    await on.open("ns")
    await on.make(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web-0", "namespace": "ns"},
            "spec": template()["spec"],
        }
    )
    given = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template(), "serviceName": "web"}
    manifest = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web", "namespace": "ns"}}
    await on.make({**manifest, "spec": given})
    await on.settle()
    [pod] = await on.all(Pod, "ns")
    assert HASH not in (pod["metadata"].get("labels") or {})


async def test_old_revisions_beyond_the_limit_go() -> None:
    on = await stage(replicas=1, revisionHistoryLimit=1)
    for number in range(2, 6):
        await all_ready(on)
        await edit(on, template=template(f"i:{number}"))
    await all_ready(on)
    await on.settle()
    assert sorted(r["revision"] for r in await on.all(ControllerRevision, "ns")) == [4, 5]
