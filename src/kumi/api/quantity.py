"""Quantities: exact Kubernetes amounts as int64 in the resource's base unit, and back as people write them.

The rule:
    text   = [sign] digits [. digits] suffix        suffix: n u m (none) k M G T P E | Ki Mi Gi Ti Pi Ei | e or E and a power
    amount = the smallest base unit count that is not less than the text says; negatives mirror that
    limits   past 2^63-1 the amount is 2^63-1; finer than 10^-9 is rounded up to 10^-9 first
Why        a float64 can't add 5,000 nodes of 2 TiB exactly; rounding down would admit what does not fit.
Units      thousandths for cpu (a quota's requests.cpu and limits.cpu too), pods and devices (any name with a `/`); bytes, or the
           whole unit, for everything else.
Text       `format` gives the shortest exact form of a family: binary (2Gi), decimal (2G, 500m) or exponent (2e9),
           as kubectl shows it: no fraction, the largest suffix that leaves a whole number.
Source     Kubernetes: API conventions (resource.Quantity), resource units of cpu and memory.
Not here   what a pod asks for: pod_requests.py.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from kumi.api.errors import KumiError

MAX = 2**63 - 1
MILLI = 1000
"""base units in one unit of cpu, pods and devices"""

Family = Literal["binary", "decimal", "exponent"]
Written = str | int | float

_NANO = 10**9
_SYNTAX = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?P<suffix>Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?|[eE](?P<power>[+-]?[0-9]+))",
    re.ASCII,
)
_BINARY = {f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_FURTHEST = 64
"""powers of ten beyond this saturate or vanish whatever stands before them"""
_LONGEST = 256
_THOUSANDTHS = frozenset(("cpu", "pods", "requests.cpu", "limits.cpu"))
_OF_NODES = frozenset(("cpu", "memory", "pods", "ephemeral-storage"))
_NATIVE = ("hugepages-", "attachable-volumes-")
_OF_QUOTAS = ("requests.", "limits.", "count/")


class QuantityError(KumiError, ValueError):
    """The text is no quantity."""

    def __init__(self, text: object) -> None:
        super().__init__(f"{text!r} is not a quantity: write a number and a suffix, such as 500m, 2, 1.5Gi or 2e9")


def unit_of(resource: str) -> int:
    """How many base units make one whole of it: 1000 for cpu, pods and devices, 1 for memory and its like."""
    return MILLI if resource in _THOUSANDTHS or "/" in resource else 1


def is_on_nodes(resource: str) -> bool:
    """Whether it is something that a node can have: not what only a quota counts (requests.cpu, count/pods, services)."""
    if resource in _OF_NODES or resource.startswith(_NATIVE):
        return True
    return "/" in resource and not resource.startswith(_OF_QUOTAS)


def parse(value: Written, resource: str = "") -> int:
    """The amount in base units of `resource`, rounded up, at most 2^63-1 in size. QuantityError."""
    return _scaled(nano(value), unit_of(resource))


def nano(value: Written) -> int:
    """The amount in thousand-millionths, exact but for finer digits (rounded up) and the limit. QuantityError."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise QuantityError(value)
    return _nano(value if isinstance(value, str) else repr(value))


def family_of(value: Written) -> Family:
    """How it was written: binary for Ki to Ei, exponent for e and E with a power, decimal otherwise. QuantityError."""
    match = _match(value if isinstance(value, str) else repr(value))
    if match["power"] is not None:
        return "exponent"
    return "binary" if match["suffix"] in _BINARY else "decimal"


def format(amount: int, resource: str = "", family: Family | None = None) -> str:
    """The text of an amount in base units; without a family, memory that is whole Ki is binary, all else decimal."""
    scale = unit_of(resource)
    if family is None:
        family = "binary" if scale == 1 and amount and amount % 1024 == 0 else "decimal"
    return _text(amount * (_NANO // scale), family)


def parse_amount(resource: str, value: Written) -> int:
    """`parse`, for those who go through resources by name."""
    return parse(value, resource)


def format_amount(resource: str, amount: int) -> str:
    """`format`, for those who go through resources by name."""
    return format(amount, resource)


def nano_text(amount_nano: int, family: Family = "decimal") -> str:
    """The text of an amount in thousand-millionths."""
    return _text(amount_nano, family)


def canonical(value: Written) -> str:
    """The same quantity as Kubernetes would write it back (1024Mi as 1Gi, 0.5 as 500m). QuantityError."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise QuantityError(value)
    return _canonical(value if isinstance(value, str) else repr(value))


@lru_cache(maxsize=8192)
def _canonical(text: str) -> str:
    return _text(_nano(text), family_of(text))


def _match(text: str) -> re.Match[str]:
    match = _SYNTAX.fullmatch(text)
    if match is None or not (match["whole"] or match["part"]) or len(text) > _LONGEST:
        raise QuantityError(text)
    return match


@lru_cache(maxsize=8192)
def _nano(text: str) -> int:
    match = _match(text)
    part, suffix = match["part"] or "", match["suffix"]
    digits = int((match["whole"] or "0") + part)
    if suffix in _BINARY:
        power, factor = 0, _BINARY[suffix]
    else:
        power, factor = int(match["power"]) if match["power"] is not None else _DECIMAL[suffix], 1
    power = max(-_FURTHEST - _LONGEST, min(_FURTHEST + _LONGEST, power)) - len(part) + 9
    size: int = digits * factor
    if power >= 0:
        size *= _ten_to(power)
    else:
        size = -(-size // _ten_to(-power))
    size = min(size, MAX * _NANO)
    return -size if match["sign"] == "-" else size


def _ten_to(power: int) -> int:
    return int(10**power)


def _scaled(amount_nano: int, scale: int) -> int:
    per = _NANO // scale
    size = min(-(-abs(amount_nano) // per), MAX)
    return -size if amount_nano < 0 else size


def _text(amount_nano: int, family: Family) -> str:
    if amount_nano == 0:
        return "0"
    sign, size = "-" if amount_nano < 0 else "", abs(amount_nano)
    if family == "binary" and size >= 1024 * _NANO and size % _NANO == 0:
        whole, suffix = size // _NANO, ""
        for name, factor in _BINARY.items():
            if size % (factor * _NANO) == 0:
                whole, suffix = size // (factor * _NANO), name
        return f"{sign}{whole}{suffix}"
    power, mantissa = -9, size
    while mantissa % 1000 == 0 and (power < 18 or family == "exponent"):
        mantissa, power = mantissa // 1000, power + 3
    if family == "exponent":
        return f"{sign}{mantissa}e{power}" if power else f"{sign}{mantissa}"
    suffix = next(name for name, its in _DECIMAL.items() if its == power)
    return f"{sign}{mantissa}{suffix}"
