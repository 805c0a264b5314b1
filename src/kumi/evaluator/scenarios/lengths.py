"""Lengths of time as a scenario has them: one that is always the same, or a spread.

    1h30m                                             fixed
    {fixed: 10m}
    {uniform: {least: 1m, most: 10m}}
    {exponential: 1h}                                 or {exponential: {mean: 1h}}
    {lognormal: {median: 30m, sigma: 1.5, most: 24h}}
    {pareto: {least: 1m, most: 24h, shape: 1.1}}

Errors     noted in the document.
"""

from __future__ import annotations

from math import inf

from kumi.api.errors import KumiError
from kumi.evaluator.scenarios.document import Part
from kumi.evaluator.spreads import Exponential, Fixed, LogNormal, Pareto, Spread, Uniform

KINDS = ("fixed", "uniform", "exponential", "lognormal", "pareto")


def spread(part: Part) -> Spread | None:
    """The spread of a part; None where nothing is said, or what is said is wrong."""
    if not part:
        return None
    if not isinstance(part.value, dict):
        length = part.span_ms(least=1)
        return Fixed(length) if length else None
    before = len(part.document.faults)
    named = [name for name in KINDS if name in part.value]
    fields = part.fields(*KINDS)
    if len(named) != 1:
        part.wrong(f"must be a length of time, or one of {', '.join(KINDS)}")
        return None
    try:
        found = _of(named[0], fields[named[0]])
    except KumiError as error:
        if len(part.document.faults) == before:
            part.wrong(str(error))
        return None
    return found if len(part.document.faults) == before else None


def _needed(part: Part) -> int:
    """A length that must be said."""
    if not part:
        part.wrong("is missing: a length of time, like 90s, 1h30m or 2d")
    return part.span_ms(least=1)


def _of(name: str, part: Part) -> Spread:
    if name == "fixed":
        return Fixed(_needed(part))
    if name == "exponential":
        mean = part.fields("mean")["mean"] if isinstance(part.value, dict) else part
        return Exponential(_needed(mean))
    if name == "uniform":
        bounds = part.fields("least", "most")
        return Uniform(_needed(bounds["least"]), _needed(bounds["most"]))
    if name == "lognormal":
        said = part.fields("median", "sigma", "most")
        most = said["most"].span_ms(least=1) if said["most"] else inf
        return LogNormal(_needed(said["median"]), said["sigma"].number(1.0, above=0), most)
    said = part.fields("least", "most", "shape")
    return Pareto(_needed(said["least"]), _needed(said["most"]), said["shape"].number(1.1, above=0))
