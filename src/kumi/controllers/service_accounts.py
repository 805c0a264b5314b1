"""Every namespace has the service account `default`, which pods run as that name none.

The rule   an active namespace without it gets it; one that was deleted comes back.
Source     Kubernetes: service accounts; managing service accounts (ServiceAccount controller).
"""

from __future__ import annotations

from kumi.api.core import Namespace, ServiceAccount
from kumi.runtime.reconcile import NOTHING, Create, Outcome, Watches
from kumi.runtime.view import View

DEFAULT = "default"


class ServiceAccounts:
    """See the module. Keys are namespaces."""

    name = "kumi-service-accounts"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches(
            {
                Namespace: lambda namespace: (namespace.metadata.name,),
                ServiceAccount: lambda a: (a.metadata.namespace,) if a.metadata.name == DEFAULT else (),
            }
        )

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace = view.get(Namespace, "", key)
        if namespace is None or namespace.metadata.deletion_timestamp is not None:
            return NOTHING
        if view.get(ServiceAccount, key, DEFAULT) is not None:
            return NOTHING
        metadata = {"name": DEFAULT, "namespace": key}
        return Outcome((Create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}),))
