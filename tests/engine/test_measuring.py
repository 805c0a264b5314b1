"""Where it is known from how busy nodes are: the section `metrics` of a scheduler file."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import FieldError
from kumi.engine.measuring import EVERY_MS, Measuring, is_wanted, measuring
from kumi.engine.placement.conf import DEFAULT, VOLCANO, Conf, Option

PROMETHEUS = "http://prometheus.monitoring:9090"


def read(raw: Any) -> tuple[Measuring, list[FieldError]]:
    errors: list[FieldError] = []
    return measuring(raw, errors), errors


def test_somebody_wants_to_know_where_a_tier_names_the_plug_in() -> None:
    assert is_wanted(Conf((), ((Option("gang"),), (Option("binpack"), Option("usage")))))
    assert not is_wanted(VOLCANO)
    assert not is_wanted(DEFAULT)


def test_without_the_section_it_is_the_resource_metrics_api() -> None:
    assert read(None) == (Measuring("metrics.k8s.io", "", EVERY_MS, False), [])


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ({"type": "prometheus", "address": PROMETHEUS}, Measuring("prometheus", PROMETHEUS)),
        ({"address": PROMETHEUS, "interval": "1m30s"}, Measuring("prometheus", PROMETHEUS, 90_000)),
        ({"type": "prometheus_adaptor", "interval": "10s"}, Measuring("prometheus_adaptor", "", 10_000)),
        ({"type": "metrics.k8s.io"}, Measuring("metrics.k8s.io")),
        (
            {"address": "https://me:word@prom/path", "tls.insecureSkipVerify": "true"},
            Measuring("prometheus", "https://me:word@prom/path", insecure=True),
        ),
        ({"address": PROMETHEUS, "tls.insecureSkipVerify": True}, Measuring("prometheus", PROMETHEUS, insecure=True)),
        ({"address": PROMETHEUS, "tls.insecureSkipVerify": "false"}, Measuring("prometheus", PROMETHEUS)),
        ({"address": PROMETHEUS, "elasticsearch.index": "x"}, Measuring("prometheus", PROMETHEUS)),
    ],
)
def test_volcanos_section_is_read_as_it_is(raw: dict[str, Any], found: Measuring) -> None:
    assert read(raw) == (found, [])


@pytest.mark.parametrize(
    ("raw", "path", "type_"),
    [
        ("prometheus", "metrics", "FieldValueTypeInvalid"),
        ({"type": "elasticsearch", "address": "http://es:9200"}, "metrics.type", "FieldValueNotSupported"),
        ({"type": "graphite"}, "metrics.type", "FieldValueNotSupported"),
        ({"type": ["prometheus"], "address": PROMETHEUS}, "metrics.type", "FieldValueTypeInvalid"),
        ({}, "metrics.address", "FieldValueRequired"),
        ({"type": "prometheus"}, "metrics.address", "FieldValueRequired"),
        ({"address": "prometheus:9090"}, "metrics.address", "FieldValueInvalid"),
        ({"address": "http://"}, "metrics.address", "FieldValueInvalid"),
        ({"address": "http://p:99999"}, "metrics.address", "FieldValueInvalid"),
        ({"address": "http://[p"}, "metrics.address", "FieldValueInvalid"),
        ({"address": PROMETHEUS, "interval": "soon"}, "metrics.interval", "FieldValueInvalid"),
        ({"address": PROMETHEUS, "interval": "10ms"}, "metrics.interval", "FieldValueInvalid"),
        ({"address": PROMETHEUS, "interval": 30}, "metrics.interval", "FieldValueInvalid"),
        (
            {"address": PROMETHEUS, "tls.insecureSkipVerify": "perhaps"},
            "metrics.tls.insecureSkipVerify",
            "FieldValueInvalid",
        ),
        ({"address": PROMETHEUS, "colour": 1}, "metrics.colour", "FieldValueForbidden"),
    ],
)
def test_what_is_wrong_is_told_with_its_path(raw: Any, path: str, type_: str) -> None:
    _, errors = read(raw)
    assert [(error.path, error.type) for error in errors] == [(path, type_)]


def test_every_wrong_field_is_told_at_once() -> None:
    _, errors = read({"type": "elasticsearch", "interval": "x", "colour": 1})
    assert [error.path for error in errors] == ["metrics.type", "metrics.interval", "metrics.colour"]
