"""Objects that `kubectl apply` managed before by its annotation, and manages on the server now.

The rule, for manager `kubectl` only (another name opts out):
    a conflict about a field that the last applied configuration named, or about the annotation itself, is none: kubectl takes
    over what it had
    an object that has the annotation gets it anew, with the configuration that is applied, so that a client-side apply still
    knows what was there
Source     Kubernetes: server-side apply (upgrading from client-side apply).
"""

from __future__ import annotations

import orjson

from kumi.api.shapes import Shape
from kumi.api.wire import JsonObject
from kumi.registry.apply.claims import claims
from kumi.registry.apply.elements import Unnameable, member
from kumi.registry.apply.fieldset import FieldSet

MANAGER = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
SIZE_AT_MOST = 256 * 1024
"""bytes of an annotation"""

_OWN = FieldSet.of((member("metadata"), member("annotations"), member(ANNOTATION)))


def allowed(shape: Shape, live: JsonObject, api_version: str) -> FieldSet:
    """The fields that kubectl may take over without force."""
    text = (live["metadata"].get("annotations") or {}).get(ANNOTATION)
    if not text:
        return FieldSet()
    try:
        last = orjson.loads(text)
        if not isinstance(last, dict) or last.get("apiVersion") != api_version:
            return FieldSet()
        return claims(shape, last) | _OWN
    except (orjson.JSONDecodeError, Unnameable):
        return FieldSet()


def renewed(obj: JsonObject, config: JsonObject) -> None:
    """Writes the annotation of an object that has one anew."""
    annotations = obj["metadata"].get("annotations") or {}
    if ANNOTATION not in annotations:
        return
    clean = {**config, "metadata": {k: v for k, v in (config.get("metadata") or {}).items() if k != "annotations"}}
    own = {k: v for k, v in ((config.get("metadata") or {}).get("annotations") or {}).items() if k != ANNOTATION}
    if own:
        clean["metadata"]["annotations"] = own
    text = orjson.dumps(clean, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE).decode()
    if len(text) <= SIZE_AT_MOST:
        obj["metadata"] = {**obj["metadata"], "annotations": {**annotations, ANNOTATION: text}}
