"""Validation of webhook configurations: names, where to ask, about what, and how long to wait.

Source     Kubernetes: dynamic admission control.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from kumi.api.errors import FieldError
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import subdomain
from kumi.api.validation.selector import label_selector
from kumi.api.validation.words import not_supported
from kumi.api.wire import JsonObject

_WORDS = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
    "sideEffects": ("None", "NoneOnDryRun"),
    "reinvocationPolicy": ("IfNeeded", "Never"),
}
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
REQUIRED = "FieldValueRequired"


def _webhooks(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    errors, seen = [], set()
    for number, hook in enumerate(new.get("webhooks") or ()):
        path, name = f"webhooks[{number}]", hook.get("name", "")
        if name.count(".") < 2:
            why = "should be a domain with at least three segments separated by dots"
            errors.append(FieldError(f"{path}.name", why, value=name))
        wrong = subdomain(name)
        if wrong:
            errors.append(FieldError(f"{path}.name", wrong, value=name))
        if name in seen:
            errors.append(FieldError(f"{path}.name", "", "FieldValueDuplicate", name))
        seen.add(name)
        errors += _webhook(hook, path)
    return errors


def _webhook(hook: JsonObject, path: str) -> list[FieldError]:
    errors = []
    versions = hook.get("admissionReviewVersions") or []
    if not versions:
        errors.append(FieldError(f"{path}.admissionReviewVersions", "must specify one of v1, v1beta1", REQUIRED))
    elif "v1" not in versions:
        why = "must include at least one of v1, v1beta1"
        errors.append(FieldError(f"{path}.admissionReviewVersions", why, value=versions))
    if not hook.get("sideEffects"):
        errors.append(FieldError(f"{path}.sideEffects", "must specify one of None, NoneOnDryRun", REQUIRED))
    for field, words in _WORDS.items():
        if hook.get(field) and hook[field] not in words:
            errors.append(not_supported(f"{path}.{field}", hook[field], words))
    if not 1 <= hook.get("timeoutSeconds", 10) <= 30:
        why = "the timeout value must be between 1 and 30 seconds"
        errors.append(FieldError(f"{path}.timeoutSeconds", why, value=hook["timeoutSeconds"]))
    for field in ("namespaceSelector", "objectSelector"):
        if hook.get(field):
            errors += label_selector(hook[field], f"{path}.{field}")
    for number, rule in enumerate(hook.get("rules") or ()):
        errors += _rule(rule, f"{path}.rules[{number}]")
    return errors + _client(hook.get("clientConfig") or {}, f"{path}.clientConfig")


def _rule(rule: JsonObject, path: str) -> list[FieldError]:
    errors = []
    for field in ("operations", "apiGroups", "apiVersions", "resources"):
        words = rule.get(field) or []
        if not words:
            errors.append(FieldError(f"{path}.{field}", "", REQUIRED))
        elif "*" in words and len(words) > 1 and field != "resources":
            why = "if '*' is present, must not specify other values"
            errors.append(FieldError(f"{path}.{field}", why, value=words))
    errors += [
        not_supported(f"{path}.operations[{number}]", word, _OPERATIONS)
        for number, word in enumerate(rule.get("operations") or ())
        if word not in _OPERATIONS
    ]
    if rule.get("scope", "*") not in _SCOPES:
        errors.append(not_supported(f"{path}.scope", rule["scope"], _SCOPES))
    return errors


def _client(client: JsonObject, path: str) -> list[FieldError]:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [FieldError(path, "exactly one of url or service is required", REQUIRED)]
    if service is not None:
        return [
            FieldError(f"{path}.service.{field}", f"service {field} is required", REQUIRED)
            for field in ("name", "namespace")
            if not service.get(field)
        ]
    parts = urlsplit(str(url))
    wrong = []
    if parts.scheme != "https":
        wrong.append(
            f"'https' is the only allowed URL scheme; desired format: https://host[/path]; got {parts.scheme!r}"
        )
    if not parts.hostname:
        wrong.append("host must be specified; desired format: https://host[/path]")
    wrong += [
        f"{what} not permitted in url"
        for what, there in (
            ("user information is", parts.username),
            ("fragments are", parts.fragment),
            ("query parameters are", parts.query),
        )
        if there
    ]
    return [FieldError(f"{path}.url", why, value=url) for why in wrong]


validate_webhooks = with_metadata(subdomain, _webhooks)
