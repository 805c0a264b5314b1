"""The official Python client, unmodified: typed calls, the dynamic client, watches and leader election."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.needs("kubernetes"), pytest.mark.process]

WAIT_S = 20


@pytest.fixture
def api(kubeconfig: Path) -> Iterator[Any]:
    from kubernetes import config

    with config.new_client_from_config(str(kubeconfig)) as client:
        yield client


@pytest.fixture
def core(api: Any) -> Any:
    from kubernetes import client

    return client.CoreV1Api(api)


@pytest.fixture
def namespace(core: Any) -> Iterator[str]:
    """A namespace of the test's own."""
    name = f"ns-{uuid.uuid4().hex[:8]}"
    core.create_namespace({"metadata": {"name": name}})
    yield name
    core.delete_namespace(name)


def config_map(name: str, **data: str) -> Any:
    from kubernetes import client

    meta = client.V1ObjectMeta(name=name, labels={"app": "test"})
    return client.V1ConfigMap(metadata=meta, data=data)


def job(name: str) -> Any:
    from kubernetes import client

    container = client.V1Container(name="main", image="busybox", command=["true"])
    pod = client.V1PodSpec(restart_policy="Never", containers=[container])
    spec = client.V1JobSpec(template=client.V1PodTemplateSpec(spec=pod))
    return client.V1Job(metadata=client.V1ObjectMeta(name=name), spec=spec)


class TestTypedCalls:
    def test_an_object_goes_through_its_life(self, core: Any, namespace: str) -> None:
        made = core.create_namespaced_config_map(namespace, config_map("one", color="blue"))
        assert made.metadata.uid
        assert made.metadata.creation_timestamp.tzinfo is not None
        made.data["color"] = "red"
        assert core.replace_namespaced_config_map("one", namespace, made).data == {"color": "red"}
        patched = core.patch_namespaced_config_map("one", namespace, {"data": {"size": "big"}})
        assert patched.data == {"color": "red", "size": "big"}
        core.delete_namespaced_config_map("one", namespace)
        assert core.list_namespaced_config_map(namespace, label_selector="app=test").items == []

    def test_a_stale_update_is_a_conflict(self, core: Any, namespace: str) -> None:
        from kubernetes.client.exceptions import ApiException

        old = core.create_namespaced_config_map(namespace, config_map("one", color="blue"))
        core.patch_namespaced_config_map("one", namespace, {"data": {"color": "red"}})
        with pytest.raises(ApiException) as refused:
            core.replace_namespaced_config_map("one", namespace, old)
        assert (refused.value.status, refused.value.reason) == (409, "Conflict")

    def test_pages_continue(self, core: Any, namespace: str) -> None:
        for number in range(5):
            core.create_namespaced_config_map(namespace, config_map(f"map-{number}"))
        names: list[str] = []
        page = core.list_namespaced_config_map(namespace, limit=2)
        names += [item.metadata.name for item in page.items]
        while page.metadata._continue:
            page = core.list_namespaced_config_map(namespace, limit=2, _continue=page.metadata._continue)
            names += [item.metadata.name for item in page.items]
        assert names == [f"map-{number}" for number in range(5)]

    def test_a_job_gets_its_pod_and_both_go(self, api: Any, core: Any, namespace: str) -> None:
        from kubernetes import client, watch

        batch = client.BatchV1Api(api)
        batch.create_namespaced_job(namespace, job("one"))
        for event in watch.Watch().stream(core.list_namespaced_pod, namespace, timeout_seconds=WAIT_S):
            pod = event["object"]
            break
        assert pod.metadata.labels["batch.kubernetes.io/job-name"] == "one"
        assert pod.metadata.owner_references[0].kind == "Job"
        status = {"status": {"phase": "Succeeded"}}
        core.patch_namespaced_pod_status(pod.metadata.name, namespace, status)
        for event in watch.Watch().stream(batch.list_namespaced_job, namespace, timeout_seconds=WAIT_S):
            done = event["object"]
            if done.status.succeeded:
                break
        assert done.status.succeeded == 1
        batch.delete_namespaced_job("one", namespace, propagation_policy="Foreground")
        for event in watch.Watch().stream(batch.list_namespaced_job, namespace, timeout_seconds=WAIT_S):
            if event["type"] == "DELETED":
                break
        assert core.list_namespaced_pod(namespace).items == []

    def test_a_token_of_an_account_is_made(self, core: Any, namespace: str) -> None:
        from kubernetes import client

        core.create_namespaced_service_account(namespace, {"metadata": {"name": "robot"}})
        asked = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
        made = core.create_namespaced_service_account_token("robot", namespace, asked)
        assert made.status.token.count(".") == 2


