"""Declarations of functions: one overload a shape of arguments."""

from __future__ import annotations

from cel_expr_python import cel

from kumi.registry.custom.cel.functions import INT, STRING, function, member


def test_functions_and_members_are_called_by_their_arguments_types() -> None:
    declared = [
        function("twice", ([INT], INT, lambda n: 2 * n), ([STRING], STRING, lambda text: text + text)),
        member("shout", ([STRING], STRING, lambda text: text.upper())),
    ]
    environment = cel.NewEnv(functions=declared)
    for text, value in (("twice(2)", 4), ("twice('a')", "aa"), ("'a'.shout()", "A")):
        assert environment.compile(text).eval(data={}).value() == value
