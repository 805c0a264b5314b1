"""How close together the pods of a pod set must be: what a template's annotations ask, as a PodSet's topologyRequest.

The rule, of annotations `kueue.x-k8s.io/podset-...`:
    required-topology, preferred-topology          a level; required, preferred
    unconstrained-topology                         "true"; unconstrained
    slice-required-topology, slice-size            a level and a number, together only; podSetSliceRequiredTopology,
                                                   podSetSliceSize
    group-name                                     podSetGroupName
    any of them                                    podIndexLabel too, where the kind numbers its pods by a label
    none of them                                   no request
Source     Kueue: topology-aware scheduling, annotations of pod templates.
"""

from __future__ import annotations

from collections.abc import Mapping

from kumi.api.wire import JsonObject
from kumi.jobs.base import PodSetShape

PREFIX = "kueue.x-k8s.io/podset-"
KEYS = (
    "required-topology",
    "preferred-topology",
    "unconstrained-topology",
    "slice-required-topology",
    "slice-size",
    "group-name",
)


def request(shape: PodSetShape) -> JsonObject:
    """The request; {} for none."""
    annotations: Mapping[str, str] = (shape.template.get("metadata") or {}).get("annotations") or {}
    if shape.asked is not None:
        annotations = shape.asked
    said = {key: annotations[PREFIX + key] for key in KEYS if annotations.get(PREFIX + key)}
    if not said:
        return {}
    made: JsonObject = {}
    for word in ("required", "preferred"):
        if f"{word}-topology" in said:
            made[word] = said[f"{word}-topology"]
    if said.get("unconstrained-topology") == "true":
        made["unconstrained"] = True
    size = said.get("slice-size", "")
    if "slice-required-topology" in said and size.isdecimal():
        made["podSetSliceRequiredTopology"] = said["slice-required-topology"]
        made["podSetSliceSize"] = int(size)
    if "group-name" in said:
        made["podSetGroupName"] = said["group-name"]
    if shape.index_label:
        made["podIndexLabel"] = shape.index_label
    return made
