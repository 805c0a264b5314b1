"""Suite job_podsets: the pod sets of a job, as its Workload has them (kumi.jobs). A kind that Kumi does not know has no result.

Where a case closes topology-aware scheduling there are no requests for it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kumi.api.scheme import load
from kumi.jobs import QUEUED
from kumi.jobs.pod_groups import POD, pod_set_of
from kumi.jobs.workload import pod_sets

Case = dict[str, Any]
JsonObject = dict[str, Any]


def run(case: Case) -> JsonObject | None:
    """The pod sets in their order."""
    manifest = case["input"]["job"]
    kind = load().of_object(manifest)
    if kind is None:
        return None
    job: Any = msgspec.convert(manifest, kind.type)
    if manifest["kind"] == POD:
        made = [pod_set_of(job, manifest["spec"], 1)]
    else:
        queued = next((q for q in QUEUED if q.view_type is kind.type), None)
        if queued is None:
            return None
        made = pod_sets(queued, job)
    if not case["featureGates"].get("TopologyAwareScheduling", True):
        made = [{k: v for k, v in pod_set.items() if k != "topologyRequest"} for pod_set in made]
    return {"podSets": made}


SUITES = {"job_podsets": run}
