"""Configuration: what Kueue's Configuration file says, read as settings.

The rule       these sections count; their fields, words and defaults are Kueue's (v1beta2; of v1beta1 what differs):
                   fairSharing            preemptionStrategies; it is in force where it is given (v1beta1: where `enable` is)
                   admissionFairSharing   usageHalfLifeTime, usageSamplingInterval, resourceWeights
                   waitForPodsReady       timeout, recoveryTimeout, blockAdmission, requeuingStrategy {timestamp,
                                          backoffLimitCount, backoffBaseSeconds, backoffMaxSeconds}
                   resources              excludeResourcePrefixes, transformations [{input, strategy, multiplyBy, outputs}],
                                          quotaCheckStrategy
                   objectRetentionPolicies  workloads {afterFinished}
                   featureGates           those of GATES; others are read and make no difference
               The others that Kueue knows (OTHERS) are about its own processes: they may be there and make no difference.
Wrong fields   every one at once, with its path: one that is not known, a value of another kind or out of range.
Units          milliseconds; factors of transformations thousand-millionths.
Source         Kueue: Configuration API.
Not here       what the settings mean: settings.py; Kumi's own fields: policy.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from kumi.api.errors import FieldError
from kumi.engine.fields import Section
from kumi.engine.settings import (
    FairSharing,
    FairStrategy,
    PodsReady,
    RequeueTime,
    Settings,
    Transformation,
    UsageSharing,
)

T = TypeVar("T")

GROUP = "config.kueue.x-k8s.io"
OLD, NEW = f"{GROUP}/v1beta1", f"{GROUP}/v1beta2"

SECTIONS = (
    "fairSharing",
    "admissionFairSharing",
    "waitForPodsReady",
    "resources",
    "objectRetentionPolicies",
    "featureGates",
)
OTHERS = (
    "namespace",
    "webhook",
    "leaderElection",
    "metrics",
    "health",
    "pprofBindAddress",
    "controller",
    "manageJobsWithoutQueueName",
    "managedJobsNamespaceSelector",
    "internalCertManagement",
    "clientConnection",
    "integrations",
    "queueVisibility",
    "multiKueue",
    "visibilityServer",
    "tls",
    "cacheSyncPeriod",
    "syncPeriod",
    "gracefulShutDown",
    "cacheNamespace",
)
"""what else Kueue's file may have"""

GATES: dict[str, Callable[[Settings, bool], Settings]] = {
    "PartialAdmission": lambda s, on: replace(s, partial_admission=on),
    "ReclaimablePods": lambda s, on: replace(s, reclaimable=on),
    "PrioritySortingWithinCohort": lambda s, on: replace(s, priority_in_cohort=on),
    "RecomputeAssignmentUponPreemptionTargetsOverlap": lambda s, on: replace(s, recompute_overlap=on),
    "PriorityBoost": lambda s, on: replace(s, priority_boost=on),
    "QuotaCheckStrategy": lambda s, on: s if on else replace(s, block_undeclared=True),
    "AdmissionFairSharing": lambda s, on: s if on else replace(s, by_usage=None),
    "FairSharingPreemptWithinNominal": lambda s, on: _fair(s, lambda f: replace(f, within_nominal=on)),
    "FairSharingPrioritizeNonBorrowing": lambda s, on: _fair(s, lambda f: replace(f, non_borrowing_first=on)),
}
"""the gates that count, and what each does to the settings that the other sections gave"""


def is_configuration(raw: Mapping[str, Any]) -> bool:
    """Is it Kueue's own file?"""
    return str(raw.get("apiVersion", "")).startswith(f"{GROUP}/")


