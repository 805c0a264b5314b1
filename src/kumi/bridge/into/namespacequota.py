"""ResourceQuota -> NamespaceQuota: what its controller last saw in force and used, in base units.

Source     Kubernetes: resource quotas.
Not here   which objects count for it: controllers/resource_quota.py.
"""

from __future__ import annotations

from kumi.api.limits import ResourceQuota
from kumi.bridge.into.queue import amounts
from kumi.engine import gangs


def namespacequota(view: ResourceQuota) -> gangs.NamespaceQuota:
    """See the module. KumiError for a quantity that can't be read."""
    return gangs.NamespaceQuota(view.key, amounts(view.status.hard), amounts(view.status.used))
