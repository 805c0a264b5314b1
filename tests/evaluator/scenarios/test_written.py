"""Jobs and nouns as manifests."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.engine.model import Node as NodeNoun
from kumi.engine.model import PodShape, Put, Remove
from kumi.evaluator.manifests import checked
from kumi.evaluator.model import START_MS, Arrive, Cancel, Change, Job, Role, Via
from kumi.evaluator.scenarios.written import manifests_of, of_job
from kumi.testing.builders import node
from tests.evaluator.scenarios.told import jobs, step

lengths = st.none() | st.integers(1, 100).map(lambda s: s * 1000)


@st.composite
def single(draw: st.DrawFn) -> Job:
    """A job of one role."""
    requests = (("cpu", draw(st.integers(1, 9)) * 100), ("memory", draw(st.integers(1, 9)) * 2**20))
    via, count, said = draw(st.sampled_from(Via)), draw(st.integers(1, 4)), draw(lengths)
    return Job(
        key="ns/j",
        arrives_ms=START_MS,
        roles=(Role("main", count if via is not Via.POD else 1, PodShape(requests)),),
        runs_ms=said,
        via=via,
        queue="" if via is Via.POD else "q",
        said_ms=said,
        deadline_ms=draw(st.none() | st.integers(1, 100).map(lambda s: START_MS + s * 1000)),
    )


@given(single())
def test_a_job_that_is_written_and_read_again_is_that_job(job: Job) -> None:
    (found,) = jobs(*(step(obj) for obj in of_job(job)))
    assert (found.key, found.via, found.queue, found.arrives_ms) == (job.key, job.via, job.queue, job.arrives_ms)
    assert (found.runs_ms, found.said_ms, found.deadline_ms) == (job.runs_ms, job.said_ms, job.deadline_ms)
    assert [(r.name, r.count, r.shape.requests) for r in found.roles] == [
        (r.name, r.count, r.shape.requests) for r in job.roles
    ]


def test_pods_of_several_roles_are_so_many_pods() -> None:
    shape = PodShape((("cpu", 1000),))
    job = Job("ns/j", START_MS, (Role("a", 1, shape), Role("b", 2, shape)), 1)
    assert [obj["metadata"]["name"] for obj in of_job(job)] == ["j-a-0", "j-b-0", "j-b-1"]
    assert [verb for verb, _ in manifests_of(Arrive(job))] == ["create"] * 3
    gang = list(of_job(replace(job, via=Via.GANG)))
    assert [obj["kind"] for obj in gang] == ["PodGroup", "Pod", "Pod", "Pod"]


def test_a_node_is_written_as_it_is() -> None:
    ((verb, obj),) = manifests_of(Change(START_MS, (Put(node("n", cpu=4)),)))
    assert (verb, checked(obj).view.metadata.name) == ("create", "n")


def test_what_has_no_manifest_is_told() -> None:
    with pytest.raises(KumiError, match="that ns/j is given up has no manifest"):
        list(manifests_of(Cancel(START_MS, "ns/j")))
    with pytest.raises(KumiError, match="that a Node goes has no manifest here"):
        list(manifests_of(Change(START_MS, (Remove(NodeNoun, "n"),))))
