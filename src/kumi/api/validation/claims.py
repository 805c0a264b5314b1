"""Validation of PersistentVolume, PersistentVolumeClaim, StorageClass and CSINode.

    access modes that are known, ReadWriteOncePod alone; storage above 0; one source a volume
    a CSI volume's driver and handle; a volume's node affinity: terms of a node selector
    a class's topologies: keys with values, each key once a term, each term once
    a node's drivers by names that differ, each with the node's name there, and no number below 0
    what is fixed: a bound claim's spec but its size, which may grow; a volume's source; of a class all but expansion
Stays      a source, an affinity and topologies that are stored as they are and are wrong keep nobody from writing the rest.
Source     Kubernetes: persistent volumes, storage classes, CSI.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.quantity import QuantityError, nano
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import qualified, subdomain
from kumi.api.validation.placement import node_selector
from kumi.api.validation.selector import label_selector
from kumi.api.validation.words import (
    duplicate,
    forbidden,
    immutable,
    not_negative,
    not_supported,
    required,
)
from kumi.api.wire import JsonObject

MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES = ("Block", "Filesystem")
_RECLAIM = ("Delete", "Recycle", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")
OWN_DRIVER = "kumi.dev/local"
"""the driver of directories of this machine: the only one that is no name of a CSI driver"""
_LONGEST_DRIVER = 63
_NO_SOURCE = {
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
}
"""what a volume's spec says beside its source"""


