"""The language: CEL with Kubernetes' additions; what can't be read is told with its place."""

from __future__ import annotations

import pytest

from kumi.registry.custom.cel.environment import LONGEST, RuleError, compile_rule
from tests.registry.custom.cel.run import run


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("self.a.all(x, x > 0)", True), ("self.?b.orValue(3)", 3), ("'a,b'.split(',').size()", 2),
        ("math.greatest(1, 2)", 2), ("cel.bind(x, 2, x * x)", 4), ("'%s'.format(['x'])", "x"), ("[1, 2].sum()", 3),
        ("self.a.map(x, x + 1)", [2, 3]), ("has(self.b)", False), ("type(1) == int", True),
    ],
)  # fmt: skip
def test_expressions(text: str, value: object) -> None:
    assert run(text, {"a": [1, 2]}) == value


@pytest.mark.parametrize("text", ["1 +", "nope(1)", "self.(", "1 == 'a'", "x" * (LONGEST + 1)])
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(RuleError):
        compile_rule(text)


def test_an_expression_is_compiled_once() -> None:
    assert compile_rule("self.a == 1") is compile_rule("self.a == 1")


def test_a_rule_that_goes_round_too_often_fails() -> None:
    with pytest.raises(RuntimeError, match="budget"):
        run("self.all(x, x > 0)", [1] * 10_001)
