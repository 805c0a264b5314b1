"""create, update and patch: what gets in, what changes, what is refused, in Kubernetes' words."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from kumi.api.errors import ApiError, FieldError
from kumi.api.scheme import Kind, Scheme
from kumi.api.wire import JsonObject
from kumi.registry.hooks import Operation
from kumi.registry.objects import with_managers
from kumi.registry.registry import WriteOptions

from .world import JSON, STRATEGIC, World, config, pod

FLAVOR = {"metadata": {"name": "f"}, "spec": {"nodeLabels": {"a": "b"}}}


# create


async def test_a_new_object_has_what_the_server_writes(world: World) -> None:
    made = await world.create("ConfigMap", config("a", k="v"))
    assert with_managers(made) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "a",
            "namespace": "ns",
            "uid": "uid-2",
            "creationTimestamp": "2027-01-15T08:00:00Z",
            "resourceVersion": "3",
            "managedFields": [
                {
                    "manager": "unknown",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": "2027-01-15T08:00:00Z",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:data": {".": {}, "f:k": {}}},
                }
            ],
        },
        "data": {"k": "v"},
    }
    assert await world.get("ConfigMap", "a") == made


async def test_a_name_is_generated(world: World) -> None:
    names = [
        (await world.create("ConfigMap", {"metadata": {"generateName": "gen-"}}))["metadata"]["name"] for _ in "ab"
    ]
    assert all(re.fullmatch("gen-[a-z0-9]{5}", name) for name in names)
    assert names[0] != names[1]


async def test_a_generated_name_that_is_taken_is_drawn_again(world: World) -> None:
    world.new_uid = iter(["same", "1", "same", "2", "other", "3"]).__next__
    one = await world.create("ConfigMap", {"metadata": {"generateName": "x-"}})
    two = await world.create("ConfigMap", {"metadata": {"generateName": "x-"}})
    assert one["metadata"]["name"] != two["metadata"]["name"]
    assert (one["metadata"]["uid"], two["metadata"]["uid"]) == ("1", "3")


async def test_the_same_name_again_is_a_conflict(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    with pytest.raises(ApiError) as refused:
        await world.create("ConfigMap", config("a"))
    assert refused.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps "a" already exists',
        "reason": "AlreadyExists",
        "details": {"name": "a", "kind": "configmaps"},
        "code": 409,
    }


async def test_the_name_of_an_object_that_is_going_is_taken_too(world: World) -> None:
    await world.create("ConfigMap", {"metadata": {"name": "a", "finalizers": ["x/y"]}})
    await world.delete("ConfigMap", "a")
    with pytest.raises(ApiError, match='object is being deleted: configmaps "a" already exists'):
        await world.create("ConfigMap", config("a"))


async def test_a_dry_run_answers_like_the_write_and_stores_nothing(world: World) -> None:
    ghost = await world.create("ConfigMap", config("a"), dry_run=True)
    assert "resourceVersion" not in ghost["metadata"]
    assert ghost["metadata"]["uid"]
    assert await world.names("ConfigMap") == []
    await world.create("ConfigMap", config("a", k="1"))
    with pytest.raises(ApiError, match="already exists"):
        await world.create("ConfigMap", config("a"), dry_run=True)
    changed = await world.patch("ConfigMap", "a", {"data": {"k": "2"}}, dry_run=True)
    assert changed["data"] == {"k": "2"}
    assert (await world.get("ConfigMap", "a"))["data"] == {"k": "1"}


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"metadata": {"name": "a", "namespace": "other"}}, 400, "the namespace of the provided object does not match"),
        ({"kind": "Pod", "metadata": {"name": "a"}}, 400, 'Pod in version "v1" cannot be handled as a ConfigMap'),
        ({"apiVersion": "v2", "metadata": {"name": "a"}}, 400, "does not match the expected API version (v1)"),
        ({"metadata": {}}, 422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'),
        ({}, 422, "name or generateName is required"),
        ({"metadata": {"name": "a", "resourceVersion": "1"}}, 400, "resourceVersion should not be set on objects to be created"),
        ({"metadata": {"name": "a"}, "data": {"a": 1}}, 400, "data.a"),
        ({"metadata": []}, 400, "metadata"),
    ],
)  # fmt: skip
async def test_what_a_create_refuses(world: World, body: JsonObject, code: int, message: str) -> None:
    with pytest.raises(ApiError, match=re.escape(message)) as refused:
        await world.create("ConfigMap", body)
    assert refused.value.code == code
    assert await world.names("ConfigMap") == []


async def test_a_body_that_is_no_object_is_refused(world: World) -> None:
    with pytest.raises(ApiError, match="must be an object"):
        await world.create("ConfigMap", [])  # type: ignore[arg-type]


async def test_the_namespace_of_a_cluster_scoped_object_is_dropped(world: World) -> None:
    made = await world.create("ResourceFlavor", {"metadata": {"name": "f", "namespace": "x"}, "spec": {}})
    assert "namespace" not in made["metadata"]


@pytest.mark.parametrize("validation", ["Strict", "Warn", "Ignore"])
async def test_unknown_fields(world: World, validation: str) -> None:
    body = {"metadata": {"name": "a"}, "data": {}, "dta": {"a": "b"}, "metadta": 1}
    options = WriteOptions(field_validation=validation)  # type: ignore[arg-type]
    target = world.target("ConfigMap")
    if validation == "Strict":
        with pytest.raises(ApiError) as refused:
            await world.registry.create(target, body, options)
        assert refused.value.code == 400
        assert refused.value.message == (
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
            'strict decoding error: unknown field "dta", unknown field "metadta"'
        )
        return
    made = await world.registry.create(target, body, options)
    assert not {"dta", "metadta"} & made.keys()
    assert options.warnings == (['unknown field "dta"', 'unknown field "metadta"'] if validation == "Warn" else [])


async def test_a_status_that_comes_along_is_dropped(world: World) -> None:
    made = await world.create("Pod", {**pod(), "status": {"phase": "Running"}})
    assert made["status"]["phase"] == "Pending"
    queue = {"metadata": {"name": "q"}, "spec": {"clusterQueue": "c"}, "status": {"pendingWorkloads": 3}}
    assert "status" not in await world.create("LocalQueue", queue)


async def test_a_node_keeps_the_status_that_its_kubelet_wrote(world: World) -> None:
    made = await world.create("Node", {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "4"}}})
    assert made["status"]["capacity"] == {"cpu": "4"}


async def test_managed_fields_are_not_kept(world: World) -> None:
    made = await world.create("ConfigMap", {"metadata": {"name": "a", "managedFields": [{"manager": "m"}]}})
    assert "managedFields" not in made["metadata"]


# update


async def test_an_update_with_the_current_revision(world: World) -> None:
    made = await world.create("ConfigMap", config("a", k="1"))
    body = {"metadata": {"name": "a", "resourceVersion": made["metadata"]["resourceVersion"]}, "data": {"k": "2"}}
    now = await world.put("ConfigMap", body)
    assert now["data"] == {"k": "2"}
    assert now["metadata"]["uid"] == made["metadata"]["uid"]
    assert now["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]
    with pytest.raises(ApiError) as refused:
        await world.put("ConfigMap", body)
    assert (refused.value.code, refused.value.reason) == (409, "Conflict")
    assert refused.value.message == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


async def test_an_update_without_a_revision_is_unconditional(world: World) -> None:
    await world.create("ConfigMap", config("a", k="1"))
    assert (await world.put("ConfigMap", config("a", k="3")))["data"] == {"k": "3"}


async def test_an_update_of_a_custom_object_must_name_its_revision(world: World) -> None:
    await world.create("ResourceFlavor", dict(FLAVOR))
    with pytest.raises(ApiError) as refused:
        await world.put("ResourceFlavor", {"metadata": {"name": "f"}, "spec": {}})
    assert (refused.value.code, refused.value.kind) == (422, "resourceflavors")
    assert "metadata.resourceVersion: Invalid value: 0: must be specified for an update" in refused.value.message


async def test_an_update_of_another_object_of_that_name_is_a_conflict(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    with pytest.raises(
        ApiError, match="Precondition failed: UID in precondition: x, UID in object meta: uid-2"
    ) as refused:
        await world.put("ConfigMap", {"metadata": {"name": "a", "uid": "x"}})
    assert refused.value.code == 409


async def test_an_update_of_what_is_not_there_is_not_found(world: World) -> None:
    with pytest.raises(ApiError, match='configmaps "a" not found'):
        await world.put("ConfigMap", config("a"))
    with pytest.raises(ApiError, match='"f" not found'):
        await world.put("ResourceFlavor", {"metadata": {"name": "f"}, "spec": {}})


async def test_some_kinds_are_created_by_an_update(world: World) -> None:
    event = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "ns"}, "reason": "r"}
    assert (await world.put("Event", event))["metadata"]["uid"]


async def test_a_broken_revision_is_a_bad_request(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    with pytest.raises(ApiError, match='invalid resourceVersion "x"') as refused:
        await world.put("ConfigMap", {"metadata": {"name": "a", "resourceVersion": "x"}})
    assert refused.value.code == 400


async def test_an_update_that_changes_nothing_writes_nothing(world: World) -> None:
    made = await world.create("ConfigMap", config("a", k="1"))
    again = await world.put("ConfigMap", {"data": {"k": "1"}, "metadata": {"name": "a"}})
    patched = await world.patch("ConfigMap", "a", {"data": {"k": "1"}})
    assert (
        again["metadata"]["resourceVersion"]
        == patched["metadata"]["resourceVersion"]
        == made["metadata"]["resourceVersion"]
    )
    assert world.store.revision == int(made["metadata"]["resourceVersion"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"creationTimestamp": "2020-01-01T00:00:00Z"}, "metadata.creationTimestamp: Invalid value"),
        ({"deletionTimestamp": "2020-01-01T00:00:00Z"}, "metadata.deletionTimestamp: Invalid value"),
    ],
)
async def test_metadata_that_nobody_changes(world: World, change: JsonObject, message: str) -> None:
    await world.create("ConfigMap", config("a"))
    with pytest.raises(ApiError, match=message) as refused:
        await world.patch("ConfigMap", "a", {"metadata": change})
    assert refused.value.code == 422


async def test_renaming_is_refused(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    message = r"the name of the object \(b\) does not match the name on the URL \(a\)"
    with pytest.raises(ApiError, match=message) as refused:
        await world.patch("ConfigMap", "a", {"metadata": {"name": "b"}})
    assert refused.value.code == 400


async def test_the_generation_counts_changes_of_the_spec(world: World) -> None:
    await world.create("Pod", pod())

    async def generation(change: JsonObject, sub: str = "") -> int:
        made = await world.patch("Pod", "p", change, sub=sub)
        return int(made["metadata"]["generation"])

    assert await generation({"metadata": {"labels": {"a": "b"}}}) == 1
    assert await generation({"spec": {"activeDeadlineSeconds": 5}}) == 2
    assert await generation({"status": {"phase": "Running"}}, "status") == 2
    assert await generation({"metadata": {"generation": 77}}) == 2


async def test_the_generation_of_a_custom_object_counts_all_but_metadata_and_status(world: World) -> None:
    await world.create("WorkloadPriorityClass", {"metadata": {"name": "w"}, "value": 1})
    made = await world.patch("WorkloadPriorityClass", "w", {"description": "new"})
    assert made["metadata"]["generation"] == 2
    made = await world.patch("WorkloadPriorityClass", "w", {"metadata": {"labels": {"a": "b"}}})
    assert made["metadata"]["generation"] == 2


async def test_kinds_without_a_spec_have_no_generation(world: World) -> None:
    assert "generation" not in (await world.create("ConfigMap", config("a")))["metadata"]


# status


async def test_a_write_to_the_status_leaves_the_spec_alone(world: World) -> None:
    await world.create("Pod", pod())
    change = {"metadata": {"labels": {"via": "status"}}, "spec": {"nodeName": "n"}, "status": {"phase": "Running"}}
    made = await world.patch("Pod", "p", change, sub="status")
    assert (made["status"]["phase"], "nodeName" in made["spec"]) == ("Running", False)
    assert made["metadata"]["labels"] == {"via": "status"}


async def test_a_write_to_the_object_leaves_the_status_alone(world: World) -> None:
    await world.create("Pod", pod())
    await world.patch("Pod", "p", {"status": {"phase": "Running"}}, sub="status")
    made = await world.patch("Pod", "p", {"metadata": {"labels": {"a": "b"}}, "status": {"phase": "Failed"}})
    assert made["status"]["phase"] == "Running"
    now = await world.put("Pod", {**pod(), "spec": made["spec"]})
    assert now["status"] == made["status"]


async def test_a_status_of_a_custom_object_takes_nothing_else(world: World) -> None:
    await world.create("LocalQueue", {"metadata": {"name": "q"}, "spec": {"clusterQueue": "c"}})
    change = {"metadata": {"labels": {"a": "b"}}, "spec": {"clusterQueue": "d"}, "status": {"pendingWorkloads": 3}}
    made = await world.patch("LocalQueue", "q", change, sub="status")
    assert made["spec"]["clusterQueue"] == "c"
    assert "labels" not in made["metadata"]
    assert made["status"] == {"pendingWorkloads": 3}
    assert made["metadata"]["generation"] == 1


# patch


async def test_the_three_patches_of_one_pod(world: World) -> None:
    await world.create("Pod", pod())
    await world.patch("Pod", "p", {"spec": {"containers": [{"name": "c", "image": "2"}]}}, STRATEGIC)
    await world.patch("Pod", "p", [{"op": "add", "path": "/metadata/labels", "value": {"a/b": "1"}}], JSON)
    made = await world.patch("Pod", "p", {"metadata": {"annotations": {"x": "y"}}})
    assert made["spec"]["containers"][0]["image"] == "2"
    assert made["metadata"]["labels"] == {"a/b": "1"}
    assert made["metadata"]["annotations"] == {"x": "y"}


@pytest.mark.parametrize(
    ("type", "body", "code", "reason"),
    [
        (JSON, [{"op": "test", "path": "/metadata/name", "value": "x"}], 422, "Invalid"),
        (JSON, [{"op": "remove", "path": "/metadata/labels/none"}], 422, "Invalid"),
        (JSON, {"spec": {}}, 400, "BadRequest"),
        (STRATEGIC, {"spec": {"containers": [{"image": "x"}]}}, 400, "BadRequest"),
        ("text/plain", "a", 415, "UnsupportedMediaType"),
        ("application/apply-patch+yaml", {}, 400, "BadRequest"),
        (JSON, [{"op": "add", "path": "/metadata/labels", "value": {}}] * 10_001, 413, "RequestEntityTooLarge"),
    ],
)
async def test_patches_that_are_refused_change_nothing(
    world: World, type: str, body: object, code: int, reason: str
) -> None:
    await world.create("Pod", pod())
    before = world.store.revision
    with pytest.raises(ApiError) as refused:
        await world.patch("Pod", "p", body, type)
    assert (refused.value.code, refused.value.reason) == (code, reason)
    assert world.store.revision == before


async def test_a_patch_that_does_not_fit_is_told_as_kubernetes_tells_it(world: World) -> None:
    await world.create("Pod", pod())
    with pytest.raises(ApiError, match="the server rejected our request due to an error in our request"):
        await world.patch("Pod", "p", [{"op": "remove", "path": "/none"}], JSON)


async def test_custom_kinds_take_no_strategic_patch(world: World) -> None:
    await world.create("ResourceFlavor", dict(FLAVOR))
    with pytest.raises(ApiError, match=r"accepted media types include: application/json-patch\+json") as refused:
        await world.patch("ResourceFlavor", "f", {"spec": {}}, STRATEGIC)
    assert refused.value.code == 415


async def test_a_content_type_may_have_parameters(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    made = await world.patch("ConfigMap", "a", {"data": {"x": "y"}}, "application/merge-patch+json; charset=utf-8")
    assert made["data"] == {"x": "y"}


async def test_a_patch_that_names_a_revision_is_conditional(world: World) -> None:
    made = await world.create("ConfigMap", config("a"))
    first = {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}, "data": {"x": "1"}}
    assert (await world.patch("ConfigMap", "a", first))["data"] == {"x": "1"}
    with pytest.raises(ApiError) as refused:
        await world.patch("ConfigMap", "a", first)
    assert refused.value.reason == "Conflict"


async def test_unknown_fields_of_a_patch_are_told_like_those_of_a_body(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    with pytest.raises(ApiError, match='unknown field "dta"'):
        await world.patch("ConfigMap", "a", {"dta": {}}, field_validation="Strict")
    assert "dta" not in await world.patch("ConfigMap", "a", {"dta": {}, "data": {"x": "y"}})


async def test_a_patch_of_what_is_not_there_is_not_found(world: World) -> None:
    with pytest.raises(ApiError, match=r'resourceflavors\.kueue\.x-k8s\.io "none" not found') as refused:
        await world.patch("ResourceFlavor", "none", {})
    assert (refused.value.kind, refused.value.group) == ("resourceflavors", "kueue.x-k8s.io")


async def test_what_the_caller_sent_is_not_shared_with_what_is_stored(world: World) -> None:
    value = {"x": "1"}
    await world.create("ConfigMap", config("a"))
    await world.patch("ConfigMap", "a", {"data": value})
    value["x"] = "2"
    assert (await world.get("ConfigMap", "a"))["data"] == {"x": "1"}


# hooks and versions


class Recorder:
    """A hook that writes down what it saw, labels what it mutates and refuses the label `bad`."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str]] = []

    def mutate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        self.seen.append(("mutate", operation, kind.kind))
        new["metadata"].setdefault("labels", {})["hooked"] = operation.lower()

    def validate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        self.seen.append(("validate", operation, kind.kind))
        assert (old is None) == (operation == "CREATE")
        return [FieldError("metadata.labels[bad]", "no")] if "bad" in new["metadata"]["labels"] else []

    def warnings(self, operation: Operation, kind: Kind, new: JsonObject) -> list[str]:
        return ["mind the hook"]


