"""Validation of the apps group: Deployment, ReplicaSet, StatefulSet, DaemonSet, ControllerRevision.

    a selector that selects something, and selects the template's own labels; pods that restart always and have no deadline
    what is fixed: selectors; of a StatefulSet all but the fields of _CHANGES; the data of a ControllerRevision
Source     Kubernetes: API reference of each kind.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.validation.amounts import at_most_all, is_zero, number_or_percent
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import label, subdomain
from kumi.api.validation.pod import pod_template
from kumi.api.validation.selector import label_selector, selects
from kumi.api.validation.words import forbidden, immutable, not_negative, not_supported, required
from kumi.api.wire import JsonObject

_COUNTS = ("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
_CHANGES = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
"""what may change in a StatefulSet's spec"""
_RETENTION = ("Retain", "Delete")


def _deployment(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = _workload(spec, "deployment")
    strategy = spec.get("strategy") or {}
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    here = "spec.strategy"
    if kind == "Recreate":
        if rolling is not None:
            errors.append(forbidden(f"{here}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"))
    elif kind == "RollingUpdate":
        errors += _rolling(rolling, f"{here}.rollingUpdate")
    else:
        errors.append(not_supported(f"{here}.type", kind, ("Recreate", "RollingUpdate")))
    deadline, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds") or 0
    if deadline is not None and 0 <= deadline <= ready:
        errors.append(
            FieldError("spec.progressDeadlineSeconds", "must be greater than minReadySeconds", value=deadline)
        )
    return errors + _same_selector(spec, old)


def _replica_set(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    return _workload(spec, "deployment") + _same_selector(spec, old)


def _daemon_set(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = _workload(spec, "daemonset")
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") == "RollingUpdate":
        rolling = strategy.get("rollingUpdate") or {}
        errors += _rolling(strategy.get("rollingUpdate"), "spec.updateStrategy.rollingUpdate")
        if not errors and not is_zero(rolling.get("maxUnavailable")) and not is_zero(rolling.get("maxSurge")):
            path = "spec.updateStrategy.rollingUpdate.maxSurge"
            errors.append(FieldError(path, "may not be set when `maxUnavailable` is not 0", value=rolling["maxSurge"]))
    elif strategy.get("type") != "OnDelete":
        errors.append(not_supported("spec.updateStrategy.type", strategy.get("type"), ("RollingUpdate", "OnDelete")))
    return errors + _same_selector(spec, old)


def _stateful_set(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = _workload(_with_claims(spec), "statefulset")
    policy = spec.get("podManagementPolicy")
    if policy not in ("OrderedReady", "Parallel"):
        errors.append(not_supported("spec.podManagementPolicy", policy, ("OrderedReady", "Parallel")))
    strategy = spec.get("updateStrategy") or {}
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    here = "spec.updateStrategy"
    if kind == "RollingUpdate":
        errors += not_negative(f"{here}.rollingUpdate.partition", (rolling or {}).get("partition"))
    elif kind == "OnDelete":
        if rolling is not None:
            errors.append(FieldError(f"{here}.rollingUpdate", "only allowed for updateStrategy 'RollingUpdate'"))
    else:
        errors.append(not_supported(f"{here}.type", kind, ("RollingUpdate", "OnDelete")))
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        if retention.get(field) not in (None, *_RETENTION):
            path = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
            errors.append(not_supported(path, retention[field], _RETENTION))
    errors += not_negative("spec.ordinals.start", (spec.get("ordinals") or {}).get("start"))
    if old is not None:
        before = old.get("spec") or {}
        if any(spec.get(key) != before.get(key) for key in {*spec, *before}.difference(_CHANGES)):
            words = [f"'{word}'" for word in _CHANGES]
            fields = f"{', '.join(words[:-1])} and {words[-1]}"
            errors.append(
                forbidden("spec", f"updates to statefulset spec for fields other than {fields} are forbidden")
            )
    return errors


def _with_claims(spec: JsonObject) -> JsonObject:
    """The spec with the volumes that each pod gets for its claim templates, which mounts may name."""
    template = spec.get("template") or {}
    pods = template.get("spec") or {}
    there = pods.get("volumes") or []
    own = [(claim.get("metadata") or {}).get("name") for claim in spec.get("volumeClaimTemplates") or ()]
    names = {volume.get("name") for volume in there}
    given = [{"name": name, "emptyDir": {}} for name in dict.fromkeys(own) if name and name not in names]
    return {**spec, "template": {**template, "spec": {**pods, "volumes": [*there, *given]}}} if given else spec


def _controller_revision(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    errors = not_negative("revision", new.get("revision"))
    if new.get("data") is None:
        errors.append(required("data", "data is mandatory"))
    if old is not None:
        errors += immutable("data", new.get("data"), old.get("data"))
    return errors


def _workload(spec: JsonObject, word: str) -> list[FieldError]:
    """Counts, selector and template."""
    errors = [error for field in _COUNTS for error in not_negative(f"spec.{field}", spec.get(field))]
    selector, template = spec.get("selector"), spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    if selector is None:
        errors.append(required("spec.selector"))
    else:
        errors += label_selector(selector, "spec.selector")
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            errors.append(FieldError("spec.selector", f"empty selector is invalid for {word}", value=selector))
    if selector and not selects(selector, labels):
        detail = "`selector` does not match template `labels`"
        errors.append(FieldError("spec.template.metadata.labels", detail, value=labels))
    errors += pod_template(template, "spec.template")
    pods = template.get("spec") or {}
    if pods.get("restartPolicy") not in (None, "", "Always"):
        errors.append(not_supported("spec.template.spec.restartPolicy", pods["restartPolicy"], ("Always",)))
    if pods.get("activeDeadlineSeconds") is not None:
        errors.append(
            forbidden("spec.template.spec.activeDeadlineSeconds", f"activeDeadlineSeconds in {word} is not Supported")
        )
    return errors


def _rolling(rolling: JsonObject | None, path: str) -> list[FieldError]:
    if rolling is None:
        return [required(path, "this should be defaulted and never be nil")]
    missing, surplus = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    errors = number_or_percent(missing, f"{path}.maxUnavailable") + number_or_percent(surplus, f"{path}.maxSurge")
    if not errors and is_zero(missing) and is_zero(surplus):
        errors.append(FieldError(f"{path}.maxUnavailable", "may not be 0 when `maxSurge` is 0", value=missing))
    return errors + at_most_all(missing, f"{path}.maxUnavailable")


def _same_selector(spec: JsonObject, old: JsonObject | None) -> list[FieldError]:
    if old is None:
        return []
    return immutable("spec.selector", spec.get("selector"), (old.get("spec") or {}).get("selector"))


validate_deployment = with_metadata(subdomain, _deployment)
validate_replica_set = with_metadata(subdomain, _replica_set)
validate_daemon_set = with_metadata(subdomain, _daemon_set)
validate_stateful_set = with_metadata(label, _stateful_set)
validate_controller_revision = with_metadata(subdomain, _controller_revision)
