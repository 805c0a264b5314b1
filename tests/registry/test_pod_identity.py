"""Which service account a pod runs as, and the token that it finds."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.registry.objects import Objects
from kumi.registry.pod_identity import MOUNT, PodIdentity
from kumi.registry.registry import Registry
from tests.registry.world import World, pod


@pytest.fixture
async def guarded(scheme: Scheme) -> World:
    world = World(scheme)
    hook = PodIdentity(Objects(world.store), scheme)
    world.registry = Registry(world.store, scheme, lambda: world.now_ms, lambda: world.new_uid(), [hook])  # noqa: PLW0108
    await world.create("Namespace", {"metadata": {"name": "ns"}})
    await account(world, "default")
    return world


async def account(world: World, name: str, **more: Any) -> None:
    await world.create("ServiceAccount", {"metadata": {"name": name}, **more})


def mounts(made: JsonObject) -> list[str]:
    return [m["mountPath"] for c in made["spec"]["containers"] for m in c.get("volumeMounts") or ()]


async def test_a_pod_runs_as_default_and_finds_its_token(guarded: World) -> None:
    made = await guarded.create("Pod", pod())
    spec = made["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    (volume,) = spec["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert volume["projected"] == {
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {
                "downwardAPI": {
                    "items": [
                        {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
                    ]
                }
            },
        ],
    }
    (container,) = spec["containers"]
    assert container["volumeMounts"] == [{"name": volume["name"], "readOnly": True, "mountPath": MOUNT}]


async def test_a_pod_may_name_another_account_that_is_there(guarded: World) -> None:
    await account(guarded, "robot")
    made = await guarded.create("Pod", pod(serviceAccountName="robot"))
    assert made["spec"]["serviceAccountName"] == "robot"


async def test_an_account_that_is_not_there_is_refused(guarded: World) -> None:
    with pytest.raises(ApiError) as refused:
        await guarded.create("Pod", pod(serviceAccountName="nobody"))
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
    assert 'serviceaccount "nobody" not found' in refused.value.message


async def test_default_is_not_waited_for(guarded: World) -> None:
    await guarded.create("Namespace", {"metadata": {"name": "new"}})
    made = await guarded.create("Pod", pod(), ns="new")
    assert made["spec"]["serviceAccountName"] == "default"
    assert mounts(made) == [MOUNT]


@pytest.mark.parametrize(
    ("of_pod", "of_account", "mounted"),
    [(None, None, True), (None, False, False), (None, True, True), (True, False, True), (False, True, False)],
)
async def test_the_pod_s_word_on_its_token_counts_before_its_account_s(
    guarded: World, of_pod: bool | None, of_account: bool | None, mounted: bool
) -> None:
    more = {} if of_account is None else {"automountServiceAccountToken": of_account}
    await account(guarded, "robot", **more)
    spec: JsonObject = {} if of_pod is None else {"automountServiceAccountToken": of_pod}
    made = await guarded.create("Pod", pod(serviceAccountName="robot", **spec))
    assert bool(mounts(made)) is mounted


async def test_a_container_that_mounts_something_there_is_left_alone(guarded: World) -> None:
    own = {"name": "own", "emptyDir": {}}
    busy = {"name": "c", "image": "i", "volumeMounts": [{"name": "own", "mountPath": MOUNT}]}
    made = await guarded.create("Pod", pod(containers=[busy], volumes=[own]))
    assert [volume["name"] for volume in made["spec"]["volumes"]] == ["own"]
    free = {"name": "d", "image": "i"}
    made = await guarded.create("Pod", {**pod("q", containers=[busy, free], volumes=[own])})
    assert [c["volumeMounts"][0]["name"][:3] for c in made["spec"]["containers"]] == ["own", "kub"]


async def test_init_containers_find_it_too(guarded: World) -> None:
    made = await guarded.create("Pod", pod(initContainers=[{"name": "i", "image": "i"}]))
    assert made["spec"]["initContainers"][0]["volumeMounts"][0]["mountPath"] == MOUNT


async def test_other_kinds_and_updates_are_left_alone(guarded: World) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    job = await guarded.create("Job", {"metadata": {"name": "j"}, "spec": {"template": template}})
    assert "volumes" not in job["spec"]["template"]["spec"]
    await guarded.create("Pod", pod())
    changed = await guarded.patch("Pod", "p", {"metadata": {"labels": {"a": "b"}}})
    assert len(changed["spec"]["volumes"]) == 1
