"""A pod set's template at admission and after eviction: what admission adds, what a conflict is, what is put back.

The rule   at start, in the pod set's order, into the template:
             labels, annotations, nodeSelector   added; a key that is there with ANOTHER value is a conflict
             tolerations                          appended, unless the very same one is there
             schedulingGates                      appended, unless one of that name is there
           at stop, each of these five is REPLACED by the stored copy, so all that admission added disappears.
Why        A user's own selector must never be overruled in silence: a job that asks for zone A and is given a flavor of
           zone B can't run anywhere, so it fails with the reason instead of waiting for ever.
Not here   affinity is never touched. Who decides what to add: the workload's admission (kumi.bridge.out).
Form       Merge patches. A list or a whole map is replaced by a JSON merge patch only if the old keys are nulled, hence
           `replacing`.
Source     Kueue: pkg/podset, "How admission starts and stops a job".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kumi.api.kueue import POD_SET_LABEL
from kumi.api.wire import JsonObject
from kumi.jobs.base import PodSetInfo, PodSetShape, StartConflict

META_FIELDS = ("labels", "annotations")
SPEC_FIELDS = ("nodeSelector", "tolerations", "schedulingGates")


def start_template(template: JsonObject, info: PodSetInfo) -> JsonObject:
    """The merge patch of one template; StartConflict names the field and the key."""
    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    patch: JsonObject = {"metadata": {}, "spec": {}}
    for field, have, add in (
        ("labels", meta.get("labels"), info.labels),
        ("annotations", meta.get("annotations"), info.annotations),
        ("nodeSelector", spec.get("nodeSelector"), info.node_selector),
    ):
        added = _added(info.name, field, have or {}, add)
        if added:
            patch["metadata" if field in META_FIELDS else "spec"][field] = added
    tolerations = list(spec.get("tolerations") or ())
    fresh = [t for t in info.tolerations if t not in tolerations]
    if fresh:
        patch["spec"]["tolerations"] = tolerations + fresh
    gates = list(spec.get("schedulingGates") or ())
    wanted = [{"name": g} for g in info.scheduling_gates if g not in {gate.get("name") for gate in gates}]
    if wanted:
        patch["spec"]["schedulingGates"] = gates + wanted
    return {part: body for part, body in patch.items() if body}


def stop_template(template: JsonObject, stored: JsonObject) -> JsonObject:
    """The merge patch that puts the stored copy's five fields back; {} when they are as stored."""
    patch: JsonObject = {}
    for part, fields in (("metadata", META_FIELDS), ("spec", SPEC_FIELDS)):
        here, there = template.get(part) or {}, stored.get(part) or {}
        body = {
            f: replacing(here.get(f), there.get(f)) for f in fields if (here.get(f) or None) != (there.get(f) or None)
        }
        if body:
            patch[part] = body
    return patch


def replacing(old: object, new: object) -> object:
    """What a merge patch must hold at a field so that `new` replaces `old` whole; None removes the field."""
    if not new:
        return None
    if isinstance(old, dict) and isinstance(new, dict):
        return {**{key: None for key in sorted(old) if key not in new}, **new}
    return new


def carries_admission(template: JsonObject, stored: JsonObject) -> bool:
    """Whether the template still has what a start added: the pod set's label, which no user writes."""
    return POD_SET_LABEL in _labels(template) and POD_SET_LABEL not in _labels(stored)


def paired(shapes: Sequence[PodSetShape], infos: Sequence[PodSetInfo]) -> Iterable[tuple[PodSetShape, PodSetInfo]]:
    """Each shape with the info of its name; StartConflict when they are not the same pod sets."""
    by_name = {info.name: info for info in infos}
    if len(infos) != len(shapes) or any(shape.name not in by_name for shape in shapes):
        have, want = [i.name for i in infos], [s.name for s in shapes]
        raise StartConflict(f"admission has pod sets {have}, the job has {want}")
    return [(shape, by_name[shape.name]) for shape in shapes]


def restored(shapes: Sequence[PodSetShape], stored: Sequence[PodSetShape]) -> Iterable[tuple[PodSetShape, PodSetShape]]:
    """Each shape with its stored copy; none when the job's pod sets are no longer those stored (nothing to restore)."""
    by_name = {shape.name: shape for shape in stored}
    if len(stored) != len(shapes) or any(shape.name not in by_name for shape in shapes):
        return []
    return [(shape, by_name[shape.name]) for shape in shapes]


def _added(pod_set: str, field: str, have: Mapping[str, str], add: Mapping[str, str]) -> dict[str, str]:
    for key in sorted(add):
        if key in have and have[key] != add[key]:
            raise StartConflict(
                f"pod set {pod_set!r}: {field}[{key}] is {have[key]!r} in the job's template, admission needs {add[key]!r}"
            )
    return {key: add[key] for key in sorted(add) if key not in have}


def _labels(template: JsonObject) -> Mapping[str, str]:
    labels: Mapping[str, str] = (template.get("metadata") or {}).get("labels") or {}
    return labels
