"""Validation of ReplicationControllers.

Source     Kubernetes: API reference.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import labels, subdomain
from kumi.api.validation.pod import pod_template
from kumi.api.validation.words import not_negative, not_supported, required
from kumi.api.wire import JsonObject


def _replication_controller(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = [e for name in ("replicas", "minReadySeconds") for e in not_negative(f"spec.{name}", spec.get(name))]
    selector, template = spec.get("selector") or {}, spec.get("template")
    if not selector:
        errors.append(required("spec.selector"))
    errors += labels(selector, "spec.selector")
    if not template:
        return [*errors, required("spec.template")]
    own = (template.get("metadata") or {}).get("labels") or {}
    if any(own.get(name) != value for name, value in selector.items()):
        detail = "`selector` does not match template `labels`"
        errors.append(FieldError("spec.template.metadata.labels", detail, value=own))
    errors += pod_template(template, "spec.template")
    policy = (template.get("spec") or {}).get("restartPolicy")
    if policy not in (None, "", "Always"):
        errors.append(not_supported("spec.template.spec.restartPolicy", policy, ("Always",)))
    return errors


validate_replication_controller = with_metadata(subdomain, _replication_controller)
