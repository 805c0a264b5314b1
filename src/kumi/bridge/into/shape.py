"""Pod shapes: all that deciding reads of a pod, one value for equal pods.

The rule   requests        containers, init containers and overhead as Kubernetes counts them (kumi.api.pod_requests), in
                           base units; that a pod takes one of `pods` itself goes without saying
           node_selector   as written, by key
           tolerations     as written, in order, without their times
           affinity        the terms of requiredDuringSchedulingIgnoredDuringExecution; a term's matchFields on
                           metadata.name is a requirement on the host's name; a term with nothing in it matches nothing
Why        Ten thousand pods of a few jobs have a handful of shapes: masks, scores and sums are kept once per shape, and
           equal shapes are the same object.
Source     Kubernetes: pod specification, assigning pods to nodes.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kumi.api.core import PodSpec, Toleration
from kumi.api.errors import KumiError
from kumi.api.pod_requests import pod_requests
from kumi.api.wire import JsonObject
from kumi.engine import model

NAME_FIELD = "metadata.name"


class Shapes:
    """Interned shapes; `of` and `of_template` give the same value for equal pods."""

    def __init__(self) -> None:
        self._known: dict[model.PodShape, model.PodShape] = {}

    def of(self, spec: PodSpec) -> model.PodShape:
        """The shape of a pod's spec. KumiError for a quantity that can't be read."""
        shape = model.PodShape(
            requests=tuple(sorted(pod_requests(spec).items())),
            node_selector=tuple(sorted(spec.node_selector.items())),
            tolerations=tuple(toleration(t) for t in spec.tolerations),
            affinity=_required(spec.affinity),
        )
        return self._known.setdefault(shape, shape)

    def of_template(self, template: JsonObject) -> model.PodShape:
        """The shape of a pod template as JSON. KumiError if it can't be read."""
        try:
            spec = msgspec.convert(template.get("spec") or {}, PodSpec)
        except msgspec.ValidationError as error:
            raise KumiError(f"the pod template can't be read: {error}") from error
        return self.of(spec)


def toleration(view: Toleration) -> model.Toleration:
    """A toleration; its time plays no part in placing."""
    return model.Toleration(view.key, view.operator or "Equal", view.value, view.effect)


def _required(affinity: dict[str, Any] | None) -> tuple[tuple[model.Requirement, ...], ...] | None:
    node = (affinity or {}).get("nodeAffinity") or {}
    required = node.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return None
    terms = [_term(term) for term in required.get("nodeSelectorTerms") or ()]
    return tuple(term for term in terms if term)


def _term(term: dict[str, Any]) -> tuple[model.Requirement, ...]:
    expressions = [requirement(e) for e in term.get("matchExpressions") or ()]
    fields = [requirement(f) for f in term.get("matchFields") or ()]
    return (*expressions, *fields)


def requirement(term: dict[str, Any]) -> model.Requirement:
    """One term of a selector, as written."""
    return model.Requirement(str(term["key"]), str(term["operator"]), tuple(str(v) for v in term.get("values") or ()))
