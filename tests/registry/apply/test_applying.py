from __future__ import annotations

from typing import Any

import orjson
import pytest

from kumi.api.errors import ApiError
from kumi.api.user import User
from kumi.api.wire import JsonObject
from kumi.registry.apply.last_applied import ANNOTATION
from kumi.registry.objects import with_managers
from kumi.registry.refusals import APPLY
from kumi.registry.requests import WriteOptions
from tests.registry.world import World, config, pod


def said(name: str = "c", **data: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "ConfigMap", **config(name, **data)}


async def apply(world: World, body: Any, manager: str = "one", *, kind: str = "ConfigMap", **more: Any) -> JsonObject:
    name = more.pop("name", None) or body["metadata"]["name"]
    return await world.patch(kind, name, body, APPLY, field_manager=manager, **more)


def managers(obj: JsonObject) -> dict[str, Any]:
    return {e["manager"]: e["fieldsV1"] for e in with_managers(obj)["metadata"].get("managedFields", [])}


async def test_an_apply_creates_and_says_so(world: World) -> None:
    options = WriteOptions(field_manager="one")
    target = world.target("ConfigMap", "c")
    made = await world.registry.patch(target, APPLY, said(a="1"), options)
    assert options.created
    assert made["data"] == {"a": "1"}
    assert managers(made) == {"one": {"f:data": {"f:a": {}}}}
    options = WriteOptions(field_manager="one")
    revision = world.store.revision
    assert (await world.registry.patch(target, APPLY, said(a="1"), options)) == made
    assert (options.created, world.store.revision) == (False, revision)


async def test_a_dry_run_stores_nothing(world: World) -> None:
    made = await apply(world, said(a="1"), dry_run=True)
    assert managers(made) == {"one": {"f:data": {"f:a": {}}}}
    with pytest.raises(ApiError) as refused:
        await world.get("ConfigMap", "c")
    assert refused.value.code == 404


async def test_two_share_a_field_until_both_leave_it_out(world: World) -> None:
    await apply(world, said(a="1", b="1"), "one")
    await apply(world, said(a="1"), "two")
    now = await apply(world, said(b="1"), "one")
    assert now["data"] == {"a": "1", "b": "1"}
    now = await apply(world, said(), "two")
    assert now["data"] == {"b": "1"}
    assert managers(now) == {"one": {"f:data": {"f:b": {}}}}


async def test_a_conflict_changes_nothing_and_force_takes_the_field(world: World) -> None:
    await apply(world, said(a="1"), "one")
    before = world.store.revision
    with pytest.raises(ApiError) as refused:
        await apply(world, said(a="2"), "two")
    assert (refused.value.code, refused.value.reason, world.store.revision) == (409, "Conflict", before)
    now = await apply(world, said(a="2"), "two", force=True)
    assert now["data"] == {"a": "2"}
    assert managers(now) == {"two": {"f:data": {"f:a": {}}}}


async def test_what_the_server_fills_in_belongs_to_nobody_and_stays_while_its_holder_does(world: World) -> None:
    body = {"apiVersion": "v1", "kind": "Pod", **pod()}
    made = await apply(world, body, kind="Pod")
    assert made["spec"]["restartPolicy"] == "Always"
    assert "f:restartPolicy" not in managers(made)["one"]["f:spec"]
    changed = {**body, "metadata": {"name": "p", "labels": {"a": "b"}}}
    assert (await apply(world, changed, kind="Pod"))["spec"] == made["spec"]


async def test_the_status_is_applied_through_its_own_path_only(world: World) -> None:
    body = {"apiVersion": "v1", "kind": "Pod", **pod(), "status": {"message": "mine"}}
    made = await apply(world, body, kind="Pod")
    assert "message" not in made["status"]
    assert "f:status" not in managers(made)["one"]
    now = await apply(world, body, "two", kind="Pod", sub="status")
    assert now["status"]["message"] == "mine"
    assert managers(now)["two"] == {"f:status": {"f:message": {}}}
    gone = await apply(
        world, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}, "two", kind="Pod", sub="status"
    )
    assert "message" not in gone["status"]
    with pytest.raises(ApiError) as refused:
        await apply(world, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "q"}}, kind="Pod", sub="status")
    assert refused.value.code == 404


async def test_a_scale_is_applied_as_the_replicas_of_its_object(world: World) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    await apply(world, body, "one", kind="Deployment")
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 5}}
    with pytest.raises(ApiError) as refused:
        await apply(world, scale, "two", kind="Deployment", sub="scale")
    assert refused.value.code == 409
    found = await apply(world, scale, "two", kind="Deployment", sub="scale", force=True)
    assert (found["kind"], found["spec"]) == ("Scale", {"replicas": 5})
    assert managers(await world.get("Deployment", "d"))["two"] == {"f:spec": {"f:replicas": {}}}


