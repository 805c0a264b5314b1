"""Every namespace has the config map `kube-root-ca.crt`: the authority that pods trust the API server by.

The rule   the API server writes its own into SOURCE; every other active namespace has the same data. One that was changed or
           deleted is put right.
Why        a pod sees its own namespace only, and its token is no use without knowing whom to give it to.
Source     Kubernetes: service accounts; its behaviour as recorded (root CA publisher).
"""

from __future__ import annotations

from kumi.api.core import ConfigMap, Namespace
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.runtime.reconcile import NOTHING, Create, Outcome, Patch, Watches, Write
from kumi.runtime.view import View

NAME = "kube-root-ca.crt"
SOURCE = "kube-public"
EVERYWHERE = "*"
"""the key of all namespaces at once; no namespace is called so"""


class RootAuthority:
    """See the module. Keys are namespaces, and EVERYWHERE."""

    name = "kumi-root-authority"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({Namespace: lambda namespace: (namespace.metadata.name,), ConfigMap: _keys})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        source = view.get(ConfigMap, SOURCE, NAME)
        if source is None:
            return NOTHING
        if key == EVERYWHERE:
            names = [namespace.metadata.name for namespace in view.list(Namespace)]
            return Outcome(tuple(write for name in names for write in _missing(view, name, source.data)))
        return Outcome(_missing(view, key, source.data))


def _keys(config_map: Object) -> tuple[str, ...]:
    metadata = config_map.metadata
    if metadata.name != NAME:
        return ()
    return (EVERYWHERE,) if metadata.namespace == SOURCE else (metadata.namespace,)


def _missing(view: View, name: str, data: dict[str, str]) -> tuple[Write, ...]:
    namespace = view.get(Namespace, "", name)
    if name == SOURCE or namespace is None or namespace.metadata.deletion_timestamp is not None:
        return ()
    there = view.get(ConfigMap, name, NAME)
    if there is None:
        metadata = {"name": NAME, "namespace": name}
        return (Create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}),)
    if there.data == data:
        return ()
    gone = {key: None for key in there.data if key not in data}
    return (Patch(SCHEME.of(ConfigMap), name, NAME, {"data": {**gone, **data}}),)
