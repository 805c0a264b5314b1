from __future__ import annotations

import copy
import json

import pytest

from kumi.api.scheme import Kind, load
from kumi.api.wire import JsonObject, Listing, WatchEvent
from kumi.apiserver.negotiate import PLAIN, Form
from kumi.apiserver.routes.forms import Forms
from tests.apiserver.conftest import NOW

META = {"name": "a", "namespace": "default", "resourceVersion": "7", "creationTimestamp": "2027-01-15T07:59:00Z"}


def kind(plural: str, group: str = "") -> Kind:
    found = load().find_plural(group, plural)
    assert found is not None
    return found


CONFIG_MAPS, JOBS = kind("configmaps"), kind("pytorchjobs", "kubeflow.org")


def forms(form: Form, of: Kind = CONFIG_MAPS, include: str = "Metadata") -> Forms:
    return Forms(form, of, of.version, include, lambda: NOW)  # type: ignore[arg-type]


def thing(of: Kind = CONFIG_MAPS) -> JsonObject:
    return {"apiVersion": of.api_version, "kind": of.kind, "metadata": dict(META)}


@pytest.mark.parametrize("form", [PLAIN, Form("table"), Form("partial")])
@pytest.mark.parametrize("of", [CONFIG_MAPS, JOBS], ids=lambda k: k.kind)
def test_objects_of_the_registry_are_left_as_they_are(form: Form, of: Kind) -> None:
    obj = thing(of)
    before = copy.deepcopy(obj)
    made = forms(form, of)
    made.one(obj)
    made.many(Listing([obj], "9"))
    made.event(WatchEvent("ADDED", obj))
    assert obj == before


@pytest.mark.parametrize(("of", "said"), [(CONFIG_MAPS, False), (JOBS, True)], ids=["own", "custom"])
def test_items_of_a_list_say_their_kind_only_where_it_is_custom(of: Kind, said: bool) -> None:
    found = forms(PLAIN, of).many(Listing([thing(of)], "9", "next", 3))
    assert found["kind"] == f"{of.kind}List"
    assert found["apiVersion"] == of.api_version
    assert found["metadata"] == {"resourceVersion": "9", "continue": "next", "remainingItemCount": 3}
    assert ("kind" in found["items"][0]) is said


def test_a_table_has_the_age_as_of_now() -> None:
    table = forms(Form("table")).one(thing())
    names = [column["name"] for column in table["columnDefinitions"]]
    (row,) = table["rows"]
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert dict(zip(names, row["cells"], strict=True))["Age"] == "60s"
    assert row["object"]["kind"] == "PartialObjectMetadata"


@pytest.mark.parametrize(
    ("include", "carried"), [("None", None), ("Metadata", "PartialObjectMetadata"), ("Object", "ConfigMap")]
)
def test_rows_carry_what_was_asked_for(include: str, carried: str | None) -> None:
    (row,) = forms(Form("table"), include=include).many(Listing([thing()], "9"))["rows"]
    assert (row["object"] and row["object"]["kind"]) == carried


def test_metadata_only_is_metadata_only() -> None:
    made = forms(Form("partial", "v1beta1"))
    assert made.one(thing()) == {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1beta1", "metadata": META}
    assert made.many(Listing([thing()], "9"))["kind"] == "PartialObjectMetadataList"


@pytest.mark.parametrize("form", [Form("table"), Form("partial")])
def test_a_status_stays_a_status(form: Form) -> None:
    status = {"kind": "Status", "status": "Success"}
    assert forms(form).one(status) is status


def test_a_bookmark_in_a_table_has_no_row() -> None:
    bookmark = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}}
    event = json.loads(forms(Form("table")).event(WatchEvent("BOOKMARK", bookmark)))
    assert (event["type"], event["object"]["rows"]) == ("BOOKMARK", [])
    assert event["object"]["metadata"]["resourceVersion"] == "9"


def test_an_event_is_one_line() -> None:
    obj = thing() | {"data": {"text": "two\nlines"}}
    line = forms(PLAIN).event(WatchEvent("ADDED", obj))
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"type": "ADDED", "object": obj}
