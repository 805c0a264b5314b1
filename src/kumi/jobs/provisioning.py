"""Capacity for a workload: what is asked for, and what the answer means for its admission check.

Asked      for each pod set of which a pod asks for one of the config's managedResources (none named: each), with what admission
           adds to its template. Attempt n = retryCount + 1 is a request of its own, `WORKLOAD-CHECK-n`.
Answer     of the request's conditions, the first that holds:
             none needed          Ready
             CapacityRevoked      Rejected: what was there is gone while it runs
             Failed, or BookingExpired before it was admitted
                                  Retry, after min(base * 2^(n-1), most); Rejected once n is past the limit
             Provisioned          Ready, with what it adds to pods: annotations that name the request and its class, and node
                                  labels that the class tells
             Accepted, none       Pending, with its message
Units      seconds.
Source     Kueue: provisioning admission check. Kubernetes autoscaler: ProvisioningRequest.
Not here   pod sets that are alike as one (podSetMergePolicy).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kumi.api.kueue import PodSet, Workload
from kumi.api.meta import find_condition, is_true
from kumi.api.pod_requests import pod_requests
from kumi.api.provisioning import (
    GROUP,
    VERSION,
    ProvisioningRequest,
    ProvisioningRequestConfig,
    ProvisioningRequestConfigSpec,
)
from kumi.api.wire import JsonObject
from kumi.jobs.base import PodSetInfo
from kumi.jobs.podset import start_template

CONTROLLER = "kueue.x-k8s.io/provisioning-request"
CONSUMES = (
    "autoscaling.x-k8s.io/consume-provisioning-request",
    "cluster-autoscaler.kubernetes.io/consume-provisioning-request",
)
CLASS = ("autoscaling.x-k8s.io/provisioning-class-name", "cluster-autoscaler.kubernetes.io/provisioning-class-name")
PARAMETER = "provreq.kueue.x-k8s.io/"
"""annotations of the job with this prefix are parameters of its requests"""
MOST_LETTERS = 200
MOST_DOUBLINGS = 30


@dataclass(frozen=True)
class Verdict:
    """What the check says. `pod_set_updates`: what it adds to pods."""

    state: str
    message: str
    requeue_after_seconds: int | None = None
    pod_set_updates: Sequence[JsonObject] = field(default_factory=tuple)


def request_name(workload: str, check: str, attempt: int) -> str:
    """The request of that attempt; long names are cut and told apart by a hash."""
    stem = f"{workload}-{check}"
    if len(stem) > MOST_LETTERS:
        digest = hashlib.sha1(stem.encode(), usedforsecurity=False).hexdigest()[:5]
        stem = f"{stem[: MOST_LETTERS - 6]}-{digest}"
    return f"{stem}-{attempt}"


def pod_sets(workload: Workload, config: ProvisioningRequestConfigSpec) -> list[PodSet]:
    """Those that capacity is asked for."""
    managed = set(config.managed_resources)
    return [
        pod_set
        for pod_set in workload.spec.pod_sets
        if pod_set.count and (not managed or managed & set(pod_requests(pod_set.template.get("spec") or {})))
    ]


def objects(
    workload: Workload, config: ProvisioningRequestConfig, name: str, infos: Mapping[str, PodSetInfo]
) -> list[JsonObject]:
    """The request and the templates that it names, as they are created. `infos`: what admission adds, by pod set."""
    templates, asked = [], []
    for pod_set in pod_sets(workload, config.spec):
        template_name = f"ppt-{name}-{pod_set.name}"
        info = infos[pod_set.name]
        meta = {"name": template_name, "namespace": workload.metadata.namespace}
        template = _merged(pod_set.template, start_template(pod_set.template, info))
        templates.append({"apiVersion": "v1", "kind": "PodTemplate", "metadata": meta, "template": template})
        asked.append({"podTemplateRef": {"name": template_name}, "count": info.count})
    given = {
        key.removeprefix(PARAMETER): value
        for key, value in sorted(workload.metadata.annotations.items())
        if key.startswith(PARAMETER)
    }
    request: JsonObject = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "ProvisioningRequest",
        "metadata": {"name": name, "namespace": workload.metadata.namespace},
        "spec": {
            "provisioningClassName": config.spec.provisioning_class_name,
            "parameters": {**config.spec.parameters, **given},
            "podSets": asked,
        },
    }
    return [*templates, request]


def verdict(
    workload: Workload, config: ProvisioningRequestConfigSpec, request: ProvisioningRequest | None, attempt: int
) -> Verdict:
    """See the module; `request` is that of the attempt."""
    wanted = pod_sets(workload, config)
    if not wanted:
        return Verdict("Ready", "No capacity has to be asked for.")
    conditions = request.status.conditions if request is not None else []
    admitted = is_true(workload.status.conditions, "Admitted")
    for type_ in ("CapacityRevoked", "Failed", "BookingExpired", "Provisioned", "Accepted"):
        found = find_condition(conditions, type_)
        if found is None or found.status != "True":
            continue
        if type_ == "CapacityRevoked":
            return Verdict("Rejected", f"Capacity was revoked: {found.message}")
        if type_ == "Failed" or (type_ == "BookingExpired" and not admitted):
            return _again(config, attempt, f"{type_}: {found.message}")
        if type_ == "Provisioned" and request is not None:
            return Verdict("Ready", found.message, pod_set_updates=_updates(wanted, config, request))
        if type_ == "Accepted":
            return Verdict("Pending", found.message)
    return Verdict("Pending", "Capacity is asked for.")


def _again(config: ProvisioningRequestConfigSpec, attempt: int, message: str) -> Verdict:
    strategy = config.retry_strategy
    limit, base, most = (
        (strategy.backoff_limit_count, strategy.backoff_base_seconds, strategy.backoff_max_seconds)
        if strategy is not None
        else (None, None, None)
    )
    if attempt > (3 if limit is None else limit):
        return Verdict("Rejected", message)
    wait = (60 if base is None else base) * 2 ** min(attempt - 1, MOST_DOUBLINGS)
    return Verdict("Retry", message, requeue_after_seconds=min(wait, 1800 if most is None else most))


def _updates(
    wanted: Sequence[PodSet], config: ProvisioningRequestConfigSpec, request: ProvisioningRequest
) -> list[JsonObject]:
    annotations = {
        **dict.fromkeys(CONSUMES, request.metadata.name),
        **dict.fromkeys(CLASS, request.spec.provisioning_class_name),
    }
    details = request.status.provisioning_class_details
    rules = config.pod_set_updates.node_selector if config.pod_set_updates is not None else []
    selector = {
        rule.key: details[rule.value_from_provisioning_class_detail]
        for rule in rules
        if rule.value_from_provisioning_class_detail in details
    }
    return [
        {"name": pod_set.name, "annotations": annotations, **({"nodeSelector": selector} if selector else {})}
        for pod_set in wanted
    ]


def _merged(old: JsonObject, new: JsonObject) -> JsonObject:
    made = dict(old)
    for key, value in new.items():
        inner = made.get(key)
        made[key] = _merged(inner, value) if isinstance(value, dict) and isinstance(inner, dict) else value
    return made
