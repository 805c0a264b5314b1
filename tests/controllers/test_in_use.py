from __future__ import annotations

from typing import Any

import pytest

from kumi.api.kueue import IN_USE
from kumi.api.wire import JsonObject
from kumi.controllers.in_use import in_use_controllers
from kumi.runtime.reconcile import Outcome, Patch
from kumi.testing.view import FakeView

from .made import NOW_MS, admitted, at, cluster_queue, condition, flavor, meta, workload

LOOPS = {loop.name: loop for loop in in_use_controllers()}
GOING = {"deletionTimestamp": at(0), "finalizers": [IN_USE]}


def going(manifest: JsonObject) -> JsonObject:
    return {**manifest, "metadata": {**manifest["metadata"], **GOING}}


def check(name: str = "capacity") -> JsonObject:
    spec = {"controllerName": "x/y"}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": meta(name), "spec": spec}


def topology(name: str = "racks") -> JsonObject:
    spec = {"levels": [{"nodeLabel": "rack"}]}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": meta(name), "spec": spec}


def cohort(**spec: Any) -> JsonObject:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": meta("all"), "spec": spec}


def look(kind: str, *manifests: JsonObject) -> Outcome:
    return LOOPS[f"in-use-{kind}"].reconcile(FakeView(*manifests), manifests[0]["metadata"]["name"], NOW_MS)


ASKS = {"admissionChecksStrategy": {"admissionChecks": [{"name": "capacity"}]}}
GROUP = {"coveredResources": ["cpu"], "flavors": [{"name": "default", "resources": [{"name": "cpu"}]}]}
USED = [
    ("clusterqueue", cluster_queue(), workload(status=admitted())),
    ("resourceflavor", flavor(), cluster_queue()),
    ("resourceflavor", flavor(), cohort(resourceGroups=[GROUP])),
    ("admissioncheck", check(), cluster_queue(**ASKS)),
    ("topology", topology(), flavor(topologyName="racks")),
]


@pytest.mark.parametrize(("kind", "thing", "user"), USED)
def test_it_is_kept_while_something_needs_it(kind: str, thing: JsonObject, user: JsonObject) -> None:
    assert look(kind, going(thing), user).writes == ()
    (patch,) = look(kind, going(thing)).writes
    assert isinstance(patch, Patch)
    assert patch.type == "json"


@pytest.mark.parametrize(("kind", "thing", "user"), USED)
def test_it_is_marked_before_anybody_needs_it(kind: str, thing: JsonObject, user: JsonObject) -> None:
    (patch,) = look(kind, thing).writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert patch.body["metadata"]["finalizers"] == [IN_USE]
    marked = {**thing, "metadata": {**thing["metadata"], "finalizers": [IN_USE]}}
    assert look(kind, marked, user).writes == ()


@pytest.mark.parametrize(("kind", "thing", "user"), USED)
def test_who_needs_it_or_no_longer_does_makes_it_be_looked_at(kind: str, thing: JsonObject, user: JsonObject) -> None:
    keys = LOOPS[f"in-use-{kind}"].watches.keys
    view = FakeView(user)
    (seen,) = [keys[type_](found) for type_ in keys for found in view.list(type_)]
    assert list(seen) == [thing["metadata"]["name"]]


def test_what_has_finished_needs_no_queue() -> None:
    over = {**admitted(), "conditions": [condition("Finished", "True")]}
    assert len(look("clusterqueue", going(cluster_queue()), workload(status=over)).writes) == 1
    assert len(look("clusterqueue", going(cluster_queue()), workload()).writes) == 1


def test_what_is_gone_needs_nothing() -> None:
    assert LOOPS["in-use-clusterqueue"].reconcile(FakeView(), "gpus", NOW_MS).writes == ()
