"""The language of rules: CEL with its strings, math, optionals, bindings and encoders, and what Kubernetes adds to it.

    compile_rule(text) -> Compiled(expression, tree)          RuleError: it can't be read

`self` and `oldSelf` are the variables. They are of any type here: whether an expression fits a schema is checked on its tree
(types.py), since the library knows messages but no schemas.
Limit      a comprehension of the library goes round 10,000 times at most, then the evaluation fails.
Not here   two-variable comprehensions (all(i, v, ...), transformList ...), which the library doesn't have; find and findAll,
           for which there is no RE2 at hand.
Source     Kubernetes: CEL in Kubernetes (language overview, libraries).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_encoders, ext_math, ext_optional, ext_strings

from kumi.api.errors import KumiError
from kumi.registry.custom.cel import addresses, lists, quantities
from kumi.registry.custom.cel.tree import Tree, parse

SELF, OLD_SELF = "self", "oldSelf"
LONGEST = 1 << 16
"""letters of a rule"""


class RuleError(KumiError):
    """An expression that can't be read."""


class Compiled(NamedTuple):
    """An expression, to run and to look at."""

    expression: cel.Expression
    tree: Tree


@cache
def environment(variables: tuple[str, ...] = (SELF, OLD_SELF), more: tuple[cel.FunctionDecl, ...] = ()) -> cel.Env:
    """The language with those variables, each of any type, and `more` functions."""
    functions = [*lists.FUNCTIONS, *quantities.FUNCTIONS, *addresses.FUNCTIONS, *more]
    return cel.NewEnv(
        variables=dict.fromkeys(variables, cel.Type.DYN),
        extensions=[
            ext_strings.ExtStrings(),
            ext_math.ExtMath(),
            ext_optional.ExtOptional(),
            ext_encoders.ExtEncoders(),
            ext_bindings.ExtBindings(),
        ],
        functions=functions,
    )


@lru_cache(maxsize=4096)
def compile_rule(text: str) -> Compiled:
    """See the module."""
    if len(text) > LONGEST:
        raise RuleError(f"an expression has at most {LONGEST} characters")
    try:
        expression = environment().compile(text)
        compiled = expression.serialize()
    except (RuntimeError, ValueError) as error:
        raise RuleError(_said(str(error))) from error
    try:
        return Compiled(expression, parse(compiled))
    except RecursionError as error:
        raise RuleError("the expression is nested too deep") from error


def _said(text: str) -> str:
    return re.sub(r"^INVALID_ARGUMENT: | \[INVALID_ARGUMENT\]$", "", text.strip())
