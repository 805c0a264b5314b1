from __future__ import annotations

from typing import Any

import pytest

from kumi.api.scheme import load
from kumi.jobs.pod_groups import GATE, GROUP_LABEL, MANAGED, ROLE, TOTAL
from kumi.jobs.pod_hook import PodHook

KINDS = {kind.kind: kind for kind in load() if kind.group in ("", "apps")}
QUEUE = "kueue.x-k8s.io/queue-name"


def made(kind: str = "Pod", labels: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    meta = {"name": "p", "namespace": "n", "labels": labels if labels is not None else {QUEUE: "lq"}}
    spec = more.pop("spec", {"containers": [{"name": "c"}]})
    return {"kind": kind, "metadata": {**meta, **more}, "spec": spec}


def mutated(obj: dict[str, Any]) -> dict[str, Any]:
    PodHook().mutate("CREATE", KINDS[obj["kind"]], obj, None)
    return obj


def paths(obj: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    return [e.path for e in PodHook().validate("UPDATE" if old else "CREATE", KINDS["Pod"], obj, old)]


def test_a_pod_in_a_queue_is_held_back_and_marked_once() -> None:
    found = mutated(mutated(made()))
    assert found["spec"]["schedulingGates"] == [{"name": GATE}]
    assert found["metadata"]["labels"][MANAGED] == "true"
    assert found["metadata"]["finalizers"] == [MANAGED]
    assert ROLE not in found["metadata"].get("annotations", {})


def test_one_of_a_group_has_the_hash_of_its_shape() -> None:
    found = mutated(made(labels={QUEUE: "lq", GROUP_LABEL: "g"}, annotations={TOTAL: "2"}))
    assert len(found["metadata"]["annotations"][ROLE]) == 8


OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}


@pytest.mark.parametrize(
    "free",
    [
        made(labels={}),
        made(ownerReferences=[OWNER]),
        made(spec={"containers": [], "nodeName": "n1"}),
    ],
)
def test_others_are_left_alone(free: dict[str, Any]) -> None:
    assert "schedulingGates" not in mutated(free)["spec"]


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_makers_of_pods_pass_the_queue_on(kind: str) -> None:
    labels = {QUEUE: "lq", "kueue.x-k8s.io/priority-class": "high"}
    found = mutated(made(kind, labels, spec={"template": {}}))
    assert found["spec"]["template"]["metadata"] == {"labels": labels}
    assert mutated(made(kind, {}, spec={"template": {}}))["spec"] == {"template": {}}


@pytest.mark.parametrize(
    ("labels", "annotations", "wrong"),
    [
        ({GROUP_LABEL: "g"}, {TOTAL: "2"}, []),
        ({}, {}, []),
        ({GROUP_LABEL: "g"}, {}, [f"metadata.annotations[{TOTAL}]"]),
        ({}, {TOTAL: "2"}, [f"metadata.labels[{GROUP_LABEL}]"]),
        ({GROUP_LABEL: "g"}, {TOTAL: "0"}, [f"metadata.annotations[{TOTAL}]"]),
        ({GROUP_LABEL: "g"}, {TOTAL: "two"}, [f"metadata.annotations[{TOTAL}]"]),
        ({GROUP_LABEL: "No!"}, {TOTAL: "2"}, [f"metadata.labels[{GROUP_LABEL}]"]),
    ],
)
def test_a_group_has_a_name_and_a_number(labels: dict[str, str], annotations: dict[str, str], wrong: list[str]) -> None:
    assert paths(made(labels={QUEUE: "lq", **labels}, annotations=annotations)) == wrong


def test_the_group_is_fixed_and_the_queue_once_it_is_let_go() -> None:
    def held(queue: str, group: str, gated: bool) -> dict[str, Any]:
        labels = {QUEUE: queue, MANAGED: "true", GROUP_LABEL: group}
        gates = [{"name": GATE}] if gated else []
        return made(labels=labels, annotations={TOTAL: "2"}, spec={"schedulingGates": gates})

    before = held("lq", "g", True)
    assert paths(held("other", "g", True), before) == []
    assert paths(held("lq", "h", True), before) == [f"metadata.labels[{GROUP_LABEL}]"]
    assert paths(held("other", "g", False), before) == [f"metadata.labels[{QUEUE}]"]


def test_it_warns_of_nothing() -> None:
    assert PodHook().warnings("CREATE", KINDS["Pod"], made()) == []
