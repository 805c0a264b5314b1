"""An admission as what each pod set's template gets: the infos with which a job is started.

The rule   nodeSelector   the nodeLabels of every flavor assigned
           tolerations    those of every flavor assigned
           labels         kueue.x-k8s.io/podset, .../local-queue-name, and .../cluster-queue-name where it fits in a label
           annotations    kueue.x-k8s.io/workload, by which a pod is known to be of this Workload; of an elastic job the first
                          slice's name too
           count          the count that was admitted
           checks         what admission checks add to the pod set (podSetUpdates): labels, annotations, nodeSelector,
                          tolerations
Order      Pod sets as in the Workload's spec; flavors by the name of the resource that they serve, each once.
Why        Two flavors, or a flavor and a check, that want one key at two values can't both hold: that is a StartConflict, as
           for a user's own.
Not here   how they are merged into a template: kumi.jobs.podset.
Source     Kueue: how admission starts a job.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from kumi.api import kueue
from kumi.api.core import Toleration
from kumi.api.wire import JsonObject
from kumi.jobs.base import PodSetInfo, StartConflict

LABEL_VALUE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
"""a DNS label: names that a label can hold"""


def flavor_names(workload: kueue.Workload) -> list[str]:
    """Every flavor that was assigned, by name."""
    admission = workload.status.admission
    assigned = admission.pod_set_assignments if admission is not None else []
    return sorted({flavor for a in assigned for flavor in a.flavors.values()})


def infos(workload: kueue.Workload, flavors: Mapping[str, kueue.ResourceFlavor]) -> list[PodSetInfo]:
    """One for each pod set of an admitted Workload; `flavors` holds all of `flavor_names`. StartConflict."""
    admission = workload.status.admission
    assert admission is not None, "only an admitted Workload starts"
    assigned = {a.name: a for a in admission.pod_set_assignments}
    if sorted(assigned) != sorted(p.name for p in workload.spec.pod_sets):
        raise StartConflict(f"the admission names pod sets {sorted(assigned)}, the Workload has others")
    annotations = {kueue.WORKLOAD_ANNOTATION: workload.metadata.name}
    if workload.metadata.annotations.get(kueue.ELASTIC_ANNOTATION) == "true":
        first = workload.metadata.annotations.get(kueue.SLICE_ANNOTATION, workload.metadata.name)
        annotations[kueue.SLICE_ANNOTATION] = first
    labels = {kueue.LOCAL_QUEUE_LABEL: workload.spec.queue_name}
    if LABEL_VALUE.fullmatch(admission.cluster_queue):
        labels[kueue.CLUSTER_QUEUE_LABEL] = admission.cluster_queue
    made = []
    for pod_set in workload.spec.pod_sets:
        got = assigned[pod_set.name]
        used = list(dict.fromkeys(got.flavors[resource] for resource in sorted(got.flavors)))
        info = PodSetInfo(
            name=pod_set.name,
            count=got.count if got.count is not None else pod_set.count,
            node_selector=_selector([flavors[name] for name in used]),
            labels={kueue.POD_SET_LABEL: pod_set.name, **labels},
            annotations=annotations,
            tolerations=tuple(_toleration(t) for name in used for t in flavors[name].spec.tolerations),
        )
        for check in workload.status.admission_checks:
            for update in check.get("podSetUpdates") or ():
                if update.get("name") == pod_set.name:
                    info = _updated(info, update, str(check["name"]))
        made.append(info)
    return made


def _updated(info: PodSetInfo, update: JsonObject, check: str) -> PodSetInfo:
    """With what a check adds."""
    tolerations = [t for t in update.get("tolerations") or () if t not in info.tolerations]
    return replace(
        info,
        labels=_joined(info.labels, update.get("labels"), f"check {check}: label"),
        annotations=_joined(info.annotations, update.get("annotations"), f"check {check}: annotation"),
        node_selector=_joined(info.node_selector, update.get("nodeSelector"), f"check {check}: node label"),
        tolerations=(*info.tolerations, *tolerations),
    )


def _joined(have: Mapping[str, str], add: Mapping[str, str] | None, what: str) -> dict[str, str]:
    made = dict(have)
    for key, value in sorted((add or {}).items()):
        if made.setdefault(key, value) != value:
            raise StartConflict(f"{what} {key} is wanted at {made[key]!r} and {value!r}")
    return made


def _selector(flavors: list[kueue.ResourceFlavor]) -> dict[str, str]:
    selector: dict[str, str] = {}
    for flavor in flavors:
        for key, value in sorted(flavor.spec.node_labels.items()):
            if selector.setdefault(key, value) != value:
                raise StartConflict(f"two assigned flavors want node label {key}: {selector[key]!r} and {value!r}")
    return selector


def _toleration(view: Toleration) -> JsonObject:
    return {key: value for key, value in msgspec.to_builtins(view).items() if value not in (None, "")}
