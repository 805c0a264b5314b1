"""Validation of a pod's volumes: each has a name of its own and one source, which says what it needs.

Source     Kubernetes: Volume API reference.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.quantity import QuantityError, nano
from kumi.api.validation.names import label
from kumi.api.validation.words import duplicate, forbidden, required
from kumi.api.wire import JsonObject

_NEEDED = {
    "hostPath": "path",
    "configMap": "name",
    "secret": "secretName",
    "persistentVolumeClaim": "claimName",
    "nfs": "server",
    "csi": "driver",
}
_MODES = range(0o1000)


def volumes(given: list[JsonObject], path: str) -> tuple[set[str], list[FieldError]]:
    """The names that mounts may use, and every wrong field."""
    names: set[str] = set()
    errors = []
    for index, volume in enumerate(given):
        here, name = f"{path}[{index}]", volume.get("name")
        if not name:
            errors.append(required(f"{here}.name"))
        elif label(name):
            errors.append(FieldError(f"{here}.name", label(name), value=name))
        elif name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(str(name))
        errors += _source(volume, here)
    return names, errors


def _source(volume: JsonObject, path: str) -> list[FieldError]:
    sources = [key for key, value in volume.items() if key != "name" and value is not None]
    if not sources:
        return [required(path, "must specify a volume type")]
    errors = [forbidden(f"{path}.{key}", "may not specify more than 1 volume type") for key in sources[1:]]
    kind, source = sources[0], volume[sources[0]]
    needed = _NEEDED.get(kind)
    if needed and not source.get(needed):
        errors.append(required(f"{path}.{kind}.{needed}"))
    if kind == "hostPath" and ".." in str(source.get("path", "")).split("/"):
        errors.append(FieldError(f"{path}.hostPath.path", "must not contain '..'", value=source["path"]))
    mode = source.get("defaultMode") if isinstance(source, dict) else None
    if mode is not None and mode not in _MODES:
        errors.append(FieldError(f"{path}.{kind}.defaultMode", "must be between 0 and 0777 (octal)", value=mode))
    if kind in ("configMap", "secret"):
        errors += _items(source.get("items") or [], f"{path}.{kind}.items")
    size = source.get("sizeLimit") if kind == "emptyDir" else None
    if size is not None:
        try:
            negative = nano(size) < 0
        except QuantityError as error:
            errors.append(FieldError(f"{path}.emptyDir.sizeLimit", str(error), value=size))
        else:
            if negative:
                errors.append(forbidden(f"{path}.emptyDir.sizeLimit", "must not be negative"))
    return errors


def _items(items: list[JsonObject], path: str) -> list[FieldError]:
    errors = []
    for index, item in enumerate(items):
        here, target = f"{path}[{index}]", str(item.get("path") or "")
        errors += [required(f"{here}.{field}") for field in ("key", "path") if not item.get(field)]
        if target.startswith("/") or ".." in target.split("/"):
            errors.append(FieldError(f"{here}.path", "must be a relative path without '..'", value=target))
    return errors
