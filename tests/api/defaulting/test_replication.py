from __future__ import annotations

from typing import Any

from kumi.api.defaulting.replication import default_replication_controller


def test_the_labels_of_the_template_select_its_pods_and_are_its_own() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    obj: dict[str, Any] = {"metadata": {}, "spec": {"template": template}}
    default_replication_controller(obj)
    assert obj["metadata"]["labels"] == obj["spec"]["selector"] == {"a": "b"}
    assert obj["spec"]["replicas"] == 1
    assert obj["spec"]["template"]["spec"]["restartPolicy"] == "Always"


def test_what_is_said_stays() -> None:
    spec = {"replicas": 0, "selector": {"x": "y"}}
    obj: dict[str, Any] = {"metadata": {"labels": {"l": "m"}}, "spec": dict(spec)}
    default_replication_controller(obj)
    assert obj == {"metadata": {"labels": {"l": "m"}}, "spec": spec}
