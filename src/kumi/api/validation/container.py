"""Validation of the containers of a pod: names, image, ports, environment, mounts, resources, policies.

Source     Kubernetes: Container API reference.
"""

from __future__ import annotations

from collections.abc import Container as Holds

from kumi.api.errors import FieldError
from kumi.api.validation.names import env_name, label, port_name
from kumi.api.validation.resources import requirements
from kumi.api.validation.words import duplicate, not_supported, required
from kumi.api.wire import JsonObject

_PULL = ("Always", "IfNotPresent", "Never")
_MESSAGES = ("File", "FallbackToLogsOnError")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_PORTS = range(1, 65536)


def containers(spec: JsonObject, path: str, volumes: Holds[str]) -> list[FieldError]:
    """All of a spec; names are unique among init containers and containers together."""
    errors = []
    if not spec.get("containers"):
        errors.append(required(f"{path}.containers"))
    seen: set[str] = set()
    for field in ("initContainers", "containers"):
        for index, one in enumerate(spec.get(field) or ()):
            here, name = f"{path}.{field}[{index}]", one.get("name")
            if name in seen:
                errors.append(duplicate(f"{here}.name", name))
            seen.add(str(name))
            errors += _container(one, here, volumes)
            policy = one.get("restartPolicy")
            if policy and policy != "Always" and field == "initContainers" and not one.get("restartPolicyRules"):
                errors.append(not_supported(f"{here}.restartPolicy", policy, ("Always",)))
    return errors


def _container(one: JsonObject, path: str, volumes: Holds[str]) -> list[FieldError]:
    errors = []
    name, image = one.get("name"), one.get("image")
    if not name:
        errors.append(required(f"{path}.name"))
    elif label(name):
        errors.append(FieldError(f"{path}.name", label(name), value=name))
    if not image:
        errors.append(required(f"{path}.image"))
    elif image != image.strip():
        errors.append(FieldError(f"{path}.image", "must not have leading or trailing whitespace", value=image))
    for field, supported in (("imagePullPolicy", _PULL), ("terminationMessagePolicy", _MESSAGES)):
        if one.get(field) and one[field] not in supported:
            errors.append(not_supported(f"{path}.{field}", one[field], supported))
    errors += _ports(one.get("ports") or [], f"{path}.ports")
    errors += _environment(one.get("env") or [], f"{path}.env")
    errors += _environment_from(one.get("envFrom") or [], f"{path}.envFrom")
    errors += _mounts(one.get("volumeMounts") or [], f"{path}.volumeMounts", volumes)
    errors += requirements(one.get("resources"), f"{path}.resources")
    return errors


def _ports(ports: list[JsonObject], path: str) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        here, name, number = f"{path}[{index}]", port.get("name"), port.get("containerPort")
        if name:
            if port_name(name):
                errors.append(FieldError(f"{here}.name", port_name(name), value=name))
            elif name in seen:
                errors.append(duplicate(f"{here}.name", name))
            seen.add(name)
        if not number:
            errors.append(required(f"{here}.containerPort"))
        elif number not in _PORTS:
            errors.append(FieldError(f"{here}.containerPort", "must be between 1 and 65535, inclusive", value=number))
        host = port.get("hostPort")
        if host and host not in _PORTS:
            errors.append(FieldError(f"{here}.hostPort", "must be between 1 and 65535, inclusive", value=host))
        protocol = port.get("protocol")
        if protocol and protocol not in _PROTOCOLS:
            errors.append(not_supported(f"{here}.protocol", protocol, _PROTOCOLS))
    return errors


def _environment(variables: list[JsonObject], path: str) -> list[FieldError]:
    errors = []
    for index, variable in enumerate(variables):
        here, name, source = f"{path}[{index}]", variable.get("name"), variable.get("valueFrom")
        if not name:
            errors.append(required(f"{here}.name"))
        elif env_name(name):
            errors.append(FieldError(f"{here}.name", env_name(name), value=name))
        if source is None:
            continue
        given = [key for key in _SOURCES if source.get(key) is not None]
        if variable.get("value"):
            detail = "may not be specified when `value` is not empty"
            errors.append(FieldError(f"{here}.valueFrom", detail, value=""))
        elif len(given) != 1:
            words = ", ".join(f"`{key}`" for key in _SOURCES)
            detail = (
                f"must specify one of: {words}" if not given else "may not have more than one field specified at a time"
            )
            errors.append(FieldError(f"{here}.valueFrom", detail, value=""))
        for key in given:
            errors += _reference(source[key], key, f"{here}.valueFrom.{key}")
    return errors


def _reference(reference: JsonObject, kind: str, path: str) -> list[FieldError]:
    needed = {
        "fieldRef": ("fieldPath",),
        "resourceFieldRef": ("resource",),
        "configMapKeyRef": ("name", "key"),
        "secretKeyRef": ("name", "key"),
    }
    return [required(f"{path}.{field}") for field in needed.get(kind, ()) if not reference.get(field)]


def _environment_from(sources: list[JsonObject], path: str) -> list[FieldError]:
    errors = []
    for index, source in enumerate(sources):
        here = f"{path}[{index}]"
        given = [key for key in ("configMapRef", "secretRef") if source.get(key) is not None]
        if len(given) != 1:
            detail = "must specify one of: `configMapRef` or `secretRef`"
            errors.append(
                FieldError(here, detail if not given else "may not have more than one field specified", value="")
            )
        errors += [required(f"{here}.{key}.name") for key in given if not source[key].get("name")]
    return errors


def _mounts(mounts: list[JsonObject], path: str, volumes: Holds[str]) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    for index, mount in enumerate(mounts):
        here, name, target = f"{path}[{index}]", mount.get("name"), mount.get("mountPath")
        if not name:
            errors.append(required(f"{here}.name"))
        elif name not in volumes:
            errors.append(FieldError(f"{here}.name", "", "FieldValueNotFound", name))
        if not target:
            errors.append(required(f"{here}.mountPath"))
        elif target in seen:
            errors.append(FieldError(f"{here}.mountPath", "must be unique", value=target))
        seen.add(str(target))
        for field in ("subPath", "subPathExpr"):
            inner = mount.get(field) or ""
            if inner.startswith("/") or ".." in inner.split("/"):
                errors.append(FieldError(f"{here}.{field}", "must be a relative path without '..'", value=inner))
    return errors
