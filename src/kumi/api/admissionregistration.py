"""The admissionregistration.k8s.io group (v1): who is asked before an object is written.

The webhooks themselves are read as JSON where they are called (kumi.registry.webhooks)."""

from __future__ import annotations

from msgspec import field

from kumi.api.defaulting.admissionregistration import default_mutating, default_validating
from kumi.api.meta import Object
from kumi.api.scheme import AGE, SCHEME, Column, Kind
from kumi.api.validation.admissionregistration import validate_webhooks
from kumi.api.wire import JsonObject

GROUP = "admissionregistration.k8s.io"
_SCHEMA = "io.k8s.api.admissionregistration.v1"


class MutatingWebhookConfiguration(Object):
    """Webhooks that may change an object, in order."""

    webhooks: list[JsonObject] = field(default_factory=list)


class ValidatingWebhookConfiguration(Object):
    """Webhooks that may refuse an object."""

    webhooks: list[JsonObject] = field(default_factory=list)


def _columns() -> tuple[Column, ...]:
    counted = Column("Webhooks", type="integer", cell=lambda config, _now_ms: len(config.get("webhooks") or ()))
    return (counted, AGE)


SCHEME.register(
    Kind(
        GROUP,
        "v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        MutatingWebhookConfiguration,
        namespaced=False,
        columns=_columns(),
        default=default_mutating,
        validate=validate_webhooks,
        schema=f"{_SCHEMA}.MutatingWebhookConfiguration",
    )
)
SCHEME.register(
    Kind(
        GROUP,
        "v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        ValidatingWebhookConfiguration,
        namespaced=False,
        columns=_columns(),
        default=default_validating,
        validate=validate_webhooks,
        schema=f"{_SCHEMA}.ValidatingWebhookConfiguration",
    )
)
