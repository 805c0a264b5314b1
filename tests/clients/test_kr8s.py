"""kr8s, unmodified: its own object model over httpx, with discovery, watches and logs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Cluster

pytestmark = [pytest.mark.needs("kr8s"), pytest.mark.process]

WAIT_S = 30


@pytest.fixture
async def api(bare: Cluster) -> Any:
    import kr8s.asyncio

    return await kr8s.asyncio.api(kubeconfig=str(bare.data_dir / "kubeconfig"), namespace="default")


async def config_map(api: Any, name: str, **data: str) -> Any:
    from kr8s.asyncio.objects import ConfigMap

    resource = {"metadata": {"name": name, "labels": {"app": "test"}}, "data": data}
    made = await ConfigMap(resource, api=api)
    await made.create()
    return made


async def test_an_object_goes_through_its_life(api: Any) -> None:
    made = await config_map(api, "life", color="blue")
    assert await made.exists()
    await made.patch({"data": {"color": "red"}})
    assert made.data.color == "red"
    await made.label(tier="one")
    found = [each async for each in api.get("configmaps", label_selector={"tier": "one"})]
    assert [each.name for each in found] == ["life"]
    await made.delete(propagation_policy="Foreground")
    await made.wait("delete", timeout=WAIT_S)
    assert not await made.exists()


async def test_what_is_not_there_is_not_found(api: Any) -> None:
    import kr8s
    from kr8s.asyncio.objects import ConfigMap

    with pytest.raises(kr8s.NotFoundError):
        await ConfigMap.get("nobody", api=api)


async def test_changes_are_watched(api: Any) -> None:
    made = await config_map(api, "watched")
    seen: list[str] = []
    async for kind, each in api.watch("configmaps", field_selector="metadata.name=watched"):
        seen.append(kind)
        assert each.name == "watched"
        if kind == "ADDED":
            await made.patch({"data": {"a": "1"}})
        elif kind == "MODIFIED":
            await made.delete()
        else:
            break
    assert seen == ["ADDED", "MODIFIED", "DELETED"]


async def test_kinds_of_others_are_found_by_discovery(api: Any) -> None:
    import kr8s.asyncio

    queue = await kr8s.asyncio.objects.new_class("ResourceFlavor", "kueue.x-k8s.io/v1beta2", namespaced=False)(
        {"metadata": {"name": "flavor"}, "spec": {}}, api=api
    )
    await queue.create()
    assert [each.name async for each in api.get("resourceflavors.kueue.x-k8s.io")] == ["flavor"]
    await queue.delete()


async def test_a_deployment_is_scaled(api: Any) -> None:
    from kr8s.asyncio.objects import Deployment

    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "nginx"}]},
    }
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    made = await Deployment({"metadata": {"name": "web"}, "spec": spec}, api=api)
    await made.create()
    await made.patch({"spec": {"replicas": 3}}, subresource="scale")
    await made.refresh()
    assert made.spec.replicas == 3
    await made.delete()


async def test_logs_of_a_pod_are_read_and_followed(cluster: Cluster) -> None:
    import kr8s.asyncio
    from kr8s.asyncio.objects import Pod

    cluster.up("--nodes", "1")
    api = await kr8s.asyncio.api(kubeconfig=str(cluster.data_dir / "kubeconfig"), namespace="default")
    container = {"name": "main", "image": "none", "command": ["sh", "-c", "echo one; sleep 0.5; echo two"]}
    spec = {"restartPolicy": "Never", "containers": [container]}
    pod = await Pod({"metadata": {"name": "speaker"}, "spec": spec}, api=api)
    await pod.create()
    await pod.wait("jsonpath='{.status.phase}'=Succeeded", timeout=WAIT_S)
    assert [line async for line in pod.logs()] == ["one", "two"]
    assert [line async for line in pod.logs(follow=True, timeout=WAIT_S)] == ["one", "two"]
