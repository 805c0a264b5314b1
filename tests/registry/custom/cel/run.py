"""Runs expressions as rules do."""

from __future__ import annotations

from typing import Any

from cel_expr_python import cel

from kumi.registry.custom.cel.environment import compile_rule


def run(text: str, self: Any = None) -> Any:
    """What an expression gives; ValueError with what an evaluation says that fails."""
    found = compile_rule(text).expression.eval(data={"self": self, "oldSelf": None})
    if found.type() == cel.Type.ERROR:
        raise ValueError(str(found.value()))
    return found.plain_value()
