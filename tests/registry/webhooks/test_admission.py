"""What webhooks are asked, in which order, and what their answers do."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from kumi.api.errors import ApiError
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.registry.webhooks.calling import Address, CallFailed
from tests.registry.world import World, config

Answer = Callable[[JsonObject], JsonObject]


class Asked:
    """A caller that answers as it was told, by path, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.reviews: list[tuple[str, JsonObject]] = []

    async def call(self, address: Address, review: JsonObject, timeout_s: float) -> object:
        request = orjson.loads(orjson.dumps(review))["request"]
        self.reviews.append((address.path, request))
        if address.path not in self.answers:
            raise CallFailed("nobody is there")
        response = {"uid": request["uid"], "allowed": True, **self.answers[address.path](request)}
        return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": response}

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.reviews]


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
async def world(asked: Asked) -> World:
    made = World(load(), caller=asked)
    await made.create("Namespace", {"metadata": {"name": "ns", "labels": {"team": "red"}}})
    return made


def hook(path: str, **more: Any) -> JsonObject:
    rule = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    return {
        "name": f"{path}.example.com",
        "clientConfig": {"url": f"https://hooks.example.com/{path}"},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }


async def register(world: World, kind: str, *hooks: JsonObject, name: str = "hooks") -> None:
    await world.create(f"{kind}WebhookConfiguration", {"metadata": {"name": name}, "webhooks": list(hooks)})


def patch(*operations: JsonObject) -> JsonObject:
    return {"patchType": "JSONPatch", "patch": base64.b64encode(orjson.dumps(operations)).decode()}


def sets(key: str, value: str) -> Answer:
    return lambda _: patch({"op": "add", "path": f"/data/{key}", "value": value})


def refuses(message: str) -> Answer:
    return lambda _: {"allowed": False, "status": {"code": 403, "reason": "Forbidden", "message": message}}


async def test_a_mutating_webhook_changes_what_is_stored(world: World, asked: Asked) -> None:
    asked.answers["/one"] = sets("by", "one")
    await register(world, "Mutating", hook("one"))
    made = await world.create("ConfigMap", config("c", a="1"))
    assert made["data"] == {"a": "1", "by": "one"}
    changed = await world.patch("ConfigMap", "c", {"data": {"a": "2", "by": None}})
    assert changed["data"] == {"a": "2", "by": "one"}


async def test_the_review_says_what_is_done_to_what(world: World, asked: Asked) -> None:
    asked.answers["/one"] = lambda _: {}
    await register(world, "Validating", hook("one"))
    await world.create("ConfigMap", config("c", a="1"))
    await world.patch("ConfigMap", "c", {"data": {"a": "2"}})
    await world.delete("ConfigMap", "c")
    seen = [
        (r["operation"], r["namespace"], r["name"], *((r[key] or {}).get("data") for key in ("oldObject", "object")))
        for _, r in asked.reviews
    ]
    assert seen == [
        ("CREATE", "ns", "c", None, {"a": "1"}),
        ("UPDATE", "ns", "c", {"a": "1"}, {"a": "2"}),
        ("DELETE", "ns", "c", {"a": "2"}, None),
    ]
    assert asked.reviews[0][1]["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}


async def test_they_are_asked_by_name_of_their_configuration_and_each_sees_the_last_ones_work(
    world: World, asked: Asked
) -> None:
    for path in ("first", "second", "third"):
        asked.answers[f"/{path}"] = sets("by", path)
    await register(world, "Mutating", hook("third"), name="b")
    await register(world, "Mutating", hook("first"), hook("second"), name="a")
    made = await world.create("ConfigMap", config("c", a="1"))
    assert asked.paths == ["/first", "/second", "/third"]
    assert made["data"]["by"] == "third"
    assert [request["object"]["data"].get("by") for _, request in asked.reviews] == [None, "first", "second"]


async def test_one_that_wants_it_is_asked_again_when_a_later_one_changed_something(world: World, asked: Asked) -> None:
    asked.answers |= {"/first": lambda _: {}, "/second": sets("by", "second")}
    await register(world, "Mutating", hook("first", reinvocationPolicy="IfNeeded"), hook("second"))
    await world.create("ConfigMap", config("c", a="1"))
    assert asked.paths == ["/first", "/second", "/first"]


async def test_a_refusal_is_the_writers_and_nothing_is_written(world: World, asked: Asked) -> None:
    asked.answers["/one"] = refuses("no maps today")
    await register(world, "Validating", hook("one"))
    with pytest.raises(ApiError, match="no maps today") as refused:
        await world.create("ConfigMap", config("c"))
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
    assert await world.names("ConfigMap") == []


async def test_a_refused_deletion_leaves_the_object(world: World, asked: Asked) -> None:
    await world.create("ConfigMap", config("c"))
    asked.answers["/one"] = refuses("stay")
    await register(world, "Validating", hook("one"))
    with pytest.raises(ApiError, match="stay"):
        await world.delete("ConfigMap", "c")
    assert await world.names("ConfigMap") == ["c"]


async def test_who_must_answer_and_does_not_is_a_failure(world: World) -> None:
    await register(world, "Validating", hook("one", failurePolicy="Fail"))
    with pytest.raises(ApiError, match="nobody is there") as refused:
        await world.create("ConfigMap", config("c"))
    assert refused.value.code == 500
    assert await world.names("ConfigMap") == []


async def test_who_need_not_answer_is_passed_over(world: World) -> None:
    await register(world, "Validating", hook("one", failurePolicy="Ignore"))
    await world.create("ConfigMap", config("c"))
    assert await world.names("ConfigMap") == ["c"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: {"uid": "another"},
        lambda _: {"patchType": "JSONPatch", "patch": "no base64"},
        lambda _: {"patchType": "Merge", "patch": base64.b64encode(b"{}").decode()},
        lambda _: patch({"op": "remove", "path": "/not/there"}),
    ],
)
async def test_a_wrong_answer_is_none(world: World, asked: Asked, answer: Answer) -> None:
    asked.answers["/one"] = answer
    await register(world, "Mutating", hook("one"))
    with pytest.raises(ApiError, match=r"failed calling webhook") as refused:
        await world.create("ConfigMap", config("c", a="1"))
    assert refused.value.code == 500


