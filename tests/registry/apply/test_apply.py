from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given

from kumi.api.wire import JsonObject
from kumi.registry.apply.apply import Applied, Config, Conflict, Conflicting, apply, first, refusal
from kumi.registry.apply.claims import SYSTEM, claims
from kumi.registry.apply.compare import everything
from kumi.registry.apply.fieldset import FieldSet
from kumi.registry.apply.managers import Entry, Manager

from .shapes import POD, PODS, SCHEME

NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"
Json = dict[str, Any]
KIND = SCHEME.find("", "Pod")
assert KIND is not None


def named(obj: Json) -> JsonObject:
    copied: Json = orjson.loads(orjson.dumps(obj))
    return {"apiVersion": "v1", "kind": "Pod", **copied, "metadata": {"name": "p", **copied.get("metadata", {})}}


def config(obj: Json, manager: str = "one") -> Config:
    assert KIND is not None
    return Config(KIND, named(obj), Manager(manager, "Apply", "v1"))


def created(obj: Json, manager: str = "one") -> tuple[JsonObject, list[Entry]]:
    return named(obj), first(config(obj, manager), NOW)


def applied(there: tuple[JsonObject, list[Entry]], obj: Json, manager: str = "one", *, force: bool = True) -> Applied:
    return apply(*there, config(obj, manager), LATER, force=force)


def owned(entries: list[Entry], manager: str) -> FieldSet:
    return next((entry.fields for entry in entries if entry.manager == manager), FieldSet())


@given(PODS)
def test_applying_twice_changes_nothing(obj: Json) -> None:
    there = created(obj)
    again = applied(there, obj, force=False)
    assert again.object == there[0]
    assert again.entries == there[1]


@given(PODS, PODS)
def test_what_its_only_manager_leaves_out_is_gone_and_what_it_says_is_there(old: Json, new: Json) -> None:
    there = created(old)
    found = applied(there, new, force=False)
    fields = everything(POD, found.object)
    left_out = claims(POD, named(old)) - claims(POD, named(new))
    assert (left_out & fields) - everything(POD, named(new)) == FieldSet()
    assert claims(POD, named(new)) - fields == FieldSet()
    assert owned(found.entries, "one") == claims(POD, named(new)) - SYSTEM


@given(PODS, PODS)
def test_what_another_manages_stays_when_one_gives_up_everything(ours: Json, theirs: Json) -> None:
    both = applied(created(ours), theirs, "two")
    alone = applied((both.object, both.entries), {}, "one")
    assert claims(POD, named(theirs)) - everything(POD, alone.object) == FieldSet()
    assert owned(alone.entries, "two") == owned(both.entries, "two")
    assert owned(alone.entries, "one") == FieldSet()


@given(PODS, PODS)
def test_without_force_nothing_is_taken_from_another(ours: Json, theirs: Json) -> None:
    there = created(ours)
    mine = owned(there[1], "one")
    refused: tuple[Conflict, ...] = ()
    try:
        there = applied(there, theirs, "two", force=False)
    except Conflicting as error:
        refused = error.conflicts
    assert all(one.path in mine for one in refused)
    assert owned(there[1], "one") == mine


@given(PODS, PODS)
def test_no_argument_is_changed(ours: Json, theirs: Json) -> None:
    there = created(ours)
    before = orjson.dumps(there[0])
    applied(there, theirs, "two")
    assert orjson.dumps(there[0]) == before


def test_times_tell_when_an_apply_last_changed_the_object() -> None:
    there = created({"spec": {"hostname": "a"}})
    shared = applied(there, {"spec": {"hostname": "a"}}, "two")
    assert {entry.manager: entry.time for entry in shared.entries} == {"one": NOW, "two": ""}
    changed = applied((shared.object, shared.entries), {"spec": {"hostname": "b"}}, "two")
    assert {entry.manager: entry.time for entry in changed.entries} == {"two": LATER}


def test_an_item_goes_with_what_others_only_changed_in_it() -> None:
    there = created({"spec": {"containers": [{"name": "a"}, {"name": "b", "image": "1"}], "hostname": "h"}})
    image = FieldSet.of(("f:spec", "f:containers", 'k:{"name":"a"}', "f:image"))
    obj = named({"spec": {"containers": [{"name": "a", "image": "2"}, {"name": "b", "image": "1"}], "hostname": "h"}})
    entries = [*there[1], Manager("other", "Update", "v1").entry(image, NOW)]
    found = applied((obj, entries), {"spec": {"containers": [{"name": "b", "image": "1"}]}})
    assert found.object["spec"] == {"containers": [{"name": "b", "image": "1"}]}
    assert [entry.manager for entry in found.entries] == ["one"]


