"""What the cases have in common: manifests as objects and as a State, gates and configuration as Settings, units.

Integers of the cases are thousandths for cpu and whole units for everything else; Kumi counts `pods` and names with a `/` in
thousandths too. "unlimited" is the largest amount.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from kumi.api.meta import Object, parse_time
from kumi.api.quantity import MAX, format_amount, nano, unit_of
from kumi.api.scheme import load
from kumi.bridge.into import TYPES, Deltas
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.model import LocalQueue, Profile, Put, Workload
from kumi.engine.settings import FairSharing, FairStrategy, RequeueTime, Settings, Transformation, UsageSharing
from kumi.engine.state import State

Manifest = dict[str, Any]
Table = dict[str, dict[str, int | str]]
"""flavor -> resource -> integer of the cases"""

SCHEME = load()


def decoded(manifest: Manifest) -> Object:
    """The manifest as the object that the control plane has."""
    kind = SCHEME.of_object(manifest)
    assert kind is not None, f"{manifest.get('apiVersion')} {manifest.get('kind')} is not known"
    return msgspec.convert(manifest, kind.type)


def state_of(case: dict[str, Any], extra: tuple[Manifest, ...] = (), *, deltas: Deltas | None = None) -> State:
    """A state of Kueue's profile that has seen the case's objects, and `extra` after them; those the engine doesn't know are
    left out."""
    state = State(Profile(name="kueue", places=False, settings=settings_of(case)))
    deltas = deltas or Deltas(settings=settings_of(case))
    for manifest in (*case.get("objects", ()), *extra):
        kind = SCHEME.of_object(manifest)
        if kind is not None and kind.type in TYPES:
            state.apply(put(deltas, manifest))
    return state


def put(deltas: Deltas, manifest: Manifest) -> Put:
    """The manifest as a delta. Keys of the cases are always `namespace/name`, also in the empty namespace."""
    delta = deltas.put(decoded(manifest))
    if isinstance(delta.noun, Workload | LocalQueue) and "/" not in delta.noun.key:
        return Put(replace(delta.noun, key=f"/{delta.noun.key}"))
    return delta


def now_ms(case: dict[str, Any]) -> int:
    """The case's clock."""
    return parse_time(case.get("now") or "2026-01-01T12:00:00Z") or 0


def gate(case: dict[str, Any], name: str) -> bool:
    """Is this feature gate on? The case's own word, or the default."""
    said = case.get("featureGates") or {}
    return bool(said.get(name, DEFAULT_ON.get(name, True)))


DEFAULT_ON = {"PriorityBoost": False, "PrioritizePreemptorWorkloads": False, "ConcurrentAdmission": False}
"""gates that are off unless a case says otherwise; all others that are asked for are on"""


def settings_of(case: dict[str, Any]) -> Settings:
    """Configuration and gates as the engine's settings."""
    config = case.get("config") or {}
    fair = None
    if config.get("fairSharing"):
        named = config.get("preemptionStrategies") or [s.value for s in FairSharing().strategies]
        fair = FairSharing(
            strategies=tuple(FairStrategy(name) for name in named),
            within_nominal=gate(case, "FairSharingPreemptWithinNominal"),
            non_borrowing_first=gate(case, "FairSharingPrioritizeNonBorrowing"),
        )
    return Settings(
        fair=fair,
        by_usage=_usage_sharing(config.get("afs")) if gate(case, "AdmissionFairSharing") else None,
        requeue_time=RequeueTime(config.get("podsReadyRequeuingTimestamp") or "Eviction"),
        block_undeclared=config.get("quotaCheckStrategy", "BlockUndeclared") != "IgnoreUndeclared",
        priority_in_cohort=gate(case, "PrioritySortingWithinCohort"),
        recompute_overlap=gate(case, "RecomputeAssignmentUponPreemptionTargetsOverlap"),
        partial_admission=gate(case, "PartialAdmission"),
        reclaimable=gate(case, "ReclaimablePods"),
        preemptors_first=gate(case, "PrioritizePreemptorWorkloads"),
        priority_boost=gate(case, "PriorityBoost"),
        excluded_prefixes=tuple(config.get("excludedResourcePrefixes") or ()),
        transformations=tuple(_transformation(raw) for raw in config.get("resourceTransformations") or ()),
    )


def _transformation(raw: dict[str, Any]) -> Transformation:
    return Transformation(
        input=raw["input"],
        outputs=tuple((name, nano(factor)) for name, factor in sorted(raw["outputs"].items())),
        replace=raw.get("strategy") == "Replace",
        multiply_by=raw.get("multiplyBy", ""),
    )


def _usage_sharing(config: dict[str, Any] | bool | None) -> UsageSharing | None:
    if config is None or config is False:
        return None
    said = config if isinstance(config, dict) else {}
    weights = said.get("resourceWeights") or {}
    return UsageSharing(
        half_life_ms=int(1000 * said.get("usageHalfLifeTimeSeconds", 0)),
        sampling_ms=int(1000 * said.get("usageSamplingIntervalSeconds", 300)),
        weights=tuple(sorted((name, float(weight)) for name, weight in weights.items())),
    )


def amount(resource: str, integer: int | str) -> int:
    """An integer of the cases in base units."""
    if integer == "unlimited":
        return MAX
    own = unit_of(resource)
    return min(MAX, int(integer) * (own if resource != "cpu" else 1))


def integer(resource: str, base: int) -> int | str:
    """An amount in base units as the cases have it."""
    unit = 1 if resource == "cpu" else unit_of(resource)
    return "unlimited" if base >= MAX else -(-base // unit)


def amounts(table: Table) -> dict[FlavorResource, int]:
    """Integers by flavor and resource, as amounts."""
    return {(f, r): amount(r, n) for f, by_resource in table.items() for r, n in by_resource.items()}


def integers(of: dict[FlavorResource, int]) -> dict[str, dict[str, int | str]]:
    """Amounts as integers by flavor and resource."""
    table: dict[str, dict[str, int | str]] = {}
    for (flavor, resource), base in of.items():
        table.setdefault(flavor, {})[resource] = integer(resource, base)
    return table


def quantities(of: dict[str, int]) -> dict[str, str]:
    """Base units as quantities, by resource."""
    return {resource: format_amount(resource, base) for resource, base in of.items()}
