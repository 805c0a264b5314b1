"""Defaults of pods and pod templates.

    template, pod    restartPolicy Always, dnsPolicy ClusterFirst, 30 s of grace, the default scheduler, a security context;
                     of each container: pull policy by its tag, where its last words go, TCP, probes' numbers;
                     of each volume: emptyDir if it says nothing, file modes 0644
    pod only         requests that are not given are the limits; service links
Why        what is stored says all that will be done with it, so that a reader needs no defaults of its own.
Source     Kubernetes: Pod API reference (defaults of each field), resource management (requests default to limits).
Not here   priority, tolerations of lost nodes, status: what admission and creation add (kumi.registry).
"""

from __future__ import annotations

from kumi.api.wire import JsonObject

MODE = 0o644
GRACE_SECONDS = 30
TOKEN_SECONDS = 3600
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def default_pod(pod: JsonObject) -> None:
    """A whole Pod. One that has no spec is told so by validation, as one with an empty one."""
    spec = pod.setdefault("spec", {})
    if not isinstance(spec, dict):
        return
    spec.setdefault("enableServiceLinks", True)
    for name in ("initContainers", "containers"):
        for container in spec.get(name) or ():
            resources = container.setdefault("resources", {})
            limits = resources.get("limits")
            if limits:
                requests = resources.setdefault("requests", {})
                for resource, amount in limits.items():
                    requests.setdefault(resource, amount)
    default_spec(spec)


def default_template(template: JsonObject) -> None:
    """A PodTemplateSpec."""
    default_spec(template.setdefault("spec", {}))


def default_spec(spec: JsonObject) -> None:
    """A PodSpec."""
    for key, value in (
        ("restartPolicy", "Always"),
        ("dnsPolicy", "ClusterFirst"),
        ("terminationGracePeriodSeconds", GRACE_SECONDS),
        ("schedulerName", "default-scheduler"),
    ):
        spec.setdefault(key, value)
    spec.setdefault("securityContext", {})
    for name in _CONTAINERS:
        for container in spec.get(name) or ():
            _default_container(container, on_host=bool(spec.get("hostNetwork")))
    for volume in spec.get("volumes") or ():
        _default_volume(volume)
    for constraint in spec.get("topologySpreadConstraints") or ():
        constraint.setdefault("nodeAffinityPolicy", "Honor")
        constraint.setdefault("nodeTaintsPolicy", "Ignore")


def pull_policy(image: str) -> str:
    """Always for an image without a tag or with `latest`, unless it is named by its digest."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


def _default_container(container: JsonObject, *, on_host: bool) -> None:
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("imagePullPolicy", pull_policy(str(container.get("image") or "")))
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if on_host and "containerPort" in port:
            port.setdefault("hostPort", port["containerPort"])
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("fieldRef")
        if reference is not None:
            reference.setdefault("apiVersion", "v1")
    for name in _PROBES:
        probe = container.get(name)
        if probe is not None:
            _default_probe(probe)
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _default_http(handler)


def _default_probe(probe: JsonObject) -> None:
    for key, value in (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)):
        if not probe.get(key):
            probe[key] = value
    _default_http(probe)
    if probe.get("grpc") is not None:
        probe["grpc"].setdefault("service", "")


def _default_http(handler: JsonObject) -> None:
    request = handler.get("httpGet")
    if request is not None:
        request.setdefault("path", "/")
        request.setdefault("scheme", "HTTP")


def _default_volume(volume: JsonObject) -> None:
    if len(volume) == (1 if "name" in volume else 0):
        volume["emptyDir"] = {}
    for name in ("configMap", "secret", "downwardAPI", "projected"):
        if volume.get(name) is not None:
            volume[name].setdefault("defaultMode", MODE)
    if volume.get("hostPath") is not None:
        volume["hostPath"].setdefault("type", "")
    sources = [volume, *((volume.get("projected") or {}).get("sources") or ())]
    for source in sources:
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            if item.get("fieldRef") is not None:
                item["fieldRef"].setdefault("apiVersion", "v1")
        if source.get("serviceAccountToken") is not None:
            source["serviceAccountToken"].setdefault("expirationSeconds", TOKEN_SECONDS)
