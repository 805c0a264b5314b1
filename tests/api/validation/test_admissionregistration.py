from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.admissionregistration import validate_webhooks
from kumi.api.wire import JsonObject

RULE = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}


def config(**more: Any) -> JsonObject:
    hook = {
        "name": "one.example.com",
        "clientConfig": {"url": "https://example.com/one"},
        "rules": [RULE],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }
    return {"metadata": {"name": "hooks"}, "webhooks": [hook]}


def test_a_sound_one_is_taken() -> None:
    assert validate_webhooks(config(), None) == []


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"name": "one"}, "name"),
        ({"name": "One.example.com"}, "name"),
        ({"sideEffects": "Some"}, "sideEffects"),
        ({"sideEffects": None}, "sideEffects"),
        ({"admissionReviewVersions": []}, "admissionReviewVersions"),
        ({"admissionReviewVersions": ["v9"]}, "admissionReviewVersions"),
        ({"timeoutSeconds": 31}, "timeoutSeconds"),
        ({"failurePolicy": "Maybe"}, "failurePolicy"),
        ({"clientConfig": {}}, "clientConfig"),
        ({"clientConfig": {"url": "http://example.com"}}, "clientConfig.url"),
        ({"clientConfig": {"url": "https://me@example.com"}}, "clientConfig.url"),
        ({"clientConfig": {"service": {"name": "s"}}}, "clientConfig.service.namespace"),
        ({"rules": [{**RULE, "operations": []}]}, "rules[0].operations"),
        ({"rules": [{**RULE, "operations": ["READ"]}]}, "rules[0].operations[0]"),
        ({"rules": [{**RULE, "apiGroups": ["*", "apps"]}]}, "rules[0].apiGroups"),
        ({"rules": [{**RULE, "scope": "World"}]}, "rules[0].scope"),
    ],
)
def test_what_is_wrong_is_named(more: JsonObject, path: str) -> None:
    assert [error.path for error in validate_webhooks(config(**more), None)] == [f"webhooks[0].{path}"]