def _claim(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = _modes(spec, "spec.accessModes")
    if spec.get("selector") is not None:
        errors += label_selector(spec["selector"], "spec.selector")
    errors += _storage((spec.get("resources") or {}).get("requests") or {}, "spec.resources")
    errors += _class_name(spec) + _volume_mode(spec)
    if old is not None:
        before = old.get("spec") or {}
        if any(spec.get(key) != before.get(key) for key in {*spec, *before} - _may_change(before)):
            detail = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
            errors.append(forbidden("spec", detail))
        errors += _grows(spec, before)
    return errors


def _may_change(before: JsonObject) -> set[str]:
    changes = {"resources", "volumeAttributesClassName"}
    if not before.get("volumeName"):
        changes |= {"volumeName"}
    if before.get("storageClassName") is None:
        changes |= {"storageClassName"}
    return changes


def _grows(spec: JsonObject, before: JsonObject) -> list[FieldError]:
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    had = ((before.get("resources") or {}).get("requests") or {}).get("storage")
    if asked == had or asked is None or had is None:
        return []
    if not before.get("volumeName"):
        return [forbidden("spec", "spec is immutable after creation except resources.requests for bound claims")]
    if nano(asked) < nano(had):
        return [forbidden("spec.resources.requests.storage", "field can not be less than previous value")]
    return []


def _volume(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = _modes(spec, "spec.accessModes")
    capacity = spec.get("capacity") or {}
    if not capacity:
        errors.append(required("spec.capacity"))
    else:
        errors += _storage(capacity, "spec.capacity")
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy not in _RECLAIM:
        errors.append(not_supported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM))
    before = (old or {}).get("spec") or {}
    errors += _source(spec, before)
    if spec.get("nodeAffinity") is not None and spec["nodeAffinity"] != before.get("nodeAffinity"):
        errors += _node_affinity(spec["nodeAffinity"], "spec.nodeAffinity")
    errors += _class_name(spec) + _volume_mode(spec)
    if old is not None:
        if any(spec.get(key) != before.get(key) for key in {*spec, *before} - _NO_SOURCE):
            errors.append(
                forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")
            )
        errors += immutable("spec.volumeMode", spec.get("volumeMode"), before.get("volumeMode"))
    return errors


def _source(spec: JsonObject, before: JsonObject) -> list[FieldError]:
    errors = []
    sources = sorted(spec.keys() - _NO_SOURCE)
    if not sources:
        errors.append(required("spec", "must specify a volume type"))
    for more in sources[1:]:
        errors.append(forbidden(f"spec.{more}", "may not specify more than 1 volume type"))
    if "hostPath" in spec and not (spec["hostPath"] or {}).get("path"):
        errors.append(required("spec.hostPath.path"))
    if "local" in spec:
        if not (spec["local"] or {}).get("path"):
            errors.append(required("spec.local.path"))
        if spec.get("nodeAffinity") is None:
            errors.append(required("spec.nodeAffinity", "Local volume requires node affinity"))
    if spec.get("csi") is not None and spec["csi"] != before.get("csi"):
        errors += _csi(spec["csi"])
    return errors


def _csi(source: JsonObject) -> list[FieldError]:
    driver = source.get("driver") or ""
    errors = []
    if not driver:
        errors.append(required("spec.csi.driver"))
    elif len(driver) > _LONGEST_DRIVER:
        detail = f"may not be more than {_LONGEST_DRIVER} bytes"
        errors.append(FieldError("spec.csi.driver", detail, "FieldValueTooLong", driver))
    elif driver != OWN_DRIVER and (wrong := subdomain(driver.lower())):
        errors.append(FieldError("spec.csi.driver", wrong, value=driver))
    if not source.get("volumeHandle"):
        errors.append(required("spec.csi.volumeHandle"))
    return errors


def _node_affinity(affinity: JsonObject, path: str) -> list[FieldError]:
    if affinity.get("required") is None:
        return [required(f"{path}.required", "must specify required node constraints")]
    return node_selector(affinity["required"], f"{path}.required")


def _modes(spec: JsonObject, path: str) -> list[FieldError]:
    modes = spec.get("accessModes") or []
    if not modes:
        return [required(path, "at least 1 access mode is required")]
    errors = [not_supported(path, mode, MODES) for mode in modes if mode not in MODES]
    if "ReadWriteOncePod" in modes and len({*modes}) > 1:
        errors.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def _storage(amounts: JsonObject, path: str) -> list[FieldError]:
    if "storage" not in amounts:
        return [required(f"{path}[storage]" if path == "spec.resources" else path)]
    try:
        size = nano(amounts["storage"])
    except QuantityError as error:
        return [FieldError(f"{path}[storage]", str(error), value=amounts["storage"])]
    if size <= 0:
        return [FieldError(f"{path}[storage]", "must be greater than zero", value=str(amounts["storage"]))]
    return []


def _class_name(spec: JsonObject) -> list[FieldError]:
    name = spec.get("storageClassName")
    wrong = subdomain(name) if name else ""
    return [FieldError("spec.storageClassName", wrong, value=name)] if wrong else []


def _volume_mode(spec: JsonObject) -> list[FieldError]:
    mode = spec.get("volumeMode")
    return [not_supported("spec.volumeMode", mode, _VOLUME_MODES)] if mode not in (None, *_VOLUME_MODES) else []


def _storage_class(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    errors = []
    if not new.get("provisioner"):
        errors.append(required("provisioner"))
    if new.get("reclaimPolicy") not in ("Delete", "Retain"):
        errors.append(not_supported("reclaimPolicy", new.get("reclaimPolicy"), ("Delete", "Retain")))
    if new.get("volumeBindingMode") not in _BINDING:
        errors.append(not_supported("volumeBindingMode", new.get("volumeBindingMode"), _BINDING))
    topologies = new.get("allowedTopologies") or []
    if topologies != ((old or {}).get("allowedTopologies") or []):
        errors += _topologies(topologies)
    if old is not None:
        if (new.get("parameters") or {}) != (old.get("parameters") or {}):
            errors.append(forbidden("parameters", "updates to parameters are forbidden."))
        if new.get("provisioner") != old.get("provisioner"):
            errors.append(forbidden("provisioner", "updates to provisioner are forbidden."))
        for field in ("reclaimPolicy", "volumeBindingMode"):
            errors += immutable(field, new.get(field), old.get(field))
    return errors


def _topologies(terms: list[JsonObject]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: list[dict[str, set[str]]] = []
    for number, term in enumerate(terms):
        path, said = f"allowedTopologies[{number}].matchLabelExpressions", dict[str, set[str]]()
        for index, rule in enumerate(term.get("matchLabelExpressions") or ()):
            here, key, values = f"{path}[{index}]", rule.get("key") or "", rule.get("values") or []
            if not values:
                errors.append(required(f"{here}.values"))
            again = (place for place, value in enumerate(values) if value in values[:place])
            errors += [duplicate(f"{here}.values[{place}]", values[place]) for place in again]
            if wrong := qualified(key):
                errors.append(FieldError(f"{here}.key", wrong, value=key))
            if key in said:
                errors.append(duplicate(f"{here}.key", key))
            said[key] = set(values)
        if said in seen:
            errors.append(duplicate(path, ""))
        seen.append(said)
    return errors


def _csi_node(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    for number, driver in enumerate((new.get("spec") or {}).get("drivers") or ()):
        path, name = f"spec.drivers[{number}]", driver.get("name") or ""
        if not name:
            errors.append(required(f"{path}.name"))
        elif wrong := subdomain(name):
            errors.append(FieldError(f"{path}.name", wrong, value=name))
        elif name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
        if not driver.get("nodeID"):
            errors.append(required(f"{path}.nodeID"))
        errors += not_negative(f"{path}.allocatable.count", (driver.get("allocatable") or {}).get("count"))
    return errors


validate_claim = with_metadata(subdomain, _claim)
validate_volume = with_metadata(subdomain, _volume)
validate_storage_class = with_metadata(subdomain, _storage_class)
validate_csi_node = with_metadata(subdomain, _csi_node)
