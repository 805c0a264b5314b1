"""What webhooks are asked about subresources: what is sent to them, once."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import ApiError
from kumi.api.scheme import load
from kumi.api.user import User
from kumi.api.wire import JsonObject
from kumi.registry.requests import WriteOptions
from tests.registry.webhooks.test_admission import Asked, hook, patch, refuses, register
from tests.registry.world import World, pod

APPLY = "application/apply-patch+yaml"


@pytest.fixture
def asked() -> Asked:
    made = Asked()
    made.answers["/one"] = lambda _: {}
    return made


@pytest.fixture
async def world(asked: Asked) -> World:
    made = World(load(), caller=asked)
    await made.create("Namespace", {"metadata": {"name": "ns"}})
    await made.create("Pod", pod())
    return made


def about(resource: str, operation: str, group: str = "") -> JsonObject:
    rule = {"operations": [operation], "apiGroups": [group], "apiVersions": ["v1"], "resources": [resource]}
    return hook("one", rules=[rule])


def seen(asked: Asked) -> list[tuple[str, str, str, str]]:
    return [
        (r["operation"], f"{r['resource']['resource']}/{r['subResource']}", r["kind"]["kind"], r["object"]["kind"])
        for _, r in asked.reviews
    ]


async def test_a_binding_is_reviewed_as_what_it_is_and_may_be_refused(world: World, asked: Asked) -> None:
    await register(world, "Validating", about("pods/binding", "*"))
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"name": "n"}}
    target = world.target("Pod", "p", sub="binding")
    asked.answers["/one"] = refuses("not there")
    with pytest.raises(ApiError, match="not there"):
        await world.registry.create(target, binding, WriteOptions())
    assert not (await world.get("Pod", "p"))["spec"].get("nodeName")
    asked.answers["/one"] = lambda _: {}
    await world.registry.create(target, binding, WriteOptions())
    assert seen(asked) == [("CREATE", "pods/binding", "Binding", "Binding")] * 2


async def test_a_mutating_webhook_may_send_a_pod_elsewhere(world: World, asked: Asked) -> None:
    asked.answers["/one"] = lambda _: patch({"op": "replace", "path": "/target/name", "value": "other"})
    await register(world, "Mutating", about("pods/binding", "CREATE"))
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"name": "n"}}
    await world.registry.create(world.target("Pod", "p", sub="binding"), binding, WriteOptions())
    assert (await world.get("Pod", "p"))["spec"]["nodeName"] == "other"


async def test_an_eviction_is_reviewed_once_and_not_as_the_writes_that_it_leads_to(world: World, asked: Asked) -> None:
    await world.patch("Pod", "p", {"status": {"phase": "Running"}}, sub="status")
    await register(world, "Validating", about("pods/eviction", "*"))
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    await world.registry.create(world.target("Pod", "p", sub="eviction"), eviction, WriteOptions())
    assert seen(asked) == [("CREATE", "pods/eviction", "Eviction", "Eviction")]


async def test_a_scale_is_reviewed_as_it_is_and_as_it_is_to_be_however_it_is_written(
    world: World, asked: Asked
) -> None:
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    await world.create("Deployment", {"metadata": {"name": "web"}, "spec": spec})
    await register(world, "Validating", about("deployments/scale", "*", "apps"))
    await world.patch("Deployment", "web", {"spec": {"replicas": 2}}, sub="scale")
    scale = await world.get("Deployment", "web", sub="scale")
    scale["spec"]["replicas"] = 3
    await world.registry.update(world.target("Deployment", "web", sub="scale"), scale, WriteOptions())
    config: dict[str, Any] = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}}
    config["spec"] = {"replicas": 4}
    await world.patch("Deployment", "web", config, APPLY, sub="scale", field_manager="me", force=True)
    assert seen(asked) == [("UPDATE", "deployments/scale", "Scale", "Scale")] * 3
    changes = [(r["oldObject"]["spec"]["replicas"], r["object"]["spec"]["replicas"]) for _, r in asked.reviews]
    assert changes == [(1, 2), (2, 3), (3, 4)]


async def test_a_scale_that_a_webhook_changes_is_set_so(world: World, asked: Asked) -> None:
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    await world.create("Deployment", {"metadata": {"name": "web"}, "spec": spec})
    asked.answers["/one"] = lambda _: patch({"op": "replace", "path": "/spec/replicas", "value": 7})
    await register(world, "Mutating", about("deployments/scale", "UPDATE", "apps"))
    await world.patch("Deployment", "web", {"spec": {"replicas": 2}}, sub="scale")
    assert (await world.get("Deployment", "web"))["spec"]["replicas"] == 7


async def test_a_mutating_webhook_may_send_somebody_into_another_container(world: World, asked: Asked) -> None:
    asked.answers["/one"] = lambda _: patch({"op": "add", "path": "/container", "value": "other"})
    await register(world, "Mutating", about("pods/exec", "CONNECT"))
    target = world.target("Pod", "p", sub="exec")
    said = await world.registry.connect(target, {"command": ["sh"], "stdin": True}, WriteOptions())
    assert said == {"command": ["sh"], "stdin": True, "container": "other"}


async def test_who_wants_into_a_pod_is_reviewed_with_what_is_asked_for(world: World, asked: Asked) -> None:
    await register(world, "Validating", about("pods/exec", "CONNECT"))
    target, options = world.target("Pod", "p", sub="exec"), WriteOptions(user=User("ann"))
    await world.registry.connect(target, {"command": ["sh"], "stdin": True}, options)
    [(_, request)] = asked.reviews
    assert (request["operation"], request["userInfo"]["username"], request["name"]) == ("CONNECT", "ann", "p")
    assert request["object"] == {"kind": "PodExecOptions", "apiVersion": "v1", "command": ["sh"], "stdin": True}
    asked.answers["/one"] = refuses("no shells")
    with pytest.raises(ApiError, match="no shells"):
        await world.registry.connect(target, {"command": ["sh"]}, options)
    with pytest.raises(ApiError, match="not found"):
        await world.registry.connect(world.target("Pod", "none", sub="exec"), {}, options)
