"""Pod shapes: all that deciding reads of a pod, one value for equal pods.

The rule   requests        containers, init containers and overhead as Kubernetes counts them (kumi.api.pod_requests), in
                           base units; that a pod takes one of `pods` itself goes without saying
           node_selector   as written, by key
           tolerations     as written, in order, without their times
           volume_claims   the keys of the claims of its volumes, in the order of the spec
           affinity        the terms of requiredDuringSchedulingIgnoredDuringExecution; a term's matchFields on
                           metadata.name is a requirement on the host's name; a term with nothing in it matches nothing
           preferred       the same of preferredDuringScheduling..., with their weights
           ports           of the host, of containers and sidecars; with the host's network every port is one
           neighbours      what it says of other pods (neighbours.py)
           images          of all containers, with the tag `latest` where they have none
           scored          cpu and memory where a container that says nothing of one counts for 100m, for 200Mi
           share           of one GPU, as annotations say it (kumi.api.gpu_sharing); it is in the requests as well
           whole_cpus      of a pod whose every container has limits of cpu and memory and asks for just that much
Why        Ten thousand pods of a few jobs have a handful of shapes: masks, scores and sums are kept once per shape, and
           equal shapes are the same object.
Source     Kubernetes: pod specification, assigning pods to nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kumi.api import gpu_sharing
from kumi.api.core import Container, PodSpec, Toleration
from kumi.api.errors import KumiError
from kumi.api.pod_requests import pod_requests
from kumi.api.quantity import parse
from kumi.api.volumes import claims_of
from kumi.api.wire import JsonObject
from kumi.bridge.into.neighbours import HARD, SOFT, neighbours, requirement
from kumi.engine import model

NAME_FIELD = "metadata.name"
LITTLE = {"cpu": 100, "memory": 200 * 2**20}
"""what a container is taken for in scores that says nothing of it"""
ANY_ADDRESS = "0.0.0.0"


class Shapes:
    """Interned shapes; `of` and `of_template` give the same value for equal pods."""

    def __init__(self) -> None:
        self._known: dict[model.PodShape, model.PodShape] = {}

    def of(
        self,
        spec: PodSpec,
        volume_claims: tuple[str, ...] = (),
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        spread: tuple[model.SpreadTerm, ...] = (),
    ) -> model.PodShape:
        """The shape of a pod's spec; the claims are those of its volumes, labels and annotations the pod's, `spread` what it gets
        besides (companions.py). KumiError for a quantity, or a share of a GPU, that can't be read."""
        containers = (*spec.containers, *spec.init_containers)
        requests, share = _with_gpus(pod_requests(spec), annotations or {})
        shape = model.PodShape(
            requests=tuple(sorted(requests.items())),
            node_selector=tuple(sorted(spec.node_selector.items())),
            tolerations=tuple(toleration(t) for t in spec.tolerations),
            affinity=_required(spec.affinity),
            volume_claims=volume_claims,
            preferred=_preferred(spec.affinity),
            ports=_ports(spec),
            neighbours=neighbours(spec.affinity, spec.topology_spread_constraints, labels or {}, spread),
            images=tuple(_tagged(c.image) for c in containers if c.image),
            containers=len(containers),
            scored=_scored(spec, requests),
            whole_cpus=_whole_cpus(spec),
            share=share,
        )
        return self._known.setdefault(shape, shape)

    def of_template(self, template: JsonObject, namespace: str = "") -> model.PodShape:
        """The shape of a pod template as JSON; without a namespace its claims are left out. KumiError if it can't be read."""
        try:
            spec = msgspec.convert(template.get("spec") or {}, PodSpec)
        except msgspec.ValidationError as error:
            raise KumiError(f"the pod template can't be read: {error}") from error
        claims = volume_claims(namespace, "", spec.volumes) if namespace else ()
        said = template.get("metadata") or {}
        return self.of(spec, claims, said.get("labels"), said.get("annotations"))


def volume_claims(namespace: str, pod: str, volumes: Sequence[JsonObject]) -> tuple[str, ...]:
    """The keys of the claims that a pod's volumes name, in their order. `pod` "" for a template: what is made with the pod is
    left out."""
    named = claims_of(pod, volumes if pod else [v for v in volumes if not v.get("ephemeral")])
    return tuple(dict.fromkeys(f"{namespace}/{name}" for name in named.values()))


def toleration(view: Toleration) -> model.Toleration:
    """A toleration; its time plays no part in placing."""
    return model.Toleration(view.key, view.operator or "Equal", view.value, view.effect)


def _with_gpus(requests: dict[str, int], annotations: Mapping[str, str]) -> tuple[dict[str, int], int]:
    """The requests with the GPUs that the annotations want, and the share of one."""
    found = gpu_sharing.wanted(annotations, requests.get(gpu_sharing.RESOURCE, 0))
    if isinstance(found, list):
        raise KumiError("; ".join(error.text() for error in found))
    if found.amount != requests.get(gpu_sharing.RESOURCE, 0):
        requests = {**requests, gpu_sharing.RESOURCE: found.amount}
    return requests, found.share


def _required(affinity: dict[str, Any] | None) -> tuple[tuple[model.Requirement, ...], ...] | None:
    required = ((affinity or {}).get("nodeAffinity") or {}).get(HARD)
    if not required:
        return None
    terms = [_term(term) for term in required.get("nodeSelectorTerms") or ()]
    return tuple(term for term in terms if term)


def _preferred(affinity: dict[str, Any] | None) -> model.Preferences:
    preferred = ((affinity or {}).get("nodeAffinity") or {}).get(SOFT) or ()
    terms = ((int(p.get("weight", 0)), _term(p.get("preference") or {})) for p in preferred)
    return tuple((weight, term) for weight, term in terms if weight and term)


def _term(term: dict[str, Any]) -> tuple[model.Requirement, ...]:
    expressions = [requirement(e) for e in term.get("matchExpressions") or ()]
    fields = [requirement(f) for f in term.get("matchFields") or ()]
    return (*expressions, *fields)


def _ports(spec: PodSpec) -> tuple[model.HostPort, ...]:
    stay = [*spec.containers, *(c for c in spec.init_containers if c.restart_policy == "Always")]
    ports = []
    for port in (p for c in stay for p in c.ports):
        number = port.host_port or (port.container_port if spec.host_network else 0)
        if number > 0:
            ports.append(model.HostPort(number, port.protocol or "TCP", port.host_ip or ANY_ADDRESS))
    return tuple(dict.fromkeys(ports))


def _tagged(image: str) -> str:
    """The image's name as nodes list it."""
    return image if ":" in image.rpartition("/")[2] or "@" in image else f"{image}:latest"


def _scored(spec: PodSpec, requests: Mapping[str, int]) -> tuple[int, int] | None:
    counted = pod_requests(spec, LITTLE)
    made = counted.get("cpu", 0), counted.get("memory", 0)
    return None if made == (requests.get("cpu", 0), requests.get("memory", 0)) else made


def _whole_cpus(spec: PodSpec) -> tuple[int, ...]:
    if not all(_is_guaranteed(c) for c in (*spec.containers, *spec.init_containers)):
        return ()
    amounts = [parse(c.resources.limits["cpu"], "cpu") for c in spec.containers]
    return tuple(amount // 1000 if amount % 1000 == 0 else 0 for amount in amounts)


def _is_guaranteed(container: Container) -> bool:
    resources = container.resources
    for name in ("cpu", "memory"):
        limit, request = resources.limits.get(name), resources.requests.get(name)
        if limit is None or parse(limit, name) <= 0:
            return False
        if request is not None and parse(request, name) != parse(limit, name):
            return False
    return True
