from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry.apply.compare import everything
from kumi.registry.apply.fieldset import FieldSet
from kumi.registry.apply.managers import Entry, Manager
from kumi.registry.apply.tracking import Written, managed_before, served_version, tracked
from kumi.registry.objects import with_managers
from tests.registry.world import JSON, World, config, pod

from .shapes import POD, PODS, SCHEME

NOW = "2026-01-01T00:00:00Z"
ONE, TWO = Manager("one", "Update", "v1"), Manager("two", "Update", "v1")


def kind(name: str, group: str = "") -> Kind:
    found = SCHEME.find(group, name)
    assert found is not None
    return found


def write(old: JsonObject | None, new: JsonObject, entries: list[Entry], manager: Manager) -> list[Entry]:
    return tracked(Written(kind("Pod"), old, new), entries, manager, NOW)


@given(PODS, PODS, PODS)
def test_every_field_that_somebody_manages_is_there_and_changes_belong_to_their_writer(
    first: JsonObject, second: JsonObject, third: JsonObject
) -> None:
    entries = write(None, first, [], ONE)
    for old, new, writer in ((first, second, TWO), (second, third, ONE)):
        known = entries
        entries = write(old, new, entries, writer)
        if not known:
            assert entries == []
            return
        managed = FieldSet()
        for entry in entries:
            assert entry.fields
            managed |= entry.fields
        assert managed - everything(POD, new) == FieldSet()


@given(PODS, st.sampled_from([ONE, TWO]))
def test_a_write_that_changes_nothing_changes_no_entry(obj: JsonObject, writer: Manager) -> None:
    entries = write(None, obj, [], ONE)
    again = write(obj, orjson.loads(orjson.dumps(obj)), entries, writer)
    assert len(again) == len(entries)
    assert all(a is b for a, b in zip(again, entries, strict=True))


def test_a_list_whose_items_have_no_keys_is_stored_and_tracked_no_further() -> None:
    entries = write(None, {"spec": {"hostname": "h"}}, [], ONE)
    assert write({"spec": {"hostname": "h"}}, {"spec": {"containers": [{"image": "i"}]}}, entries, TWO) == entries


def test_entries_count_in_their_own_version_and_go_with_it() -> None:
    queue = kind("ClusterQueue", "kueue.x-k8s.io")
    old = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {}, "spec": {"cohortName": "a"}}
    new = {**old, "spec": {"cohortName": "b"}}
    before = Manager("old", "Apply", "kueue.x-k8s.io/v1beta1").entry(
        FieldSet.of(("f:spec", "f:cohort"), ("f:spec", "f:stopPolicy")), NOW
    )
    gone = Manager("gone", "Apply", "kueue.x-k8s.io/v1alpha1").entry(FieldSet.of(("f:spec", "f:cohort")), NOW)
    writer = Manager("new", "Update", "kueue.x-k8s.io/v1beta2")
    left = {e.manager: e.fields for e in tracked(Written(queue, old, new), [before, gone], writer, NOW)}
    assert left == {"old": FieldSet.of(("f:spec", "f:stopPolicy")), "new": FieldSet.of(("f:spec", "f:cohortName"))}
    assert served_version(queue, "kueue.x-k8s.io/v1alpha1") is None
    assert served_version(queue, "v1beta1") is None


def test_what_was_sent_counts_unless_it_makes_no_sense() -> None:
    there = write(None, {"spec": {"hostname": "h"}}, [], ONE)
    assert managed_before([{}], there) == []
    assert managed_before([], there) == there
    assert managed_before("x", there) == there
    sent = [
        {"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:a": {}}}
    ]
    assert [entry.manager for entry in managed_before(sent, there)] == ["m"]


def managers(obj: JsonObject) -> dict[str, Any]:
    """manager/operation/subresource -> FieldsV1."""
    found = with_managers(obj)["metadata"].get("managedFields", [])
    return {f"{e['manager']}/{e['operation']}/{e.get('subresource', '')}": e["fieldsV1"] for e in found}


async def test_creator_patcher_and_status_writer_are_told_apart(world: World) -> None:
    made = await world.create("Pod", pod(), field_manager="user")
    assert "f:restartPolicy" in managers(made)["user/Update/"]["f:spec"]
    assert "f:tolerations" not in managers(made)["user/Update/"]["f:spec"]
    assert "f:status" not in managers(made)["user/Update/"]
    await world.patch("Pod", "p", {"metadata": {"labels": {"a": "b"}}}, field_manager="labeller")
    now = await world.patch("Pod", "p", {"status": {"message": "m"}}, sub="status", field_manager="node")
    assert managers(now)["labeller/Update/"] == {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}
    assert managers(now)["node/Update/status"] == {"f:status": {"f:message": {}}}


async def test_the_last_writer_of_a_field_has_it_and_what_is_gone_nobody_has(world: World) -> None:
    await world.create("ConfigMap", config("c", a="1", b="1"), field_manager="one")
    await world.patch("ConfigMap", "c", {"data": {"a": "2"}}, field_manager="two")
    now = await world.patch("ConfigMap", "c", {"data": {"b": None}}, field_manager="two")
    assert managers(now) == {"one/Update/": {"f:data": {}}, "two/Update/": {"f:data": {"f:a": {}}}}


async def test_an_update_without_a_change_is_no_write(world: World) -> None:
    await world.create("ConfigMap", config("c", a="1"), field_manager="one")
    before = world.store.revision
    world.now_ms += 5000
    await world.patch("ConfigMap", "c", {"data": {"a": "1"}}, field_manager="two")
    sent = with_managers(await world.get("ConfigMap", "c"))
    await world.put("ConfigMap", {**sent, "metadata": dict(sent["metadata"])}, field_manager="three")
    assert world.store.revision == before


async def test_managed_fields_can_be_reset_and_written_but_not_through_the_status(world: World) -> None:
    await world.create("Pod", pod(), field_manager="one")
    note = [{"op": "replace", "path": "/metadata/managedFields/0/manager", "value": "renamed"}]
    now = await world.patch("Pod", "p", note, JSON, field_manager="two")
    assert list(managers(now)) == ["renamed/Update/"]
    now = await world.patch("Pod", "p", {"metadata": {"managedFields": [{}]}}, sub="status", field_manager="two")
    assert list(managers(now)) == ["renamed/Update/"]
    now = await world.patch("Pod", "p", {"metadata": {"managedFields": None}}, field_manager="two")
    assert list(managers(now)) == ["renamed/Update/"]
    now = await world.patch("Pod", "p", {"metadata": {"managedFields": [{}]}}, field_manager="two")
    assert managers(now) == {}
    now = await world.patch("Pod", "p", {"metadata": {"labels": {"a": "b"}}}, field_manager="two")
    assert managers(now) == {}


@pytest.mark.parametrize("name", ["", "kumi"])
async def test_every_writer_has_a_name(world: World, name: str) -> None:
    made = await world.create("ConfigMap", config("c", a="1"), field_manager=name)
    assert managers(made) == {f"{name or 'unknown'}/Update/": {"f:data": {".": {}, "f:a": {}}}}


async def test_the_scale_and_the_loops_of_kumi_are_tracked_too(world: World) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "ns"}, "spec": spec}
    assert list(managers(await world.client.create(made))) == ["kumi/Update/"]
    await world.patch("Deployment", "d", {"spec": {"replicas": 3}}, sub="scale", field_manager="kubectl")
    now = await world.get("Deployment", "d")
    assert managers(now)["kubectl/Update/scale"] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in managers(now)["kumi/Update/"]["f:spec"]
