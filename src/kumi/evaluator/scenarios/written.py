"""Written: the events of a trace or a generator as manifests, for those who play objects.

The rule   a job      as its owner would submit it (kumi.evaluator.job_objects): its pods, its PodGroup and them, its queued job
           a change   a node, a queue ... as it is then (kumi.evaluator.objects)
Errors     KumiError for what no manifest says: nouns that only a recording has, and that somebody gives up waiting.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumi.api.errors import KumiError
from kumi.api.wire import JsonObject
from kumi.engine.model import Put
from kumi.evaluator import job_objects, life, objects
from kumi.evaluator.model import Arrive, Change, Event, Job, Via
from kumi.evaluator.scenarios.steps import Verb


def manifests_of(event: Event) -> Iterator[tuple[Verb, JsonObject]]:
    """What is done for an event. KumiError."""
    match event:
        case Arrive(job):
            yield from (("create", obj) for obj in of_job(job))
        case Change(deltas=deltas):
            for delta in deltas:
                if not isinstance(delta, Put):
                    raise KumiError(f"that a {delta.type.__name__} goes has no manifest here: play it at engine speed")
                yield "create", objects.object_of(delta.noun)
        case _:
            raise KumiError(f"that {event.key} is given up has no manifest: play it at engine speed")


def of_job(job: Job) -> Iterator[JsonObject]:
    """The manifests of a job. KumiError."""
    if job.via is Via.WORKLOAD:
        yield job_objects.workload_object(job)
        return
    if job.via is Via.GANG:
        gang = life.Life(job, job.via)
        yield job_objects.group_object(gang, life.group(gang, job.arrives_ms))
    for number, role in enumerate(job.roles):
        yield from (job_objects.pod_object(job, job.via, (number, index)) for index in range(role.count))
