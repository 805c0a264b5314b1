"""Makes src/kumi/api/openapi/kubernetes.json from Kubernetes' own published definitions.

    tools/openapi.py DEFINITIONS

DEFINITIONS is the file `kubernetes-json-schema/<version>-local/_definitions.json` of the Python package kubernetes-validate
(1.37.0 and v1.36.0 for the file that is checked in), which carries the definitions as a Kubernetes API server publishes them.
What is kept: the kinds below, their lists, what the API itself needs, and all that these refer to, with descriptions.
What is undone: that package's own additions for JSON schema (null among the types, enums for apiVersion and kind), so that
the result reads like a server's /openapi/v3. The same input gives the same bytes; one definition a line.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "src/kumi/api/openapi/kubernetes.json"
API, META = "io.k8s.api", "io.k8s.apimachinery.pkg.apis.meta.v1"
KINDS = {
    f"{API}.core.v1": (
        "Pod Node Namespace Service Endpoints ConfigMap Secret Event ServiceAccount PersistentVolumeClaim PersistentVolume "
        "ResourceQuota LimitRange PodTemplate ReplicationController"
    ),
    f"{API}.apps.v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    f"{API}.batch.v1": "CronJob Job",
    f"{API}.scheduling.v1": "PriorityClass",
    f"{API}.coordination.v1": "Lease",
    f"{API}.autoscaling.v2": "HorizontalPodAutoscaler",
    f"{API}.policy.v1": "PodDisruptionBudget",
    f"{API}.networking.v1": "Ingress IngressClass NetworkPolicy",
    f"{API}.storage.v1": "CSINode StorageClass",
    f"{API}.node.v1": "RuntimeClass",
    f"{API}.discovery.v1": "EndpointSlice",
    f"{API}.events.v1": "Event",
    f"{API}.rbac.v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    f"{API}.admissionregistration.v1": "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
}
META_TYPES = (
    "ObjectMeta ListMeta Status DeleteOptions Patch LabelSelector Condition Time MicroTime WatchEvent "
    "APIResourceList APIGroup APIGroupList APIVersions"
)
ACTS = (
    f"{API}.core.v1.Binding",
    f"{API}.policy.v1.Eviction",
    f"{API}.authentication.v1.TokenRequest",
    f"{API}.authentication.v1.TokenReview",
    f"{API}.authentication.v1.SelfSubjectReview",
    f"{API}.authorization.v1.SubjectAccessReview",
    f"{API}.authorization.v1.LocalSubjectAccessReview",
    f"{API}.authorization.v1.SelfSubjectAccessReview",
    f"{API}.authorization.v1.SelfSubjectRulesReview",
)
"""Kinds that are sent and answered, never stored: they have no lists."""
DEFINITIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"
ALONE = (
    *ACTS,
    DEFINITIONS,
    f"{DEFINITIONS}List",
    f"{API}.autoscaling.v1.Scale",
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    *(f"{META}.{name}" for name in META_TYPES.split()),
)
FROM, TO = "#/$defs/", "#/components/schemas/"


def roots() -> list[str]:
    """The definitions to start from."""
    names = [f"{prefix}.{kind}" for prefix, kinds in KINDS.items() for kind in kinds.split()]
    return [*names, *(f"{name}List" for name in names), *ALONE]


def normal(schema: Any) -> Any:
    """A schema as a server publishes it."""
    if isinstance(schema, list):
        return [normal(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, list):
            (out["type"],) = (word for word in value if word != "null")
        elif key == "properties":
            out[key] = {name: normal(field) for name, field in value.items()}
        else:
            out[key] = value if key in ("enum", "required", "description") else normal(value)
    if "$ref" in out:
        ref = {"$ref": TO + out.pop("$ref").removeprefix(FROM)}
        return {**out, "allOf": [ref]} if out else ref
    return out


def definition(raw: dict[str, Any]) -> dict[str, Any]:
    """One definition, without the enums that were put on apiVersion and kind."""
    out: dict[str, Any] = normal(raw)
    if "x-kubernetes-group-version-kind" in out:
        for name in ("apiVersion", "kind"):
            out.get("properties", {}).get(name, {}).pop("enum", None)
    return out


def refs(schema: Any) -> list[str]:
    """Names of the definitions that a raw schema refers to."""
    if isinstance(schema, list):
        return [name for item in schema for name in refs(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].removeprefix(FROM)] if isinstance(schema.get("$ref"), str) else []
    return own + [name for value in schema.values() for name in refs(value)]


def main(source: str) -> None:
    """Writes the file."""
    raw = json.loads(Path(source).read_text(encoding="utf-8"))["$defs"]
    wanted, queue = set(), roots()
    while queue:
        name = queue.pop()
        if name not in wanted:
            wanted.add(name)
            queue += refs(raw[name])
    lines = []
    for name in sorted(wanted):
        body = json.dumps(definition(raw[name]), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        lines.append(f"{json.dumps(name)}:{body}")
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} definitions, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tools/openapi.py DEFINITIONS   (see the first lines of this file)")
    main(sys.argv[1])
