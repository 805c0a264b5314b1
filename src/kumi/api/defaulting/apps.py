"""Defaults of the apps group: how many replicas, how they are replaced, how much history is kept.

Source     Kubernetes: API reference of each kind.
"""

from __future__ import annotations

from kumi.api.defaulting.pod import default_template
from kumi.api.wire import JsonObject

HISTORY = 10
DEADLINE_SECONDS = 600
QUARTER = "25%"


def default_deployment(deployment: JsonObject) -> None:
    """A quarter of the pods may be missing, a quarter too many; ten minutes to make progress."""
    spec = _replicated(deployment)
    strategy = spec.setdefault("strategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", QUARTER)
        rolling.setdefault("maxSurge", QUARTER)
    spec.setdefault("revisionHistoryLimit", HISTORY)
    spec.setdefault("progressDeadlineSeconds", DEADLINE_SECONDS)


def default_replica_set(replica_set: JsonObject) -> None:
    """One replica."""
    _replicated(replica_set)


def default_stateful_set(stateful_set: JsonObject) -> None:
    """One pod after the other, all of them replaced, claims kept."""
    spec = _replicated(stateful_set)
    if not spec.get("podManagementPolicy"):
        spec["podManagementPolicy"] = "OrderedReady"
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("revisionHistoryLimit", HISTORY)
    for claim in spec.get("volumeClaimTemplates") or ():
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
        claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
        claim.setdefault("status", {}).setdefault("phase", "Pending")


def default_daemon_set(daemon_set: JsonObject) -> None:
    """One pod at a time is replaced."""
    spec = daemon_set.setdefault("spec", {})
    default_template(spec.setdefault("template", {}))
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", HISTORY)


def _replicated(obj: JsonObject) -> JsonObject:
    spec: JsonObject = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    default_template(spec.setdefault("template", {}))
    return spec