async def test_what_nobody_managed_was_there_before_the_first_apply(world: World) -> None:
    await world.create("ConfigMap", config("c", a="1"), field_manager="old")
    await world.patch("ConfigMap", "c", {"metadata": {"managedFields": [{}]}})
    with pytest.raises(ApiError) as refused:
        await apply(world, said(a="2"))
    assert '"before-first-apply" using v1' in refused.value.message
    now = await apply(world, said(b="2"))
    assert managers(now) == {
        "one": {"f:data": {"f:b": {}}},
        "before-first-apply": {"f:data": {".": {}, "f:a": {}}},
    }


async def test_kubectl_takes_over_what_it_applied_on_its_own_side(world: World) -> None:
    last = orjson.dumps(said(a="1")).decode()
    obj = {**config("c", a="1", z="1"), "metadata": {"name": "c", "annotations": {ANNOTATION: last}}}
    await world.create("ConfigMap", obj, field_manager="kubectl-client-side-apply")
    with pytest.raises(ApiError):
        await apply(world, said(a="2"), "other")
    with pytest.raises(ApiError) as refused:
        await apply(world, said(a="2", z="2"), "kubectl")
    assert [cause["field"] for cause in refused.value.status()["details"]["causes"]] == [".data.z"]
    now = await apply(world, said(a="2"), "kubectl")
    assert now["data"] == {"a": "2", "z": "1"}
    assert orjson.loads(now["metadata"]["annotations"][ANNOTATION])["data"] == {"a": "2"}


@pytest.mark.parametrize(
    ("body", "code", "word"),
    [
        ("text", 400, "must be an object"),
        ({"kind": "ConfigMap", "metadata": {"name": "c"}}, 400, "Incorrect version"),
        ({"apiVersion": "v1", "metadata": {"name": "c"}}, 400, "invalid object type"),
        ({**said(a="1"), "metadata": {"name": "c", "managedFields": [{}]}}, 400, "managedFields must be nil"),
        ({**said(a="1"), "metadata": {"name": "d"}}, 400, "does not match"),
        ({**said(a="1"), "metadata": {}}, 400, "name must be provided"),
        ({**said(a="1"), "metadata": {"name": "c", "uid": "u"}}, 409, "uid mismatch"),
        ({**said(a="1"), "dta": {}}, 400, ".dta: field not declared in schema"),
        ({**said(), "data": {"a": 1}}, 400, "expected string"),
        ({**said(a="1"), "metadata": {"name": "c", "finalizers": ["a/b", "a/b"]}}, 400, "twice"),
    ],
)
async def test_what_is_no_configuration_is_refused(world: World, body: Any, code: int, word: str) -> None:
    with pytest.raises(ApiError) as refused:
        await apply(world, body, name="c")
    assert refused.value.code == code
    assert word in refused.value.message
    assert await world.names("ConfigMap") == []


async def test_a_configuration_may_name_the_revision_it_was_made_of(world: World) -> None:
    made = await apply(world, said(a="1"))
    await apply(world, said(a="2"))
    old = said(a="3")
    old["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"]
    with pytest.raises(ApiError) as refused:
        await apply(world, old)
    assert refused.value.code == 409


async def test_a_custom_kind_merges_by_its_own_schema_and_is_checked_as_a_whole(world: World) -> None:
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1"}]}],
    }
    body = {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q"},
        "spec": {"resourceGroups": [group], "cohortName": "c"},
    }  # fmt: skip
    made = await apply(world, body, kind="ClusterQueue")
    assert "f:cohortName" in managers(made)["one"]["f:spec"]
    part = {**body, "spec": {"stopPolicy": "Hold"}}
    now = await apply(world, part, "two", kind="ClusterQueue")
    assert (now["spec"]["cohortName"], now["spec"]["stopPolicy"]) == ("c", "Hold")
    wrong = {**body, "spec": {"stopPolicy": "Never"}}
    with pytest.raises(ApiError) as refused:
        await apply(world, wrong, "two", kind="ClusterQueue")
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")


async def test_who_may_only_patch_creates_nothing(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        await apply(world, said(a="1"), user=User("ann", ()))
    assert (refused.value.code, await world.names("ConfigMap")) == (403, [])
    await apply(world, said(a="1"))
    assert (await apply(world, said(a="2"), user=User("ann", ())))["data"] == {"a": "2"}
