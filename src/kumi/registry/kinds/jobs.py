"""Jobs: a job that selects nothing by hand selects its own pods, by its uid.

The selector goes into `spec.selector`, the labels that it wants (and the job's name, and both again under the older
names) onto the pod template, whose writer may not have said otherwise: that is for validation to tell. A job without
labels takes those of its template.
Source     Kubernetes: Job, specifying your own pod selector; its behaviour as recorded.
"""

from __future__ import annotations

from kumi.api.wire import JsonObject

UID_LABEL, NAME_LABEL = "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"
OLD_UID_LABEL, OLD_NAME_LABEL = "controller-uid", "job-name"


def on_create(job: JsonObject) -> None:
    """Generates the selector unless it is the writer's own."""
    spec = job["spec"]
    if spec.get("manualSelector"):
        return
    spec.setdefault("manualSelector", False)
    uid, name = job["metadata"]["uid"], job["metadata"]["name"]
    template = spec.setdefault("template", {})
    metadata = template["metadata"] = dict(template.get("metadata") or {})
    metadata["labels"] = {
        UID_LABEL: uid,
        NAME_LABEL: name,
        OLD_UID_LABEL: uid,
        OLD_NAME_LABEL: name,
        **(metadata.get("labels") or {}),
    }
    if not job["metadata"].get("labels"):
        job["metadata"]["labels"] = dict(metadata["labels"])
    selector = spec["selector"] = dict(spec.get("selector") or {})
    selector["matchLabels"] = {UID_LABEL: uid, **(selector.get("matchLabels") or {})}