@pytest.fixture
async def hooked(scheme: Scheme) -> tuple[World, Recorder]:
    recorder = Recorder()
    world = World(scheme, (recorder,))
    await world.create("Namespace", {"metadata": {"name": "ns"}})
    recorder.seen.clear()
    return world, recorder


async def test_hooks_see_writes_to_the_object_and_not_to_its_subresources(hooked: tuple[World, Recorder]) -> None:
    world, recorder = hooked
    made = await world.create("Pod", pod())
    assert made["metadata"]["labels"] == {"hooked": "create"}
    await world.patch("Pod", "p", {"status": {"phase": "Running"}}, sub="status")
    await world.registry.create(world.target("Pod", "p", sub="binding"), {"target": {"name": "n"}}, WriteOptions())
    made = await world.patch("Pod", "p", {"metadata": {"annotations": {"a": "b"}}})
    assert made["metadata"]["labels"] == {"hooked": "update"}
    assert recorder.seen == [
        ("mutate", "CREATE", "Pod"),
        ("validate", "CREATE", "Pod"),
        ("mutate", "UPDATE", "Pod"),
        ("validate", "UPDATE", "Pod"),
    ]


async def test_what_a_hook_refuses_is_not_stored_and_its_warnings_are_heard(hooked: tuple[World, Recorder]) -> None:
    world, _ = hooked
    with pytest.raises(ApiError, match=r"metadata.labels\[bad\]") as refused:
        await world.create("ConfigMap", {"metadata": {"name": "a", "labels": {"bad": "x"}}})
    assert refused.value.code == 422
    options = WriteOptions()
    await world.registry.create(world.target("ConfigMap"), config("a"), options)
    assert options.warnings == ["mind the hook"]


