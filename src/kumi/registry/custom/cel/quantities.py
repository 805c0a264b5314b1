"""Quantities and versions in CEL: quantity('1Gi'), semver('1.2.3'), their comparisons and sums.

The library has no types of ours, so each is a map: a quantity holds its amount in billionths as text and, for equality, nothing
else; a version its parts. `compareTo`, `isLessThan` and `isGreaterThan` are for both.
Source     Kubernetes: CEL libraries, quantity and semver.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, TypeAlias

from cel_expr_python import cel

from kumi.api.quantity import QuantityError, nano
from kumi.registry.custom.cel.functions import BOOL, DYN, INT, STRING, function, member

NANO = 10**9
OPAQUE = cel.Type.Map(STRING, DYN)
Opaque: TypeAlias = dict[str, Any]
_VERSION = re.compile(
    r"(?P<major>0|[1-9]\d*)\.(?P<minor>0|[1-9]\d*)\.(?P<patch>0|[1-9]\d*)(?:-(?P<pre>[-0-9A-Za-z.]+))?(?:\+[-0-9A-Za-z.]+)?\Z"
)


def quantity(text: str) -> Opaque:
    """A quantity."""
    try:
        return {"quantity": str(nano(text))}
    except QuantityError as error:
        raise ValueError(f"quantities must match the regular expression: {text!r}") from error


def is_quantity(text: str) -> bool:
    """Whether it can be read as one."""
    try:
        nano(text)
    except QuantityError:
        return False
    return True


def semver(text: str) -> Opaque:
    """A version."""
    found = _VERSION.match(text)
    if found is None:
        raise ValueError(f"{text!r} is no semantic version")
    parts = {name: int(found[name]) for name in ("major", "minor", "patch")}
    return {"semver": parts, "pre": found["pre"] or ""}


def _amount(value: Opaque) -> int:
    if "quantity" not in value:
        raise ValueError("no such overload: it is no quantity")
    return int(value["quantity"])


def _sum(sign: int) -> Any:
    return lambda a, b: {"quantity": str(_amount(a) + sign * _amount(b))}


def _sum_with_number(sign: int) -> Any:
    return lambda a, b: {"quantity": str(_amount(a) + sign * b * NANO)}


def _order(value: Opaque) -> Any:
    """What two of a kind are compared by."""
    if "quantity" in value:
        return (_amount(value),)
    parts, pre = value["semver"], value["pre"]
    words = [(0, int(w), "") if w.isdigit() else (1, 0, w) for w in pre.split(".")] if pre else []
    return (parts["major"], parts["minor"], parts["patch"], not pre, words)


def compare(a: Opaque, b: Opaque) -> int:
    """-1, 0 or 1."""
    if a.keys() != b.keys():
        raise ValueError("no such overload: they can't be compared")
    one, other = _order(a), _order(b)
    return int(one > other) - int(one < other)


def _as_integer(value: Opaque) -> int:
    whole, rest = divmod(_amount(value), NANO)
    if rest or abs(whole) >= 1 << 63:
        raise ValueError("cannot convert value to integer")
    return whole


def _is_integer(value: Opaque) -> bool:
    whole, rest = divmod(_amount(value), NANO)
    return not rest and abs(whole) < 1 << 63


def _sign(value: Opaque) -> int:
    amount = _amount(value)
    return int(amount > 0) - int(amount < 0)


def _part(name: str) -> Any:
    return lambda value: value["semver"][name]


FUNCTIONS = (
    function("quantity", ([STRING], OPAQUE, quantity)),
    function("isQuantity", ([STRING], BOOL, is_quantity)),
    function("semver", ([STRING], OPAQUE, semver)),
    function("isSemver", ([STRING], BOOL, lambda text: _VERSION.match(text) is not None)),
    member("add", ([OPAQUE, OPAQUE], OPAQUE, _sum(1)), ([OPAQUE, INT], OPAQUE, _sum_with_number(1))),
    member("sub", ([OPAQUE, OPAQUE], OPAQUE, _sum(-1)), ([OPAQUE, INT], OPAQUE, _sum_with_number(-1))),
    member("compareTo", ([OPAQUE, OPAQUE], INT, compare)),
    member("isLessThan", ([OPAQUE, OPAQUE], BOOL, lambda a, b: compare(a, b) < 0)),
    member("isGreaterThan", ([OPAQUE, OPAQUE], BOOL, lambda a, b: compare(a, b) > 0)),
    member("isInteger", ([OPAQUE], BOOL, _is_integer)),
    member("asInteger", ([OPAQUE], INT, _as_integer)),
    member("asApproximateFloat", ([OPAQUE], cel.Type.DOUBLE, lambda value: float(Fraction(_amount(value), NANO)))),
    member("sign", ([OPAQUE], INT, _sign)),
    *(member(name, ([OPAQUE], INT, _part(name))) for name in ("major", "minor", "patch")),
)
