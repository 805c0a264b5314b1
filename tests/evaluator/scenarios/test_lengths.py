"""Lengths of time in scenarios."""

from __future__ import annotations

import pytest

from kumi.evaluator.scenarios.lengths import spread
from kumi.evaluator.spreads import Exponential, Fixed, LogNormal, Pareto, Spread, Uniform
from tests.evaluator.scenarios.told import faults, part


@pytest.mark.parametrize(
    ("said", "means"),
    [
        (None, None),
        ("1m", Fixed(60_000)),
        ({"fixed": "1m"}, Fixed(60_000)),
        ({"uniform": {"least": "1s", "most": "2s"}}, Uniform(1000, 2000)),
        ({"exponential": "1m"}, Exponential(60_000)),
        ({"exponential": {"mean": 60}}, Exponential(60_000)),
        ({"lognormal": {"median": "1s"}}, LogNormal(1000, 1.0)),
        ({"lognormal": {"median": "1s", "sigma": 2, "most": "1m"}}, LogNormal(1000, 2, 60_000)),
        ({"pareto": {"least": "1s", "most": "1m", "shape": 2}}, Pareto(1000, 60_000, 2)),
    ],
)
def test_each_spread_is_read(said: object, means: Spread | None) -> None:
    one = part(said)
    assert spread(one) == means
    assert faults(one) == []


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({}, "here: must be a length of time, or one of fixed, uniform, exponential, lognormal, pareto"),
        ({"gamma": 1}, "here.gamma: there is no such field; it may be fixed, uniform, exponential, lognormal, pareto"),
        (
            {"uniform": {"least": "2s", "most": "1s"}},
            "here: a spread must have 0 < least <= most, not 2000 ms and 1000 ms",
        ),
        ({"pareto": {"least": "1s"}}, "here.pareto.most: is missing: a length of time, like 90s, 1h30m or 2d"),
        ({"uniform": {"most": "1s"}}, "here.uniform.least: is missing: a length of time, like 90s, 1h30m or 2d"),
        ({"lognormal": {}}, "here.lognormal.median: is missing: a length of time, like 90s, 1h30m or 2d"),
        ({"exponential": {}}, "here.exponential.mean: is missing: a length of time, like 90s, 1h30m or 2d"),
        ({"fixed": None}, "here.fixed: is missing: a length of time, like 90s, 1h30m or 2d"),
        (
            {"lognormal": {"median": "2s", "most": "1s"}},
            "here: the most of a spread must not be below its median: 1000 ms and 2000 ms",
        ),
        ("never", "here: 'never' is no length of time above 0: write 90s, 1h30m or 2d"),
        ({"exponential": {"mean": 0}}, "here.exponential.mean: 0 is no length of time above 0: write 90s, 1h30m or 2d"),
    ],
)
def test_what_is_no_spread_is_noted(said: object, says: str) -> None:
    one = part(said)
    assert spread(one) is None
    assert faults(one)[0] == says
    assert len(faults(one)) == 1 or "gamma" in says
