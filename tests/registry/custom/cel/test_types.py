"""Does a rule fit the schema? What it gives, and what it may not say."""

from __future__ import annotations

import pytest

from kumi.registry.custom.cel.environment import RuleError, compile_rule
from kumi.registry.custom.cel.types import check, of_schema
from kumi.registry.custom.schema import compile_schema
from tests.registry.custom.made import NUMBER, TEXT, keyed, many, of

SCHEMA = compile_schema(
    of(
        n=NUMBER,
        t=TEXT,
        f={"type": "number"},
        b={"type": "boolean"},
        o=of(t=TEXT),
        l=many(NUMBER),
        m=keyed(of(k=TEXT)),
        d={"type": "object", "additionalProperties": NUMBER},
        e={"x-kubernetes-int-or-string": True},
        at={**TEXT, "format": "date-time"},
        span={**TEXT, "format": "duration"},
        **{"a-b": NUMBER},
    )
)


def type_of(text: str) -> str:
    """The type of an expression."""
    own = of_schema(SCHEMA, whole=True)
    return check(compile_rule(text).tree, {"self": own, "oldSelf": own}).root.text()


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("self.n", "int"),
        ("self.t", "string"),
        ("self.f", "double"),
        ("self.o.t", "string"),
        ("self.l", "list(int)"),
        ("self.l[0]", "int"),
        ("self.m[0].k", "string"),
        ("self.d", "map(string, int)"),
        ("self.d.x", "int"),
        ("self.d['x']", "int"),
        ("self.e", "dyn"),
        ("self.at", "timestamp"),
        ("self.at + self.span", "timestamp"),
        ("self.at - self.at", "duration"),
        ("self.a__dash__b", "int"),
        ("self.metadata.name", "string"),
        ("self.kind", "string"),
        ("has(self.n)", "bool"),
        ("self.?n", "optional(int)"),
        ("self.?o.?t", "optional(string)"),
        ("self.?n.orValue(1)", "int"),
        ("self.?n.hasValue()", "bool"),
        ("self.l.all(x, x > 1)", "bool"),
        ("self.l.map(x, x + 1)", "list(int)"),
        ("self.l.filter(x, x > 1)", "list(int)"),
        ("self.m.exists(x, x.k == 'a')", "bool"),
        ("self.d.all(k, k == 'a')", "bool"),
        ("self.l.max()", "int"),
        ("self.n > 1.5", "bool"),
        ("self.e > 1", "bool"),
        ("self.t + 'x'", "string"),
        ("-self.n", "int"),
        ("self.b ? self.n : 2", "int"),
        ("self.b ? dyn(self.n) : dyn('x')", "dyn"),
        ("[self.n] + [1]", "list(int)"),
        ("self.t == null", "bool"),
        ("self.o == self.o", "bool"),
        ("size(self.t)", "int"),
        ("self.t.split(',')", "list(string)"),
    ],
)
def test_what_an_expression_gives(text: str, type_: str) -> None:
    assert type_of(text) == type_


@pytest.mark.parametrize(
    "text",
    [
        "self.nope",
        "has(self.nope)",
        "self.?nope",
        "self.o.nope",
        "self.n.x",
        "self.m.all(x, x.nope == 1)",
        "self.metadata.labels",
        "self.n == 'x'",
        "self.t > 1",
        "self.o > self.o",
        "self.n + self.t",
        "self.n && true",
        "!self.t",
        "self.n[0]",
        "self.n.all(x, true)",
        "true || self.nope",
        "self.l.map(x, x.y)",
        "self.?o.nope",
    ],
)
def test_what_does_not_fit(text: str) -> None:
    with pytest.raises(RuleError, match="ERROR: <input>:1:"):
        type_of(text)
