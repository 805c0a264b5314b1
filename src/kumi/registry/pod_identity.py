"""Who a pod is to the API: the service account it runs as, and the token that it finds in its file system.

At creation   a pod that names no service account runs as `default`; one that names another must name one that is there.
              Unless the pod or, where it says nothing, the account does not want it, each container sees at MOUNT a token for
              this API that is bound to the pod, the authority to trust, and the pod's namespace.
              A container that mounts something there itself is left alone.
Why           `default` may be missing for a moment in a namespace that was just made: its pods are made all the same, since the
              node that runs them waits for the account.
Structurally an AdmissionHook. Mirror pods of kubelets do not exist here.
Source        Kubernetes: service accounts, configure service accounts for pods (admission plug-in ServiceAccount).
Not here      the account itself: kumi.controllers.service_accounts. Who writes the files: the node.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.scheme import Kind, Scheme
from kumi.api.wire import JsonObject
from kumi.registry.hooks import Operation
from kumi.registry.names import generated
from kumi.registry.objects import Objects
from kumi.registry.refusals import forbidden

DEFAULT = "default"
VOLUME = "kube-api-access-"
MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
SECONDS = 3607
"""an hour, and a few seconds by which one can see that nobody chose it"""
AUTHORITY = "kube-root-ca.crt"


class PodIdentity:
    """See the module."""

    def __init__(self, objects: Objects, scheme: Scheme) -> None:
        self._objects, self._accounts = objects, scheme.find("", "ServiceAccount")

    def mutate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        """Completes a pod that is being created. ApiError 403."""
        if operation != "CREATE" or kind.group or kind.kind != "Pod" or self._accounts is None:
            return
        spec, metadata = new["spec"], new["metadata"]
        name = spec["serviceAccountName"] = spec.get("serviceAccountName") or DEFAULT
        spec.setdefault("serviceAccount", name)
        found = self._objects.get(self._accounts, metadata.get("namespace", ""), name)
        if found is None and name != DEFAULT:
            where = f"{metadata.get('namespace', '')}/{name}"
            why = f'error looking up service account {where}: serviceaccount "{name}" not found'
            raise forbidden(kind, metadata.get("name", ""), why)
        account = found.object if found is not None else {}
        wants = spec.get("automountServiceAccountToken", account.get("automountServiceAccountToken", True))
        if wants:
            _mount(spec, metadata["uid"])

    def validate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """See AdmissionHook."""
        return []

    def warnings(self, operation: Operation, kind: Kind, new: JsonObject) -> list[str]:
        """See AdmissionHook."""
        return []


def _mount(spec: JsonObject, uid: str) -> None:
    """The volume, and its mounts in the containers that have nothing there."""
    lacking = [
        container
        for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))
        if all(mount.get("mountPath") != MOUNT for mount in container.get("volumeMounts") or ())
    ]
    if not lacking:
        return
    name = generated(VOLUME, uid)
    spec["volumes"] = [*(spec.get("volumes") or ()), {"name": name, "projected": _projected()}]
    for container in lacking:
        mount = {"name": name, "readOnly": True, "mountPath": MOUNT}
        container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]


def _projected() -> JsonObject:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "defaultMode": 0o644,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": SECONDS, "path": "token"}},
            {"configMap": {"name": AUTHORITY, "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
    }