def _two_versions(scheme: Scheme) -> Scheme:
    """A scheme whose ConfigMaps are also served as v0, which calls `data` `stuff`."""

    def up(obj: JsonObject) -> JsonObject:
        return {("data" if key == "binaryData" else key): value for key, value in obj.items()}

    def down(obj: JsonObject) -> JsonObject:
        return {("binaryData" if key == "data" else key): value for key, value in obj.items()}

    made = Scheme()
    for kind in scheme:
        made.register(replace(kind, conversions={"v0": (up, down)}) if kind.kind == "ConfigMap" else kind)
    return made


async def test_every_served_version_shows_the_same_object(scheme: Scheme) -> None:
    world = World(_two_versions(scheme))
    await world.create("Namespace", {"metadata": {"name": "ns"}})
    old = world.target("ConfigMap", version="v0")
    made = await world.registry.create(
        old, {"apiVersion": "v0", "metadata": {"name": "a"}, "binaryData": {"k": "dg=="}}, WriteOptions()
    )
    assert (made["apiVersion"], made["binaryData"]) == ("v0", {"k": "dg=="})
    stored = await world.get("ConfigMap", "a")
    assert (stored["apiVersion"], stored["data"]) == ("v1", {"k": "dg=="})
    patched = await world.registry.patch(
        replace(old, name="a"), "application/merge-patch+json", {"binaryData": {"l": "dg=="}}, WriteOptions()
    )
    assert patched["binaryData"] == {"k": "dg==", "l": "dg=="}
    with pytest.raises(ApiError, match=r"the API version in the data \(v1\) does not match"):
        await world.registry.create(old, {"apiVersion": "v1", "metadata": {"name": "b"}}, WriteOptions())


