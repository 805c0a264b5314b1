"""What a pod counts for in quota, where that is not what it requests: excluded and transformed resources.

The rule, on a pod's requests:
    exclude    resources whose name begins with an excluded prefix are dropped
    transform  a transformation's input, if the pod requests it, gives output * factor for each of its outputs; times what the
               pod requests of `multiply_by`, where that is named and requested. Outputs of one name add up; a total below zero
               is nothing. Replace drops the input, Retain keeps it. Then what came out joins what was requested of that name.
    nothing    of it below zero
Rounding   exact up to the end; then up, cpu to a thousandth, everything else to a whole unit.
Why        quota can be counted in credits or in gigabytes of accelerators; what nobody quotas need not be in every queue.
Cost       O(resources x transformations) a shape and settings; remembered.
Source     Kueue: Configuration resources.excludeResourcePrefixes, resources.transformations (KEP-2937).
Not here   how many pods: kumi.engine.admission.requests; nodes, which take what the pod requests.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from kumi.api.quantity import MAX, unit_of
from kumi.engine.settings import Settings, Transformation

NANO = 10**9
Requests = tuple[tuple[str, int], ...]


def counted(requests: Requests, settings: Settings) -> Requests | None:
    """What a pod with these requests counts for; None: just that."""
    if not settings.excluded_prefixes and not settings.transformations:
        return None
    found = _counted(requests, settings.excluded_prefixes, settings.transformations)
    return None if found == requests else found


@lru_cache(maxsize=4096)
def _counted(requests: Requests, excluded: tuple[str, ...], rules: tuple[Transformation, ...]) -> Requests:
    asked = {r: Fraction(amount, unit_of(r)) for r, amount in requests if not r.startswith(excluded)}
    kept = dict(asked)
    made: dict[str, Fraction] = {}
    for rule in rules:
        if rule.input not in asked:
            continue
        amount = asked[rule.input] * asked.get(rule.multiply_by, Fraction(1))
        for output, factor_nano in rule.outputs:
            made[output] = made.get(output, Fraction(0)) + amount * Fraction(factor_nano, NANO)
        if rule.replace:
            del kept[rule.input]
    for output, amount in made.items():
        kept[output] = kept.get(output, Fraction(0)) + max(amount, Fraction(0))
    return tuple(sorted((r, _base_units(r, amount)) for r, amount in kept.items()))


def _base_units(resource: str, amount: Fraction) -> int:
    """Rounded up, nothing below zero, at most the largest amount."""
    unit = unit_of(resource)
    if resource == "cpu":
        return min(MAX, max(0, -(-amount * unit // 1)))
    return min(MAX, max(0, -(-amount // 1)) * unit)
