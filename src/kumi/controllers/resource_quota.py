"""ResourceQuota: what is in force, and how much of it is used, in the quota's status.

The rule   hard is the spec's; used is the sum over the namespace of what each object uses (kumi.api.usage), for every name in
           hard; objects of kinds that others define are counted, too (count/<plural>.<group>)
Why        Admission counts for itself (kumi.registry.quota); the status is for people, and for clusters of other makers.
Cost       O(objects of the namespace of the kinds that are counted) a look.
Source     Kubernetes: resource quotas.
"""

from __future__ import annotations

import msgspec

from kumi.api.apiextensions import CustomObject, custom_kind_of
from kumi.api.limits import ResourceQuota
from kumi.api.meta import Object
from kumi.api.pod_requests import Amounts
from kumi.api.quantity import canonical
from kumi.api.scheme import Kind, Scheme
from kumi.api.usage import amount_text, concerns, in_scope, used_by
from kumi.api.wire import JsonObject
from kumi.runtime.reconcile import NOTHING, Keys, Outcome, Patch, Related, Watches, no_keys, own_key
from kumi.runtime.view import View


class ResourceQuotaController:
    """See the module. It reads every namespaced kind of the scheme, and those that others define."""

    name = "resourcequota-controller"

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._kinds = tuple(kind for kind in scheme if kind.namespaced and not kind.twin)

    @property
    def watches(self) -> Watches:
        """See Controller."""
        keys: dict[type[Object], Keys] = {kind.type: no_keys for kind in self._kinds}
        keys[CustomObject] = no_keys
        related: dict[type[Object], Related] = dict.fromkeys(keys, _quotas)
        return Watches({**keys, ResourceQuota: own_key}, related=related)

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        quota = view.get(ResourceQuota, namespace, name)
        if quota is None or quota.metadata.deletion_timestamp is not None:
            return NOTHING
        hard = {resource: canonical(amount) for resource, amount in sorted(quota.spec.hard.items())}
        used = self._used(view, quota)
        status: JsonObject = {
            "hard": hard,
            "used": {resource: amount_text(resource, used.get(resource, 0)) for resource in hard},
        }
        before = msgspec.to_builtins(quota.status)
        if before == status:
            return NOTHING
        gone = {part: {resource: None for resource in before[part] if resource not in status[part]} for part in status}
        body = {
            "metadata": {"resourceVersion": quota.metadata.resource_version},
            "status": {part: {**status[part], **gone[part]} for part in status},
        }
        return Outcome((Patch(self._scheme.of(ResourceQuota), namespace, name, body, subresource="status"),))

    def _used(self, view: View, quota: ResourceQuota) -> Amounts:
        spec = msgspec.to_builtins(quota.spec)
        if spec.get("scopeSelector") is None:
            spec.pop("scopeSelector", None)
        total: Amounts = {}
        for kind in self._kinds:
            if any(concerns(kind, resource) for resource in quota.spec.hard):
                self._add(view, kind, quota.metadata.namespace, spec, total)
        for obj in view.list(CustomObject, quota.metadata.namespace) if _counts_others(quota) else ():
            kind = custom_kind_of(obj)
            if in_scope(spec, kind, {}):
                _sum(total, used_by(kind, {}))
        return total

    def _add(self, view: View, kind: Kind, namespace: str, spec: JsonObject, total: Amounts) -> None:
        for obj in view.list(kind.type, namespace):
            built: JsonObject = msgspec.to_builtins(obj)
            if in_scope(spec, kind, built):
                _sum(total, used_by(kind, built))


def _sum(total: Amounts, used: Amounts) -> None:
    for resource, amount in used.items():
        total[resource] = total.get(resource, 0) + amount


def _counts_others(quota: ResourceQuota) -> bool:
    """Whether a kind of others may be among what it counts: those have a group."""
    return any(resource.startswith("count/") and "." in resource for resource in quota.spec.hard)


def _quotas(obj: Object, view: View) -> list[str]:
    """Those of the object's namespace."""
    return [quota.key for quota in view.list(ResourceQuota, obj.metadata.namespace)]
