"""An API, a control plane and simulated nodes in a time that is moved by hand."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.batch import Job
from kumi.api.core import Namespace, Node, Pod
from kumi.api.errors import ApiError, KumiError
from kumi.api.kueue import ClusterQueue
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.engine import model
from kumi.engine.model import Profile
from kumi.evaluator.feed import News
from kumi.evaluator.world import World
from kumi.kubelet.simulated import SimulatedPods
from kumi.registry.requests import Target
from kumi.runtime.decider import Decider
from kumi.testing.builders import node
from kumi.testing.clock import START_MS


class Nobody:
    """A Watcher that doesn't care."""

    def seen(self, news: News) -> None:
        """See Watcher."""

    def decided(self, decider: Decider) -> None:
        """See Watcher."""

    def done(self, decider: Decider) -> None:
        """See Watcher."""


async def world(**more: Any) -> World:
    """One node of two GPUs, whose pods run as they say."""
    made = World(Nobody(), Profile(), 0, START_MS, controllers=(SimulatedPods(),), **more)
    await made.begin()
    await made.put(node("n", gpu=2, cpu=8, memory="64Gi"))
    await made.rest()
    return made


def job(name: str, *, queue: str = "", pods: int = 2) -> JsonObject:
    """A Job of pods of one GPU that run for ten seconds."""
    container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    annotations = {"kumi.dev/execution-duration": "10s"}
    template = {"metadata": {"annotations": annotations}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    meta = {"name": name, "namespace": "team", "labels": {"kueue.x-k8s.io/queue-name": queue} if queue else {}}
    spec = {"parallelism": pods, "completions": pods, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


async def test_unmodified_manifests_live_their_lives_in_virtual_time() -> None:
    here = await world()
    await here.create(job("a"))
    await here.create(job("b"))
    await here.rest()
    assert [pod.status.phase for pod in here.view.list(Pod)] == ["Running", "Running", "Pending", "Pending"]
    for end in (10_000, 20_000):
        while here.next_ms is not None and here.next_ms <= START_MS + end:
            here.now_ms = here.next_ms
            await here.rest()
    done = {made.metadata.name: made.status.completion_time for made in here.view.list(Job)}
    assert done == {"a": "2026-01-01T00:00:10Z", "b": "2026-01-01T00:00:20Z"}


@pytest.mark.parametrize(("version", "field"), [("v1beta1", "cohort"), ("v1beta2", "cohortName")])
async def test_an_object_is_changed_in_the_version_that_it_is_written_in(version: str, field: str) -> None:
    here = await world()

    def queue(cohort: str) -> JsonObject:
        meta = {"name": "cq"}
        spec = {field: cohort, "namespaceSelector": {}}
        return {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": "ClusterQueue", "metadata": meta, "spec": spec}

    async def cohort() -> str:
        await here.prepare()
        found = here.view.get(ClusterQueue, "", "cq")
        assert found is not None
        return found.spec.cohort_name

    status = {"status": {"pendingWorkloads": 7}}
    await here.create(queue("a") | status)
    assert await cohort() == "a"
    await here.merge(queue("b") | status)
    assert await cohort() == "b"
    await here.replace(queue("c") | status)
    assert await cohort() == "c"


async def test_a_queued_job_is_stored_suspended_as_by_the_server() -> None:
    here = await world()
    made = await here.create(job("a", queue="lq"))
    assert made["spec"]["suspend"] is True


async def test_namespaces_are_made_for_what_comes_into_them() -> None:
    here = await world()
    await here.create(job("a"))
    assert here.view.get(Namespace, "", "team") is not None


async def test_put_makes_and_changes_and_remove_deletes() -> None:
    here = await world()
    await here.put(node("n", gpu=1, cpu=8, memory="64Gi", ready=False))
    await here.rest()
    seen = here.view.get(Node, "", "n")
    assert seen is not None
    assert seen.status.allocatable["nvidia.com/gpu"] == "1"
    assert [c.status for c in seen.status.conditions if c.type == "Ready"] == ["False"]
    assert here.knows(node("n"))
    await here.remove(model.Node, "n")
    await here.remove(model.Node, "n")
    assert not here.knows(node("n"))


async def test_a_queue_is_brought_up_to_date() -> None:
    here = await world()
    for stop in (model.StopPolicy.NONE, model.StopPolicy.HOLD):
        await here.put(model.ClusterQueue("cq", (), stop=stop))
    found = here.registry.find(Target(SCHEME.of(ClusterQueue), name="cq"))
    assert found is not None
    assert found["spec"]["stopPolicy"] == "Hold"


async def test_merge_changes_what_is_said_and_keeps_the_rest() -> None:
    here = await world()
    await here.merge({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"unschedulable": True}})
    await here.rest()
    seen = here.view.get(Node, "", "n")
    assert seen is not None
    assert (seen.spec.unschedulable, seen.status.allocatable["nvidia.com/gpu"]) == (True, "2")


async def test_what_the_api_refuses_is_an_api_error_and_an_unknown_kind_is_told() -> None:
    here = await world()
    with pytest.raises(ApiError, match="Invalid"):
        await here.create(job("Not-A-Name"))
    with pytest.raises(KumiError, match=r"there is no kind Thing in example\.com/v1"):
        await here.create({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}})


async def test_uids_are_the_same_for_equal_seeds_and_can_be_given() -> None:
    first, second = await world(), await world()
    made = [(await one.create(job("a")))["metadata"]["uid"] for one in (first, second)]
    assert made[0] == made[1]
    given = await first.create(job("b"), "mine")
    assert given["metadata"]["uid"] == "mine"
    assert (await first.create(job("c")))["metadata"]["uid"] != "mine"
