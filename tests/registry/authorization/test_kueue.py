from __future__ import annotations

import pytest

from kumi.api.scheme import load
from kumi.api.user import User
from kumi.api.visibility import QUEUES as ANSWERED
from kumi.registry.authorization.decisions import decide
from kumi.registry.authorization.defaults import cluster_roles
from kumi.registry.authorization.rules import Asked
from tests.registry.authorization.made import binding, policies

ANN = User("ann", ("system:authenticated",))
QUEUES = "kueue.x-k8s.io"
VISIBILITY = "visibility.kueue.x-k8s.io"


def allowed(role: str, question: Asked, namespace: str) -> bool:
    made = policies(*cluster_roles(), binding("User ann", to=role, namespace=namespace))
    return decide(made, ANN, question).allowed


@pytest.mark.parametrize(
    "question",
    [
        Asked("create", QUEUES, "clusterqueues"),
        Asked("delete", QUEUES, "localqueues", "team", "q"),
        Asked("patch", QUEUES, "workloads", "team", "w"),
        Asked("update", QUEUES, "resourceflavors", "", "f"),
        Asked("create", QUEUES, "cohorts"),
        Asked("create", QUEUES, "topologies"),
        Asked("create", QUEUES, "workloadpriorityclasses"),
        Asked("create", "batch", "jobs", "team"),
        Asked("get", VISIBILITY, "clusterqueues/pendingworkloads", "", "cq"),
        Asked("get", VISIBILITY, "localqueues/pendingworkloads", "team", "lq"),
    ],
)
def test_a_batch_admin_manages_queues_flavors_workloads_and_jobs_everywhere(question: Asked) -> None:
    assert allowed("kueue-batch-admin-role", question, "")


@pytest.mark.parametrize(
    ("question", "may"),
    [
        (Asked("create", "batch", "jobs", "team"), True),
        (Asked("delete", "batch", "jobs", "team", "j"), True),
        (Asked("create", "kubeflow.org", "pytorchjobs", "team"), True),
        (Asked("list", QUEUES, "localqueues", "team"), True),
        (Asked("get", VISIBILITY, "localqueues/pendingworkloads", "team", "lq"), True),
        (Asked("get", VISIBILITY, "clusterqueues/pendingworkloads", "", "cq"), False),
        (Asked("watch", QUEUES, "workloads", "team"), True),
        (Asked("patch", QUEUES, "workloads", "team", "w"), False),
        (Asked("create", QUEUES, "localqueues", "team"), False),
        (Asked("list", QUEUES, "clusterqueues"), False),
        (Asked("list", "", "pods", "team"), False),
        (Asked("create", "", "pods", "team"), False),
        (Asked("create", "batch", "jobs", "other"), False),
        (Asked("update", "batch", "jobs/status", "team", "j"), False),
    ],
)
def test_a_batch_user_manages_jobs_and_sees_queues_and_workloads_in_a_namespace(question: Asked, may: bool) -> None:
    assert allowed("kueue-batch-user-role", question, "team") is may


def test_every_resource_of_a_rule_is_served() -> None:
    scheme, answered = load(), [(kind.group, kind.plural) for kind in ANSWERED]
    for role in cluster_roles():
        if role["metadata"]["name"].startswith("kueue-"):
            for rule in role["rules"]:
                for resource in rule["resources"]:
                    names = rule["apiGroups"][0], resource.partition("/")[0]
                    assert scheme.find_plural(*names) or names in answered, resource