class TestDynamicClient:
    def test_it_finds_kinds_and_works_with_them(self, api: Any, namespace: str) -> None:
        from kubernetes import dynamic

        maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
        meta = {"name": "one", "namespace": namespace}
        made = maps.create(body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": "1"}})
        assert made.data.a == "1"
        patch = {"metadata": meta, "data": {"b": "2"}}
        merged = maps.patch(body=patch, namespace=namespace, content_type="application/merge-patch+json")
        assert merged.data.to_dict() == {"a": "1", "b": "2"}
        assert [item.metadata.name for item in maps.get(namespace=namespace).items] == ["one"]
        maps.delete(name="one", namespace=namespace)
        with pytest.raises(dynamic.exceptions.NotFoundError):
            maps.get(name="one", namespace=namespace)

    def test_it_applies_on_the_server(self, api: Any, namespace: str) -> None:
        from kubernetes import dynamic

        maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"a": "1"}}
        maps.server_side_apply(body=body, name="one", namespace=namespace, field_manager="first")
        body["data"] = {"a": "2"}
        with pytest.raises(dynamic.exceptions.ConflictError):
            maps.server_side_apply(body=body, name="one", namespace=namespace, field_manager="second")
        done = maps.server_side_apply(
            body=body, name="one", namespace=namespace, field_manager="second", force_conflicts=True
        )
        assert done.data.a == "2"

    def test_every_served_kind_is_found(self, api: Any) -> None:
        from kubernetes import dynamic

        resources = dynamic.DynamicClient(api).resources
        for version, kind in [("kueue.x-k8s.io/v1beta2", "Workload"), ("kubeflow.org/v1", "PyTorchJob")]:
            assert resources.get(api_version=version, kind=kind).namespaced


class TestWatch:
    def test_changes_come_in_order(self, core: Any, namespace: str) -> None:
        from kubernetes import watch

        start = core.list_namespaced_config_map(namespace).metadata.resource_version
        core.create_namespaced_config_map(namespace, config_map("one", color="blue"))
        core.patch_namespaced_config_map("one", namespace, {"data": {"color": "red"}})
        core.delete_namespaced_config_map("one", namespace)
        seen: list[str] = []
        stream = watch.Watch()
        for event in stream.stream(
            core.list_namespaced_config_map, namespace, resource_version=start, timeout_seconds=WAIT_S
        ):
            seen.append(event["type"])
            if event["type"] == "DELETED":
                stream.stop()
        assert seen == ["ADDED", "MODIFIED", "DELETED"]

    def test_a_watch_ends_when_it_was_told_to(self, core: Any, namespace: str) -> None:
        from kubernetes import watch

        stream = watch.Watch().stream(core.list_namespaced_config_map, namespace, timeout_seconds=1)
        assert list(stream) == []


class TestLeaderElection:
    def test_one_leads_and_another_takes_over_when_it_renews_no_more(self, kubeconfig: Path, namespace: str) -> None:
        from kubernetes import config

        config.load_kube_config(str(kubeconfig))
        led: list[str] = []
        first, second = Candidate("first", namespace, led), Candidate("second", namespace, led)
        first.thread.start()
        until(lambda: led == ["first"])
        second.thread.start()
        until(lambda: second.asked > 1)
        assert led == ["first"], "there is one leader"
        first.cut_off = True
        until(lambda: led == ["first", "second"])
        second.cut_off = True
        for thread in (first.thread, second.thread):
            thread.join(WAIT_S)
            assert not thread.is_alive(), "who can't renew leads no more"


class Candidate:
    """Who wants to lead; one that is cut off can't write its lock any more."""

    def __init__(self, name: str, namespace: str, led: list[str]) -> None:
        from kubernetes.leaderelection import electionconfig, leaderelection
        from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

        candidate = self
        self.cut_off, self.asked = False, 0

        class Lock(ConfigMapLock):  # type: ignore[misc]
            def get(self, name: str, namespace: str) -> Any:
                candidate.asked += 1
                return super().get(name, namespace)

            def update(self, name: str, namespace: str, record: Any) -> bool:
                return not candidate.cut_off and bool(super().update(name, namespace, record))

        config = electionconfig.Config(
            Lock("lock", namespace, name),
            lease_duration=2,
            renew_deadline=1.5,
            retry_period=1,
            onstarted_leading=lambda: led.append(name),
            onstopped_leading=lambda: None,
        )
        self.thread = threading.Thread(target=leaderelection.LeaderElection(config).run, daemon=True)


def until(question: Callable[[], bool]) -> None:
    """Waits for a truth, with an end."""
    end = time.monotonic() + WAIT_S
    while not question():
        assert time.monotonic() < end
        time.sleep(0.05)
