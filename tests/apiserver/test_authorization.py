"""The rules hold for every request: one who may only make jobs in one namespace reaches nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

import pytest

from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.registry.registry import Registry
from tests.apiserver.access import ADMIN, Guarded, namespace, serve
from tests.registry.authorization.made import binding, role, rule

JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j"},
    "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}},
}
METHODS = {
    "get": "GET", "list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE",
    "deletecollection": "DELETE",
}  # fmt: skip
ON_ONE = ("get", "update", "patch", "delete")
OWN_QUESTIONS = {"selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"}
"""what everybody may ask about themselves"""


@pytest.fixture
async def guarded(registry: Registry, scheme: Scheme) -> AsyncIterator[Guarded]:
    async with serve(registry, scheme) as guarded:
        await guarded.put(namespace("team"), namespace("other"))
        yield guarded


class Request(NamedTuple):
    """One verb on one resource somewhere."""

    verb: str
    resource: str
    namespace: str
    path: str


def requests(group_version: str, resource: JsonObject) -> Iterator[Request]:
    """Every verb of a discovered resource, in the cluster and in two namespaces. A watch that is allowed ends at once: its
    revision is none."""
    root = f"/apis/{group_version}" if "/" in group_version else f"/api/{group_version}"
    plural, _, subresource = resource["name"].partition("/")
    for place in ("", "team", "other") if resource["namespaced"] else ("",):
        base = f"{root}/namespaces/{place}/{plural}" if place else f"{root}/{plural}"
        for verb in resource["verbs"]:
            path = f"{base}/x/{subresource}" if subresource else f"{base}/x" if verb in ON_ONE else base
            yield Request(
                verb, resource["name"], place, path + ("?watch=true&resourceVersion=x" if verb == "watch" else "")
            )


async def discovered(guarded: Guarded, who: str) -> list[Request]:
    _, core = await guarded.ask(who, "GET", "/api/v1")
    lists = [core]
    _, groups = await guarded.ask(who, "GET", "/apis")
    for group in groups["groups"]:
        for version in group["versions"]:
            lists.append((await guarded.ask(who, "GET", f"/apis/{version['groupVersion']}"))[1])
    return [r for one in lists for resource in one["resources"] for r in requests(one["groupVersion"], resource)]


@pytest.mark.parametrize("role_name", ["makes-jobs", "kueue-batch-user-role"])
async def test_who_may_only_make_jobs_in_one_namespace_reaches_nothing_else(guarded: Guarded, role_name: str) -> None:
    await guarded.put(
        role(rule("create", "jobs", "batch"), name="makes-jobs"), binding("User ann", to=role_name, namespace="team")
    )
    walked, reached = 0, set()
    for request in await discovered(guarded, "ann"):
        status, body = await guarded.ask(
            "ann", METHODS[request.verb], request.path, {} if request.verb != "get" else None
        )
        walked += 1
        if status != 403:
            reached.add((request.resource, request.verb, request.namespace))
        else:
            assert body["reason"] == "Forbidden", request
    asking = {(resource, "create", "") for resource in OWN_QUESTIONS}
    if role_name == "makes-jobs":
        assert reached == asking | {("jobs", "create", "team")}
    else:
        managed = {
            (plural, verb) for plural in ("jobs", "pytorchjobs") for verb in METHODS if verb != "deletecollection"
        }
        seen = {(plural, verb) for plural in ("localqueues", "workloads") for verb in ("get", "list", "watch")}
        status = {(f"{plural}/status", "get") for plural in ("jobs", "pytorchjobs", "localqueues", "workloads")}
        waiting = {("localqueues/pendingworkloads", "get")}
        assert reached == asking | {(resource, verb, "team") for resource, verb in managed | seen | status | waiting}
    assert walked > 300
    assert (await guarded.ask("ann", "POST", "/apis/batch/v1/namespaces/team/jobs", JOB))[0] == 201


async def test_who_may_make_jobs_can_not_be_made_more_by_writing_roles(guarded: Guarded) -> None:
    more = rule("create update patch", "roles rolebindings", "rbac.authorization.k8s.io")
    await guarded.put(role(rule("create", "jobs", "batch"), more), binding("User ann", namespace="team"))
    root = "/apis/rbac.authorization.k8s.io/v1/namespaces/team"
    status, body = await guarded.ask(
        "ann", "POST", f"{root}/roles", role(rule("get", "secrets"), name="x", namespace="team")
    )
    assert (status, body["details"]["name"]) == (403, "x")
    bound = binding("User ann", to="cluster-admin", name="x", namespace="team")
    assert (await guarded.ask("ann", "POST", f"{root}/rolebindings", bound))[0] == 403
    mine = role(rule("create", "jobs", "batch"), name="mine", namespace="team")
    assert (await guarded.ask("ann", "POST", f"{root}/roles", mine))[0] == 201
    body["rules"] = [rule("*", "*", "*")]
    patch = await guarded.client.patch(
        f"{root}/roles/mine",
        json={"rules": [rule("*", "*", "*")]},
        headers={"Authorization": "Bearer ann", "Content-Type": "application/merge-patch+json"},
    )
    assert patch.status == 403


async def test_the_refusal_is_kubernetes_own_status(guarded: Guarded) -> None:
    status, body = await guarded.ask("ann:devs", "GET", "/apis/apps/v1/namespaces/team/deployments/d")
    assert status == 403
    assert body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'deployments.apps "d" is forbidden: User "ann" cannot get resource "deployments" in API group "apps" '
        'in the namespace "team"',
        "reason": "Forbidden",
        "details": {"name": "d", "group": "apps", "kind": "deployments"},
        "code": 403,
    }


async def test_a_path_that_is_no_resource_is_refused_by_its_path(guarded: Guarded) -> None:
    _, body = await guarded.ask("ann", "GET", "/metrics")
    assert body["message"] == 'forbidden: User "ann" cannot get path "/metrics"'
    assert "details" not in body


async def test_a_missing_role_is_told(guarded: Guarded) -> None:
    await guarded.put(binding("User ann", to="gone", namespace="team"))
    _, body = await guarded.ask("ann", "GET", "/api/v1/namespaces/team/pods")
    assert body["message"].endswith(': RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found')


async def test_what_is_not_served_is_forbidden_before_it_is_not_found(guarded: Guarded) -> None:
    assert (await guarded.ask("ann", "GET", "/apis/none.example/v1/things"))[0] == 403
    assert (await guarded.ask(ADMIN, "GET", "/apis/none.example/v1/things"))[0] == 404


async def test_a_binding_counts_from_its_answer_on_and_no_longer_than_to_its_deletion(guarded: Guarded) -> None:
    bindings, pods = "/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings", "/api/v1/namespaces/team/pods"
    for _ in range(3):
        bound = binding("Group devs", to="view", namespace="team")
        assert (await guarded.ask(ADMIN, "POST", bindings, bound))[0] == 201
        assert (await guarded.ask("ann:devs", "GET", pods))[0] == 200
        assert (await guarded.ask("ann", "GET", pods))[0] == 403
        assert (await guarded.ask(ADMIN, "DELETE", f"{bindings}/b"))[0] == 200
        assert (await guarded.ask("ann:devs", "GET", pods))[0] == 403


async def test_a_name_is_enough_to_watch_that_one(guarded: Guarded) -> None:
    await guarded.put(role(rule("list", "pods", resourceNames=["p"])), binding("User ann", namespace="team"))
    pods = "/api/v1/namespaces/team/pods"
    assert (await guarded.ask("ann", "GET", f"{pods}?fieldSelector=metadata.name%3Dp"))[0] == 200
    assert (await guarded.ask("ann", "GET", f"{pods}?fieldSelector=metadata.name%3Dq"))[0] == 403
    assert (await guarded.ask("ann", "GET", pods))[0] == 403
