"""Pod -> Pod: its shape, where it is, and which place of which Workload it takes.

The rule   workload   annotation kueue.x-k8s.io/workload, in the pod's namespace; pod set: label kueue.x-k8s.io/podset
           index      the kind's own number: label training.kubeflow.org/replica-index or
                      batch.kubernetes.io/job-completion-index (older kinds have it as an annotation); None where there is
                      none, or where it is not a number
           finished   phase Succeeded or Failed
           gated      it has scheduling gates, or another scheduler places it: it holds room once it is bound, and Kumi
                      never binds it
Source     Kubernetes: pod life cycle, scheduling gates. Kueue: pod labels. Training operator: pod labels.
"""

from __future__ import annotations

from kumi.api import core
from kumi.api.kueue import POD_SET_LABEL, WORKLOAD_ANNOTATION
from kumi.api.meta import parse_time
from kumi.bridge.into.shape import Shapes
from kumi.engine import model

INDEX_KEYS = ("training.kubeflow.org/replica-index", "batch.kubernetes.io/job-completion-index")
SCHEDULERS = ("", "default-scheduler", "kumi")
"""the names in spec.schedulerName that mean Kumi"""


def pod(view: core.Pod, shapes: Shapes, schedulers: tuple[str, ...] = SCHEDULERS) -> model.Pod:
    """See the module. KumiError for a quantity that can't be read."""
    meta, spec = view.metadata, view.spec
    name = meta.annotations.get(WORKLOAD_ANNOTATION, "")
    return model.Pod(
        uid=meta.uid,
        key=view.key,
        shape=shapes.of(spec),
        created_ms=parse_time(meta.creation_timestamp) or 0,
        priority=spec.priority or 0,
        node=spec.node_name,
        workload=f"{meta.namespace}/{name}" if name else "",
        pod_set=meta.labels.get(POD_SET_LABEL, ""),
        index=_index(view),
        finished=view.status.phase in ("Succeeded", "Failed"),
        terminating=meta.deletion_timestamp is not None,
        gated=bool(spec.scheduling_gates) or spec.scheduler_name not in schedulers,
    )


def _index(view: core.Pod) -> int | None:
    for key in INDEX_KEYS:
        text = view.metadata.labels.get(key) or view.metadata.annotations.get(key)
        if text and text.isascii() and text.isdigit():
            return int(text)
    return None
