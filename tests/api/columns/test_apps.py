from __future__ import annotations

from kumi.api.columns import apps
from kumi.api.scheme import Column
from kumi.api.wire import JsonObject

TEMPLATE = {"spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}}


def shown(columns: tuple[Column, ...], obj: JsonObject) -> dict[str, object]:
    return {c.name: c.cell(obj, 0) for c in columns if c.cell is not None}


def test_a_deployment_shows_how_many_are_ready_and_of_what() -> None:
    obj = {
        "metadata": {"name": "d"},
        "spec": {"replicas": 3, "template": TEMPLATE, "selector": {"matchLabels": {"a": "b"}}},
        "status": {"readyReplicas": 1, "updatedReplicas": 2},
    }
    assert shown(apps.DEPLOYMENT, obj) == {
        "Ready": "1/3",
        "Up-to-date": 2,
        "Available": 0,
        "Containers": "a,b",
        "Images": "x,y",
        "Selector": "a=b",
    }


def test_a_daemon_set_shows_its_nodes() -> None:
    obj = {"metadata": {}, "spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}
    assert shown(apps.DAEMON_SET, obj)["Node Selector"] == "a=b"


def test_a_revision_shows_whose_it_is() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "controller": True}
    obj = {"metadata": {"ownerReferences": [owner]}, "revision": 4}
    assert shown(apps.CONTROLLER_REVISION, obj) == {"Controller": "statefulset.apps/web", "Revision": 4}
    assert shown(apps.CONTROLLER_REVISION, {"metadata": {}})["Controller"] == "<none>"