def test_fields_that_nobody_manages_stay_as_long_as_what_holds_them_does() -> None:
    there = created({"spec": {"containers": [{"name": "a", "image": "1"}], "hostname": "h"}})
    obj = named(
        {"spec": {"containers": [{"name": "a", "image": "1", "tty": True}], "hostname": "h", "dnsPolicy": "None"}}
    )
    kept = applied((obj, there[1]), {"spec": {"containers": [{"name": "a"}]}})
    assert kept.object["spec"] == {"containers": [{"name": "a", "tty": True}], "dnsPolicy": "None"}
    assert "spec" not in applied((obj, there[1]), {}).object


def test_conflicts_name_the_manager_and_the_field() -> None:
    there = created({"spec": {"hostname": "a", "containers": [{"name": "c", "image": "1"}]}})
    updater = Manager("kubectl", "Update", "v1").entry(FieldSet.of(("f:metadata", "f:labels", "f:x")), NOW)
    obj = {**there[0], "metadata": {"name": "p", "labels": {"x": "1"}}}
    said = {"metadata": {"labels": {"x": "2"}}, "spec": {"hostname": "b", "containers": [{"name": "c", "image": "2"}]}}
    with pytest.raises(Conflicting) as caught:
        apply(obj, [*there[1], updater], config(said, "two"), LATER, force=False)
    status = refusal(caught.value.conflicts).status()
    assert status["message"] == (
        'Apply failed with 3 conflicts: conflicts with "kubectl" using v1:\n- .metadata.labels.x\n'
        'conflicts with "one":\n- .spec.containers[name="c"].image\n- .spec.hostname'
    )
    assert [(cause["message"], cause["field"]) for cause in status["details"]["causes"]] == [
        ('conflict with "kubectl" using v1', ".metadata.labels.x"),
        ('conflict with "one"', '.spec.containers[name="c"].image'),
        ('conflict with "one"', ".spec.hostname"),
    ]
    with pytest.raises(Conflicting) as caught:
        applied(there, {"spec": {"hostname": "b"}}, "two", force=False)
    assert (
        refusal(caught.value.conflicts).message == 'Apply failed with 1 conflict: conflict with "one": .spec.hostname'
    )


def queue(spec: Json, version: str, manager: str = "m") -> Config:
    kind = SCHEME.find("kueue.x-k8s.io", "ClusterQueue")
    assert kind is not None
    api_version = f"kueue.x-k8s.io/{version}"
    obj = {"apiVersion": api_version, "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": spec}
    return Config(kind, obj, Manager(manager, "Apply", api_version))


def test_a_manager_that_changes_its_version_gives_up_what_it_said_in_the_old_one() -> None:
    old = queue({"cohort": "c", "stopPolicy": "Hold"}, "v1beta1")
    stored = {**queue({"cohortName": "c", "stopPolicy": "Hold"}, "v1beta2").object}
    found = apply(stored, first(old, NOW), queue({"stopPolicy": "Hold"}, "v1beta2"), LATER, force=False)
    assert found.object["spec"] == {"stopPolicy": "Hold"}
    assert [entry.api_version for entry in found.entries] == ["kueue.x-k8s.io/v1beta2"]


def test_what_is_managed_in_another_version_is_kept_and_conflicts_there() -> None:
    stored = {**queue({"cohortName": "c", "stopPolicy": "Hold"}, "v1beta2").object}
    entries = [
        *first(queue({"cohort": "c"}, "v1beta1", "old"), NOW),
        *first(queue({"cohortName": "c", "stopPolicy": "Hold"}, "v1beta2"), NOW),
    ]
    found = apply(stored, entries, queue({"stopPolicy": "Hold"}, "v1beta2"), LATER, force=False)
    assert found.object["spec"]["cohortName"] == "c"
    with pytest.raises(Conflicting) as caught:
        apply(stored, entries, queue({"cohortName": "d"}, "v1beta2"), LATER, force=False)
    assert [(one.manager.name, one.path) for one in caught.value.conflicts] == [("old", ("f:spec", "f:cohort"))]