# concurrency


class SlowStore:
    """A store whose writes take a turn of the loop, so that others come in between."""

    def __init__(self, world: World) -> None:
        self._put = world.store.put
        world.store.put = self.put  # type: ignore[method-assign]

    async def put(self, key: str, value: bytes | None, expected: int | None = None) -> int:
        await asyncio.sleep(0)
        return await self._put(key, value, expected)


async def test_clients_that_read_modify_and_write_lose_nothing(world: World) -> None:
    SlowStore(world)
    await world.create("ConfigMap", config("a", n="0"))

    async def count(times: int) -> int:
        conflicts = 0
        while times:
            now = await world.get("ConfigMap", "a")
            body = {"metadata": dict(now["metadata"]), "data": {"n": str(int(now["data"]["n"]) + 1)}}
            try:
                await world.put("ConfigMap", body)
                times -= 1
            except ApiError as error:
                if error.reason != "Conflict":
                    raise
                conflicts += 1
        return conflicts

    conflicts = await asyncio.gather(count(30), count(30))
    assert (await world.get("ConfigMap", "a"))["data"] == {"n": "60"}
    assert sum(conflicts) > 0


async def test_patches_without_a_revision_never_conflict_and_all_of_them_stay(world: World) -> None:
    SlowStore(world)
    await world.create("ConfigMap", config("a"))
    await asyncio.gather(*(world.patch("ConfigMap", "a", {"data": {f"k{n}": "v"}}) for n in range(20)))
    assert len((await world.get("ConfigMap", "a"))["data"]) == 20


async def test_of_creates_at_the_same_time_one_gets_the_name(world: World) -> None:
    SlowStore(world)
    results = await asyncio.gather(*(world.create("ConfigMap", config("a")) for _ in range(5)), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["ApiError"] * 4 + ["dict"]
