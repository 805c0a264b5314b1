"""Validation of kueue.x-k8s.io: ClusterQueue, Cohort, LocalQueue, ResourceFlavor and their like. Workload is a file of its own.

The rules of quotas (`spec.resourceGroups[i]`):
    a resource and a flavor are in one group at most; a flavor lists the group's coveredResources, in their order
    256 flavors and 256 resources in all groups at most, 512 pairs of them in one group
    no negative amount; borrowing and lending limits need a cohort (of a Cohort: a parent); a ClusterQueue lends at most
    its nominal quota
The rules of a ClusterQueue:
    a preference among flavors goes with TryNextFlavor in both cases; borrowWithinCohort needs reclaimWithinCohort
    an admission check is for flavors that the queue has; the weight of a share is 0 or more than 1n
    flavors tried all at once: one group that has all of them, and only TryPreferredFlavors has a last acceptable one
What is fixed: a LocalQueue's clusterQueue, an AdmissionCheck's controllerName, a Topology's levels, a ResourceFlavor
    with a topology as a whole
Errors     of labels are told at the map.
Source     Kueue v0.20: webhooks and the CEL rules of its API.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.quantity import QuantityError, nano
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import labels, qualified, subdomain
from kumi.api.validation.placement import taints, tolerations
from kumi.api.validation.selector import label_selector
from kumi.api.validation.words import duplicate, forbidden, immutable
from kumi.api.wire import JsonObject

MOST_IN_ALL = 256
MOST_PAIRS = 512
HOST_LEVEL = "kubernetes.io/hostname"


def cluster_queue_rules(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    """What a ClusterQueue must keep to, beside metadata and schema."""
    spec = new.get("spec") or {}
    groups = spec.get("resourceGroups") or []
    errors = _groups(groups, may_limit=bool(spec.get("cohortName")), lends_own=True)
    errors += label_selector(spec.get("namespaceSelector"), "spec.namespaceSelector")
    errors += _fungibility(spec.get("flavorFungibility") or {})
    errors += _preemption(spec.get("preemption") or {})
    errors += _weight(spec.get("fairSharing"))
    errors += _checks(spec.get("admissionChecksStrategy") or {}, groups)
    errors += _concurrent(spec.get("concurrentAdmissionPolicy"), groups)
    if old is not None:
        errors += _concurrent_update(spec, old.get("spec") or {})
    return errors


def cohort_rules(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    """What a Cohort must keep to."""
    spec = new.get("spec") or {}
    errors = _groups(spec.get("resourceGroups") or [], may_limit=bool(spec.get("parentName")), lends_own=False)
    return errors + _weight(spec.get("fairSharing"))


def resource_flavor_rules(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    """What a ResourceFlavor must keep to."""
    spec = new.get("spec") or {}
    errors = labels(spec.get("nodeLabels"), "spec.nodeLabels")
    errors += taints(spec.get("nodeTaints") or [], "spec.nodeTaints")
    errors += tolerations(spec.get("tolerations") or [], "spec.tolerations")
    if spec.get("topologyName") and not spec.get("nodeLabels"):
        errors.append(FieldError("spec", "at least one nodeLabel is required when topology is set", value="object"))
    for resource, weight in (spec.get("resourceWeights") or {}).items():
        if _amount(weight) <= 0:
            errors.append(FieldError(f"spec.resourceWeights[{resource}]", "must be greater than 0", value=weight))
    before = (old or {}).get("spec") or {}
    if before.get("topologyName") and spec != before:
        errors.append(FieldError("spec", "is immutable when topologyName is set", value="object"))
    return errors


def _local_queue(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    if old is None:
        return []
    return immutable("spec.clusterQueue", *((o.get("spec") or {}).get("clusterQueue") for o in (new, old)))


def _admission_check(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    if old is None:
        return []
    return immutable("spec.controllerName", *((o.get("spec") or {}).get("controllerName") for o in (new, old)))


def _topology(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    levels = [level.get("nodeLabel") or "" for level in (new.get("spec") or {}).get("levels") or ()]
    errors = []
    for index, name in enumerate(levels):
        here = f"spec.levels[{index}].nodeLabel"
        if qualified(name):
            errors.append(FieldError(here, qualified(name), value=name))
        elif name in levels[:index]:
            errors.append(duplicate(here, name))
        elif name == HOST_LEVEL and index < len(levels) - 1:
            errors.append(FieldError(here, f"{HOST_LEVEL} can only be the lowest level", value=name))
    if old is not None and (new.get("spec") or {}).get("levels") != (old.get("spec") or {}).get("levels"):
        errors.append(FieldError("spec.levels", "field is immutable", value="levels"))
    return errors


def _workload_priority_class(_new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    return []


validate_cluster_queue = with_metadata(subdomain, cluster_queue_rules)
validate_cohort = with_metadata(subdomain, cohort_rules)
validate_resource_flavor = with_metadata(subdomain, resource_flavor_rules)
validate_local_queue = with_metadata(subdomain, _local_queue)
validate_admission_check = with_metadata(subdomain, _admission_check)
validate_topology = with_metadata(subdomain, _topology)
validate_workload_priority_class = with_metadata(subdomain, _workload_priority_class)


def _groups(groups: list[JsonObject], *, may_limit: bool, lends_own: bool) -> list[FieldError]:
    """`may_limit`: there is somebody to borrow from and lend to; `lends_own`: no more than the nominal quota."""
    errors = []
    resources: set[str] = set()
    flavors: set[str] = set()
    for g, group in enumerate(groups):
        path = f"spec.resourceGroups[{g}]"
        covered = group.get("coveredResources") or []
        for r, name in enumerate(covered):
            here = f"{path}.coveredResources[{r}]"
            if qualified(name):
                errors.append(FieldError(here, qualified(name), value=name))
            if name in resources:
                errors.append(duplicate(here, name))
            resources.add(name)
        listed = group.get("flavors") or []
        for f, flavor in enumerate(listed):
            name, here = flavor.get("name") or "", f"{path}.flavors[{f}]"
            if name in flavors:
                errors.append(duplicate(f"{here}.name", name))
            flavors.add(name)
            errors += _quotas(flavor.get("resources") or [], covered, here, may_limit=may_limit, lends_own=lends_own)
        if len(covered) * len(listed) > MOST_PAIRS:
            detail = f"must have at most {MOST_PAIRS} pairs of resource and flavor"
            errors.append(FieldError(path, detail, value=len(covered) * len(listed)))
    for found, what in ((flavors, "flavors"), (resources, "resources")):
        if len(found) > MOST_IN_ALL:
            errors.append(
                FieldError("spec.resourceGroups", f"must have at most {MOST_IN_ALL} {what} in all", value=len(found))
            )
    return errors


def _quotas(
    quotas: list[JsonObject], covered: list[str], path: str, *, may_limit: bool, lends_own: bool
) -> list[FieldError]:
    errors = []
    if len(quotas) != len(covered):
        errors.append(FieldError(f"{path}.resources", "must match coveredResources in number", value=len(quotas)))
    for r, quota in enumerate(quotas):
        here, name = f"{path}.resources[{r}]", quota.get("name")
        if r < len(covered) and name != covered[r]:
            errors.append(
                FieldError(f"{here}.name", f"must match the name in coveredResources, {covered[r]}", value=name)
            )
        nominal = _amount(quota.get("nominalQuota"))
        for field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
            value = quota.get(field)
            if value is not None and _amount(value) < 0:
                errors.append(FieldError(f"{here}.{field}", "must be greater than or equal to 0", value=value))
            elif value is not None and field != "nominalQuota" and not may_limit:
                errors.append(FieldError(f"{here}.{field}", "must not be set without a cohort", value=value))
            elif field == "lendingLimit" and value is not None and lends_own and _amount(value) > nominal:
                errors.append(
                    FieldError(f"{here}.{field}", "must be less than or equal to the nominalQuota", value=value)
                )
    return errors


def _fungibility(given: JsonObject) -> list[FieldError]:
    preference = given.get("preference")
    both = given.get("whenCanBorrow") == given.get("whenCanPreempt") == "TryNextFlavor"
    if preference is None or both:
        return []
    detail = "can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor"
    return [FieldError("spec.flavorFungibility.preference", detail, value=preference)]


def _preemption(given: JsonObject) -> list[FieldError]:
    borrowing = (given.get("borrowWithinCohort") or {}).get("policy") or "Never"
    if (given.get("reclaimWithinCohort") or "Never") == "Never" and borrowing != "Never":
        detail = "reclaimWithinCohort=Never and borrowWithinCohort.policy!=Never"
        return [FieldError("spec.preemption", detail, value="object")]
    return []


def _weight(sharing: JsonObject | None) -> list[FieldError]:
    weight = (sharing or {}).get("weight")
    if weight is None:
        return []
    amount = _amount(weight)
    if amount < 0:
        return [FieldError("spec.fairSharing", "must be greater than or equal to 0", value=weight)]
    if 0 < amount <= 1:
        return [FieldError("spec.fairSharing", "when not 0, it must be greater than 1n", value=weight)]
    return []


def _checks(strategy: JsonObject, groups: list[JsonObject]) -> list[FieldError]:
    known = _flavor_names(groups)
    errors = []
    for c, rule in enumerate(strategy.get("admissionChecks") or ()):
        for f, flavor in enumerate(rule.get("onFlavors") or ()):
            if flavor not in known:
                here = f"spec.admissionChecksStrategy.admissionChecks[{c}].onFlavors[{f}]"
                words = ", ".join(f'"{name}"' for name in known)
                errors.append(FieldError(here, f"supported values: {words}", "FieldValueNotSupported", flavor))
    return errors


def _concurrent(policy: JsonObject | None, groups: list[JsonObject]) -> list[FieldError]:
    if policy is None:
        return []
    errors = []
    if len(groups) != 1:
        detail = "there must be exactly one resource group when flavors are tried at once"
        errors.append(FieldError("spec.resourceGroups", detail, value=len(groups)))
    migration, path = policy.get("migration") or {}, "spec.concurrentAdmissionPolicy.migration.constraints"
    constraints = migration.get("constraints")
    if constraints is None:
        return errors
    if migration.get("mode") == "RetainFirstAdmission":
        errors.append(forbidden(path, "must not be set when mode is RetainFirstAdmission"))
    last = constraints.get("lastAcceptableFlavorName")
    if last is not None and last not in _flavor_names(groups):
        errors.append(FieldError(f"{path}.lastAcceptableFlavorName", "must be one of the queue's flavors", value=last))
    return errors


def _concurrent_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    path = "spec.concurrentAdmissionPolicy"
    was, now = old.get("concurrentAdmissionPolicy"), new.get("concurrentAdmissionPolicy")
    if (was is None) != (now is None):
        return [FieldError(path, "can't be added or removed", value="object")]
    return []


def _flavor_names(groups: list[JsonObject]) -> list[str]:
    return [flavor.get("name") or "" for group in groups for flavor in group.get("flavors") or ()]


def _amount(value: str | int | float | None) -> int:
    """In thousand-millionths; 0 for what is no quantity, which the schema tells."""
    if value is None:
        return 0
    try:
        return nano(value)
    except QuantityError:
        return 0
