from __future__ import annotations

from typing import Any

import pytest

from kumi.api.apps import DaemonSet
from kumi.api.core import Node, Pod
from kumi.controllers.controller_revisions import HASH, Revision
from kumi.controllers.daemon_pods import Fit, Selection, node_of, pod_for, tolerations
from kumi.testing.view import decoded

from .made import meta, node

YES, NO = Fit(wanted=True, kept=True), Fit(wanted=False, kept=False)


def daemon_set(**spec: Any) -> DaemonSet:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}
    given = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    found = decoded({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta("ds", "ns"), "spec": given})
    assert isinstance(found, DaemonSet)
    return found


def a_node(**spec: Any) -> Node:
    labels = spec.pop("labels", {})
    manifest = node("n1", **spec)
    manifest["metadata"]["labels"] = labels
    found = decoded(manifest)
    assert isinstance(found, Node)
    return found


def required(*terms: Any) -> dict[str, Any]:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


@pytest.mark.parametrize(
    ("spec", "labels", "answer"),
    [
        ({}, {}, YES),
        ({"nodeName": "n1"}, {}, YES),
        ({"nodeName": "n2"}, {}, NO),
        ({"nodeSelector": {"disk": "ssd"}}, {"disk": "ssd"}, YES),
        ({"nodeSelector": {"disk": "ssd"}}, {}, NO),
        ({"affinity": required({"matchExpressions": [{"key": "gpu", "operator": "Exists"}]})}, {"gpu": ""}, YES),
        ({"affinity": required({"matchExpressions": [{"key": "gpu", "operator": "Exists"}]})}, {}, NO),
        (
            {"affinity": required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]})},
            {},
            YES,
        ),
    ],
)
def test_labels_and_name_say_whether_a_node_is_meant(spec: Any, labels: Any, answer: Fit) -> None:
    assert Selection(daemon_set(**spec)).fit(a_node(labels=labels)) == answer


@pytest.mark.parametrize(
    ("key", "effect", "answer"),
    [
        ("node.kubernetes.io/not-ready", "NoExecute", YES),
        ("node.kubernetes.io/unschedulable", "NoSchedule", YES),
        ("node.kubernetes.io/memory-pressure", "NoSchedule", YES),
        ("node.kubernetes.io/network-unavailable", "NoSchedule", Fit(wanted=False, kept=True)),
        ("mine", "PreferNoSchedule", YES),
        ("mine", "NoSchedule", Fit(wanted=False, kept=True)),
        ("mine", "NoExecute", NO),
    ],
)
def test_taints_that_every_daemon_endures_keep_nobody_away(key: str, effect: str, answer: Fit) -> None:
    assert Selection(daemon_set()).fit(a_node(taints=[{"key": key, "effect": effect}])) == answer


def test_what_the_template_endures_counts_too() -> None:
    endured = [{"key": "mine", "operator": "Equal", "value": "x", "effect": "NoSchedule"}]
    taints = [{"key": "mine", "value": "x", "effect": "NoSchedule"}]
    assert Selection(daemon_set(tolerations=endured)).fit(a_node(taints=taints)) == YES


def test_a_daemon_on_the_hosts_network_needs_no_other() -> None:
    taints = [{"key": "node.kubernetes.io/network-unavailable", "effect": "NoSchedule"}]
    assert Selection(daemon_set(hostNetwork=True)).fit(a_node(taints=taints)) == YES


def test_the_pod_of_a_node_is_pinned_to_it_and_endures_what_daemons_do() -> None:
    found = daemon_set(affinity=required({"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}))
    made = pod_for(found, "n1", Revision("ds-hash", 1, found.spec.template), ())
    assert made["metadata"]["labels"] == {"a": "b", HASH: "hash"}
    assert made["metadata"]["name"].startswith("ds-")
    [term] = made["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    field = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    assert term == {"matchExpressions": [{"key": "gpu", "operator": "Exists"}], "matchFields": [field]}
    assert made["spec"]["tolerations"] == tolerations({})
    assert found.spec.template["spec"]["affinity"] == required(
        {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}
    )


def test_a_pod_belongs_to_the_node_that_has_it_or_that_it_is_pinned_to() -> None:
    made = pod_for(daemon_set(), "n1", Revision("ds-hash", 1, daemon_set().spec.template), ())
    pinned = decoded(made)
    assert isinstance(pinned, Pod)
    assert node_of(pinned) == "n1"
    made["spec"]["nodeName"] = "n2"
    bound = decoded(made)
    assert isinstance(bound, Pod)
    assert node_of(bound) == "n2"
    assert node_of(Pod()) == ""
