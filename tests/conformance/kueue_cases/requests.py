"""Suites workload_requests, adjust_resources and resource_validation: what a workload's pods ask for and count for."""

from __future__ import annotations

from typing import Any

from kumi.api import kueue
from kumi.api.limits import LimitRange
from kumi.api.node import RuntimeClass
from kumi.bridge.into.adjusted import Around, adjusted
from kumi.bridge.into.shape import Shapes
from kumi.bridge.into.workload import resource_errors, workload
from kumi.engine import model
from kumi.engine.admission.requests import asked, held, remaining

from . import reading

Case = dict[str, Any]


def counts_for(case: Case) -> dict[str, Any]:
    """What the workload counts for, pending or admitted."""
    settings = reading.settings_of(case)
    (view,) = _of(case, kueue.Workload)
    noun = workload(view, Shapes(), settings)
    if noun.admission is None:
        queue = model.ClusterQueue("", ())
        names = [
            pods.get("name", "") for pods in _manifest(case)["spec"]["podSets"]
        ]  # no API server has defaulted them
        pod_sets = [
            {**_pending(pods, queue, reclaimable=settings.reclaimable), "name": name}
            for pods, name in zip(noun.pod_sets, names, strict=True)
        ]
    else:
        given = [held(noun, one, reclaimable=settings.reclaimable) for one in noun.admission.pod_sets]
        pod_sets = [_written(one.name, one.count, dict(one.usage), dict(one.flavors)) for one in given]
    return {"clusterQueue": noun.admission.cluster_queue if noun.admission else "", "podSets": pod_sets}


def _pending(pods: model.PodSet, queue: model.ClusterQueue, *, reclaimable: bool) -> dict[str, Any]:
    count = remaining(pods, reclaimable=reclaimable)
    return _written(pods.name, count, asked(pods, queue, count), {})


def _written(name: str, count: int, requests: dict[str, int], flavors: dict[str, str]) -> dict[str, Any]:
    integers = {r: reading.integer(r, amount) for r, amount in requests.items()}
    shown = {r: 2**63 - 1 if n == "unlimited" else n for r, n in integers.items()}
    return {"name": name, "count": count, "requests": shown, "flavors": flavors}


def adjust(case: Case) -> dict[str, Any]:
    """The pod sets as their pods will be."""
    around = _around(case)
    (view,) = _of(case, kueue.Workload)
    limits = around.limits(view.metadata.namespace)
    return {
        "podSets": [
            {"name": p.name, "count": p.count, "template": adjusted(p.template, limits, around.classes)}
            for p in view.spec.pod_sets
        ]
    }


def validate(case: Case) -> dict[str, Any]:
    """What is wrong with the workload's resources."""
    around = _around(case)
    (view,) = _of(case, kueue.Workload)
    above, outside = resource_errors([p.template for p in view.spec.pod_sets], around.limits(view.metadata.namespace))
    errors = above if case["input"]["check"] == "resources" else outside
    written = [{"field": error.path, "type": error.type} for error in errors]
    return {"valid": not written, "errors": written, "warnings": 0}


def _around(case: Case) -> Around:
    around = Around()
    for obj in (*_of(case, LimitRange), *_of(case, RuntimeClass)):
        around.put(obj)
    return around


def _manifest(case: Case) -> dict[str, Any]:
    return next(manifest for manifest in case["objects"] if manifest["kind"] == "Workload")


def _of(case: Case, type_: type) -> list[Any]:
    objects = [reading.decoded(manifest) for manifest in case["objects"]]
    return [obj for obj in objects if isinstance(obj, type_)]


SUITES = {"workload_requests": counts_for, "adjust_resources": adjust, "resource_validation": validate}
