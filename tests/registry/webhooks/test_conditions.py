"""Expressions that decide whether a webhook is asked."""

from __future__ import annotations

import pytest

from kumi.registry.authorization.decisions import Decision
from kumi.registry.authorization.rules import Asked
from kumi.registry.webhooks.conditions import ConditionFailed, hold

REQUEST = {"object": {"spec": {"replicas": 3}}, "oldObject": None, "operation": "CREATE"}


def nobody_may(asked: Asked, account: tuple[str, str] | None) -> Decision:
    return Decision(False)


@pytest.mark.parametrize(
    ("expressions", "holds"),
    [
        ([], True),
        (["object.spec.replicas > 2", "oldObject == null"], True),
        (["object.spec.replicas > 3"], False),
        (["object.nothing.there", "false"], False),
    ],
)
def test_all_must_hold_and_one_that_is_false_decides(expressions: list[str], holds: bool) -> None:
    assert hold([{"name": "c", "expression": text} for text in expressions], REQUEST, nobody_may) == holds


@pytest.mark.parametrize("text", ["object.nothing.there", "1 +", "'text'"])
def test_one_that_fails_is_told(text: str) -> None:
    with pytest.raises(ConditionFailed, match="'c'"):
        hold([{"name": "c", "expression": text}], REQUEST, nobody_may)


def test_the_authorizer_is_asked_about_the_request_and_about_anything_else() -> None:
    questions: list[tuple[Asked, tuple[str, str] | None]] = []

    def answer(asked: Asked, account: tuple[str, str] | None) -> Decision:
        questions.append((asked, account))
        return Decision(True, "because")

    request = {
        **REQUEST,
        "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
        "subResource": "scale",
        "namespace": "ns",
        "name": "web",
    }
    expression = (
        "authorizer.requestResource.check('delete').allowed()"
        " && authorizer.serviceAccount('a', 'b').group('').resource('pods').namespace('x').check('get').reason() == 'because'"
        " && authorizer.path('/metrics').check('get').allowed() && !authorizer.path('/x').check('get').errored()"
    )
    assert hold([{"name": "c", "expression": expression}], request, answer)
    assert questions == [
        (Asked("delete", "apps", "deployments/scale", "ns", "web"), None),
        (Asked("get", "", "pods", "x"), ("a", "b")),
        (Asked("get", path="/metrics"), None),
        (Asked("get", path="/x"), None),
    ]
