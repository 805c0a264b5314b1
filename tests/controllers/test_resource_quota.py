"""The status of quotas, on the real registry."""

from __future__ import annotations

from typing import Any

from kumi.api.core import Pod
from kumi.api.limits import ResourceQuota
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.controllers.resource_quota import ResourceQuotaController
from kumi.testing.stage import Stage


async def stage(hard: dict[str, str], **spec: Any) -> Stage:
    made = Stage([ResourceQuotaController(load())])
    await made.open("ns", "other")
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "ns"}}
    await made.make({**quota, "spec": {"hard": hard, **spec}})
    await made.settle()
    return made


def pod(name: str, namespace: str = "ns", **requests: str) -> JsonObject:
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}


async def status(on: Stage) -> JsonObject:
    await on.settle()
    found = await on.one(ResourceQuota, "ns/q")
    assert found is not None
    kept: JsonObject = found["status"]
    return kept


async def test_what_is_hard_is_put_in_force_and_what_is_used_is_counted() -> None:
    on = await stage({"pods": "5", "requests.memory": "2048Mi", "count/configmaps": "3"})
    await on.make(pod("a", memory="512Mi"))
    await on.make(pod("elsewhere", "other", memory="1Gi"))
    assert await status(on) == {
        "hard": {"count/configmaps": "3", "pods": "5", "requests.memory": "2Gi"},
        "used": {"count/configmaps": "0", "pods": "1", "requests.memory": "512Mi"},
    }


async def test_what_ends_or_goes_is_given_back() -> None:
    on = await stage({"pods": "5"})
    for name in ("a", "b", "c"):
        await on.make(pod(name))
    await on.pod_status("ns", "a", {"phase": "Succeeded"})
    await on.delete(Pod, "ns/b")
    assert (await status(on))["used"] == {"pods": "1"}


async def test_a_name_that_is_hard_no_more_leaves_the_status() -> None:
    on = await stage({"pods": "5", "services": "1"})
    await on.patch(ResourceQuota, "ns/q", {"spec": {"hard": {"services": None, "secrets": "2"}}})
    assert await status(on) == {"hard": {"pods": "5", "secrets": "2"}, "used": {"pods": "0", "secrets": "0"}}


async def test_scopes_choose_the_pods() -> None:
    on = await stage({"pods": "5"}, scopes=["BestEffort"])
    await on.make(pod("a"))
    await on.make(pod("b", cpu="1"))
    assert (await status(on))["used"] == {"pods": "1"}


async def test_nothing_is_written_twice() -> None:
    on = await stage({"pods": "5"})
    before = on.store.revision
    await on.settle()
    assert on.store.revision == before


async def test_objects_of_kinds_that_others_define_are_counted() -> None:
    on = await stage({"count/gadgets.example.com": "5", "count/things.example.com": "5"})
    schema = {"openAPIV3Schema": {"type": "object"}}
    spec = {"group": "example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"}}
    spec["versions"] = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    await on.make({**definition, "metadata": {"name": "gadgets.example.com"}, "spec": spec})
    for name, namespace in (("a", "ns"), ("b", "ns"), ("c", "other")):
        meta = {"name": name, "namespace": namespace}
        await on.make({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": meta})
    assert (await status(on))["used"] == {"count/gadgets.example.com": "2", "count/things.example.com": "0"}
