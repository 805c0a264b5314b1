from __future__ import annotations

from kumi.api.defaulting.admissionregistration import default_mutating, default_validating
from kumi.api.wire import JsonObject


def test_a_webhook_fails_closed_within_ten_seconds_and_is_about_everything_it_names() -> None:
    config: JsonObject = {"webhooks": [{"rules": [{}], "clientConfig": {"service": {"name": "s"}}}]}
    default_validating(config)
    hook = config["webhooks"][0]
    assert (hook["failurePolicy"], hook["matchPolicy"], hook["timeoutSeconds"]) == ("Fail", "Equivalent", 10)
    assert hook["rules"] == [{"scope": "*"}]
    assert hook["clientConfig"]["service"]["port"] == 443
    assert "reinvocationPolicy" not in hook


def test_a_mutating_webhook_is_not_asked_twice() -> None:
    config: JsonObject = {"webhooks": [{}]}
    default_mutating(config)
    assert config["webhooks"][0]["reinvocationPolicy"] == "Never"
