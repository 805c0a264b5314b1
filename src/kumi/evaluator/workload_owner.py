"""Workload owner: makes the pods of Workloads that no job's controller stands behind, as whoever brings a kind of his own would.

The rule   admitted   each pod set has so many pods as were admitted, in the order of pod sets and indices, with what admission
                      adds to the template; one that is lost is made anew, one that has failed is deleted
           ready      PodsReady, once all of them are
           evicted    its pods are deleted; once none is left the quota is given back
Names      workload-podset-index, and a number where that is taken.
Why        A Workload may be written by itself, and a trace has jobs of roles that no queued kind has.
Source     Kueue: how an integration of a custom job treats its Workload.
Not here   when it is finished: stack.py; pods of queues without a kind: kumi.controllers.pod_groups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kumi.api import kueue
from kumi.api.core import Pod
from kumi.api.meta import Object, is_true
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.into.pod import INDEX_KEYS
from kumi.bridge.out.start import flavor_names, infos
from kumi.controllers import workload_status
from kumi.jobs.base import PodSetInfo, Standing
from kumi.jobs.podset import start_template
from kumi.jobs.templates import is_live, is_ready, pod_of
from kumi.registry.objects import clone
from kumi.registry.patch import merge
from kumi.runtime.reconcile import NOTHING, Create, Delete, Outcome, Watches, Write, no_keys
from kumi.runtime.view import View

INDEX = INDEX_KEYS[1]


class WorkloadOwner:
    """See the module; kumi.runtime.reconcile.Controller, by the Workload's key. `owns`: whether that Workload is one of these."""

    name = "kumi-evaluator-workload-owner"

    def __init__(self, owns: Callable[[str], bool]) -> None:
        self._owns = owns

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({kueue.ResourceFlavor: no_keys, kueue.Workload: _key, Pod: _owner_key})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See Controller."""
        namespace, _, name = key.partition("/")
        workload = view.get(kueue.Workload, namespace, name)
        if workload is None or not self._owns(key):
            return NOTHING
        pods = view.owned(Pod, workload.metadata.uid)
        conditions = workload.status.conditions
        if workload.status.admission is None or is_true(conditions, "Finished"):
            return NOTHING
        if is_true(conditions, "Evicted"):
            patch = workload_status.given_back(workload, now_ms)
            return Outcome(tuple(_deletions(pods)) if pods else (patch,))
        if not is_true(conditions, "Admitted"):
            return NOTHING
        flavors = {name: view.get(kueue.ResourceFlavor, "", name) for name in flavor_names(workload)}
        started = infos(workload, {name: flavor for name, flavor in flavors.items() if flavor is not None})
        writes = [
            *_deletions([pod for pod in pods if pod.status.phase == "Failed"]),
            *_missing(workload, started, pods),
        ]
        if writes:
            return Outcome(tuple(writes))
        ready = sum(is_live(pod) and is_ready(pod) for pod in pods) >= sum(info.count for info in started)
        standing = Standing(suspended=False, active=True, pods_ready=ready, finished=False)
        told = workload_status.running(workload, standing, now_ms)
        return Outcome((told,)) if told is not None else NOTHING


def _key(obj: Object) -> tuple[str, ...]:
    return (obj.key,)


def _owner_key(obj: Object) -> tuple[str, ...]:
    owner = obj.metadata.controller
    return (f"{obj.metadata.namespace}/{owner.name}",) if owner is not None and owner.kind == "Workload" else ()


def _deletions(pods: Sequence[Pod]) -> list[Write]:
    metas = [pod.metadata for pod in pods if pod.metadata.deletion_timestamp is None]
    return [Delete(SCHEME.of(Pod), meta.namespace, meta.name, meta.uid, grace_seconds=0) for meta in metas]


def _missing(workload: kueue.Workload, started: Sequence[PodSetInfo], pods: Sequence[Pod]) -> list[Write]:
    """The pods that it should have and hasn't."""
    there = {
        (pod.metadata.labels.get(kueue.POD_SET_LABEL), pod.metadata.labels.get(INDEX)) for pod in pods if is_live(pod)
    }
    taken = {pod.metadata.name for pod in pods}
    kind = SCHEME.of(kueue.Workload)
    made: list[Write] = []
    for pod_set, info in zip(workload.spec.pod_sets, started, strict=True):
        template = _started(pod_set.template, info)
        for index in range(info.count):
            if (info.name, str(index)) in there:
                continue
            name = _free(f"{workload.metadata.name}-{info.name}-{index}", taken)
            labels = {INDEX: str(index)}
            made.append(Create(pod_of(workload, (kind.api_version, kind.kind), template, name, labels)))
    return made


def _started(template: JsonObject, info: PodSetInfo) -> JsonObject:
    """The template with what admission adds."""
    patch = start_template(template, info)
    return merge.apply(clone(template), patch) if patch else template


def _free(name: str, taken: set[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found)
    return found
