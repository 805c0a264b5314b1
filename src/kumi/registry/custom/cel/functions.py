"""How a function that Kubernetes adds to CEL is declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cel_expr_python import cel

T = cel.Type
DYN, BOOL, INT, STRING = T.DYN, T.BOOL, T.INT, T.STRING
LIST = T.List(T.DYN)


def member(name: str, *overloads: tuple[Sequence[cel.Type], cel.Type, Callable[..., Any]]) -> cel.FunctionDecl:
    """`value.name(...)`: each overload has the types of the value and the arguments, that of the result, and the function."""
    return _declared(name, overloads, is_member=True)


def function(name: str, *overloads: tuple[Sequence[cel.Type], cel.Type, Callable[..., Any]]) -> cel.FunctionDecl:
    """`name(...)`."""
    return _declared(name, overloads, is_member=False)


def _declared(
    name: str, overloads: Sequence[tuple[Sequence[cel.Type], cel.Type, Callable[..., Any]]], *, is_member: bool
) -> cel.FunctionDecl:
    made = [
        cel.Overload(
            id=f"kubernetes_{name}_{number}", return_type=result, parameters=list(types), is_member=is_member, impl=impl
        )
        for number, (types, result, impl) in enumerate(overloads)
    ]
    return cel.FunctionDecl(name, made)