async def test_what_a_webhook_made_wrong_is_refused(world: World, asked: Asked) -> None:
    asked.answers["/one"] = sets("no%20key!", "x")
    await register(world, "Mutating", hook("one"))
    with pytest.raises(ApiError) as refused:
        await world.create("ConfigMap", config("c", a="1"))
    assert refused.value.code == 422


@pytest.mark.parametrize(
    ("more", "is_asked"),
    [
        ({"namespaceSelector": {"matchLabels": {"team": "red"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "blue"}}}, False),
        ({"objectSelector": {"matchLabels": {"app": "web"}}}, True),
        ({"objectSelector": {"matchLabels": {"app": "db"}}}, False),
        ({"matchConditions": [{"name": "a", "expression": "object.data.a == '1'"}]}, True),
        ({"matchConditions": [{"name": "a", "expression": "request.operation == 'UPDATE'"}]}, False),
        ({"rules": [{"operations": ["CREATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]}, True),
        ({"rules": [{"operations": ["UPDATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]}, False),
        (
            {
                "rules": [
                    {
                        "operations": ["*"],
                        "apiGroups": ["*"],
                        "apiVersions": ["*"],
                        "resources": ["*"],
                        "scope": "Cluster",
                    }
                ]
            },
            False,
        ),
    ],
)
async def test_who_is_asked(world: World, asked: Asked, more: JsonObject, is_asked: bool) -> None:
    asked.answers["/one"] = lambda _: {}
    await register(world, "Validating", hook("one", **more))
    await world.create("ConfigMap", {"metadata": {"name": "c", "labels": {"app": "web"}}, "data": {"a": "1"}})
    assert asked.paths == (["/one"] if is_asked else [])


async def test_warnings_reach_the_writer(world: World, asked: Asked) -> None:
    asked.answers["/one"] = lambda _: {"warnings": ["mind the gap"]}
    await register(world, "Validating", hook("one"))
    heard: list[str] = []
    await world.create("ConfigMap", config("c"), warnings=heard)
    assert heard == ["mind the gap"]


async def test_a_dry_run_asks_the_harmless_and_writes_nothing(world: World, asked: Asked) -> None:
    asked.answers["/one"] = sets("by", "one")
    await register(world, "Mutating", hook("one", sideEffects="NoneOnDryRun"))
    made = await world.create("ConfigMap", config("c", a="1"), dry_run=True)
    assert made["data"]["by"] == "one"
    assert asked.reviews[0][1]["dryRun"] is True
    assert await world.names("ConfigMap") == []


async def test_configurations_of_webhooks_are_no_business_of_webhooks(world: World, asked: Asked) -> None:
    everything = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
    asked.answers["/one"] = refuses("never")
    await register(world, "Validating", hook("one", rules=[{**everything, "resources": ["*"]}]))
    await world.delete("ValidatingWebhookConfiguration", "hooks")
    assert asked.paths == []


async def test_a_service_is_asked_where_its_endpoints_are(world: World, asked: Asked) -> None:
    asked.answers["/here"] = lambda _: {}
    spec = {"ports": [{"name": "https", "port": 443, "targetPort": 8443}]}
    await world.create("Service", {"metadata": {"name": "hooks"}, "spec": spec})
    service = {"service": {"namespace": "ns", "name": "hooks", "path": "/here"}}
    await register(world, "Validating", hook("one", clientConfig=service))
    with pytest.raises(ApiError, match="no endpoints available"):
        await world.create("ConfigMap", config("c"))
    subset = {"addresses": [{"ip": "127.0.0.2"}], "ports": [{"name": "https", "port": 8443}]}
    await world.create("Endpoints", {"metadata": {"name": "hooks"}, "subsets": [subset]})
    await world.create("ConfigMap", config("c"))
    assert asked.paths == ["/here"]
