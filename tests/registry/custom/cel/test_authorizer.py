from __future__ import annotations

from typing import Any

import pytest

from kumi.registry.authorization.decisions import Decision
from kumi.registry.authorization.rules import Asked
from kumi.registry.custom.cel.authorizer import FUNCTIONS, answered_by, authorizer
from kumi.registry.custom.cel.environment import environment

ABOUT = Asked("", "apps", "deployments/scale", "ns", "web")


def evaluated(text: str) -> Any:
    data = {"authorizer": authorizer(ABOUT)}
    return environment(("authorizer",), FUNCTIONS).compile(text).eval(data=data).value()


def only_pods(asked: Asked, account: tuple[str, str] | None) -> Decision:
    return Decision(asked.resource == "pods" and account is None, "a rule")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("authorizer.group('').resource('pods').check('get').allowed()", True),
        ("authorizer.group('').resource('pods').check('get').reason()", "a rule"),
        ("authorizer.group('').resource('pods').subresource('log').check('get').allowed()", False),
        ("authorizer.serviceAccount('a', 'b').group('').resource('pods').check('get').allowed()", False),
        ("authorizer.requestResource.check('get').allowed()", False),
        ("authorizer.path('/pods').check('get').allowed()", False),
        ("authorizer.group('').resource('pods').check('get').errored()", False),
    ],
)
def test_a_check_is_answered_by_who_evaluates(text: str, answer: object) -> None:
    with answered_by(only_pods):
        assert evaluated(text) == answer


def test_where_nobody_answers_it_is_an_error_and_not_allowed() -> None:
    assert evaluated("authorizer.path('/x').check('get').allowed()") is False
    assert evaluated("authorizer.path('/x').check('get').error()") == "nobody answers here"