def settings(raw: Mapping[str, Any], errors: list[FieldError]) -> Settings:
    """The settings that the sections of a file give; what is wrong is added to the errors."""
    old = raw.get("apiVersion") == OLD
    found = Settings(
        fair=_section(raw, "fairSharing", errors, lambda s: _fair_sharing(s, old=old)),
        by_usage=_section(raw, "admissionFairSharing", errors, _usage_sharing),
    )
    ready = _section(raw, "waitForPodsReady", errors, lambda s: _pods_ready(s, old=old))
    if ready is not None:
        found = replace(found, pods_ready=ready[0], requeue_time=ready[1])
    counting = _section(raw, "resources", errors, _resources)
    if counting is not None:
        excluded, transformations, block = counting
        found = replace(found, excluded_prefixes=excluded, transformations=transformations, block_undeclared=block)
    keep = _section(raw, "objectRetentionPolicies", errors, _retention)
    found = replace(found, keep_finished_ms=keep)
    for name, on in (_section(raw, "featureGates", errors, _gates) or {}).items():
        if name in GATES:
            found = GATES[name](found, on)
    return found


def _fair(found: Settings, change: Callable[[FairSharing], FairSharing]) -> Settings:
    return found if found.fair is None else replace(found, fair=change(found.fair))


def _fair_sharing(section: Section, *, old: bool) -> FairSharing | None:
    on = section.flag("enable", not old) if old else True
    given = section.words("preemptionStrategies", tuple(s.value for s in FairStrategy))
    section.done()
    if not on:
        return None
    return FairSharing(tuple(FairStrategy(name) for name in given)) if given else FairSharing()


def _usage_sharing(section: Section) -> UsageSharing:
    half_life = section.duration("usageHalfLifeTime", 0)
    sampling = section.duration("usageSamplingInterval", UsageSharing().sampling_ms, least=1)
    weights = section.numbers("resourceWeights")
    section.done()
    return UsageSharing(half_life, sampling, weights)


def _pods_ready(section: Section, *, old: bool) -> tuple[PodsReady | None, RequeueTime]:
    on = section.flag("enable", False) if old else True
    timeout = section.duration("timeout", 300_000 if old else PodsReady().timeout_ms, least=1)
    recovery = section.duration("recoveryTimeout", 0 if old else timeout)
    block = section.flag("blockAdmission", old)
    again = section.within("requeuingStrategy")
    turn = again.word("timestamp", tuple(t.value for t in RequeueTime), RequeueTime.EVICTION.value)
    limit = again.integer("backoffLimitCount", None)
    base = again.integer("backoffBaseSeconds", 60)
    most = again.integer("backoffMaxSeconds", 3600)
    again.done()
    section.done()
    ready = PodsReady(
        timeout, recovery, block, 1000 * (base or 0), 1000 * (most or 0), PodsReady().backoff_jitter, limit
    )
    return (ready if on else None), RequeueTime(turn)


def _resources(section: Section) -> tuple[tuple[str, ...], tuple[Transformation, ...], bool]:
    excluded = section.texts("excludeResourcePrefixes")
    transformations: list[Transformation] = []
    for item in section.items("transformations"):
        name = item.text("input", "")
        if not name:
            item.wrong("input", "the resource that is transformed", "FieldValueRequired")
        elif name in [t.input for t in transformations]:
            item.wrong("input", "each resource is transformed once", "FieldValueDuplicate", name)
        replaces = item.word("strategy", ("Retain", "Replace"), "Retain") == "Replace"
        transformations.append(Transformation(name, item.quantities("outputs"), replaces, item.text("multiplyBy", "")))
        item.done()
    block = section.word("quotaCheckStrategy", ("BlockUndeclared", "IgnoreUndeclared"), "BlockUndeclared")
    section.skip("deviceClassMappings")
    section.done()
    return excluded, tuple(transformations), block == "BlockUndeclared"


def _retention(section: Section) -> int | None:
    workloads = section.within("workloads")
    keep = workloads.duration("afterFinished", -1)
    workloads.skip("afterDeactivatedByKueue")
    workloads.done()
    section.done()
    return None if keep < 0 else keep


def _gates(section: Section) -> dict[str, bool]:
    return {name: section.flag(name, True) for name in sorted(section.raw)}


def _section(raw: Mapping[str, Any], name: str, errors: list[FieldError], read: Callable[[Section], T]) -> T | None:
    """The section as it is read; None where it isn't there, or is no mapping."""
    given = raw.get(name)
    if given is None:
        return None
    if not isinstance(given, Mapping):
        errors.append(FieldError(name, "must be a mapping", "FieldValueTypeInvalid"))
        return None
    return read(Section(name, given, errors))
