"""Measuring: where it is known from how busy nodes are, for the plug-in `usage`: the section `metrics` of a scheduler file.

    type: prometheus                  the system that is asked: prometheus (what a section means that names none),
                                      prometheus_adaptor (the custom metrics API), metrics.k8s.io (the resource metrics API)
    address: http://prometheus:9090   of prometheus, which has to have one
    interval: 30s                     between two questions
    tls.insecureSkipVerify: "true"    whoever answers at the address is believed

Without the section it is metrics.k8s.io, every 30 seconds. Nobody is asked where no tier names `usage`, and the section then
makes no difference.
Not served    elasticsearch: a file that needs it is wrong.
Source        Volcano: usage-based scheduling; `type: metrics.k8s.io` is Kumi's own.
Not here      what is asked, and averaged: kumi.runtime.node_loads; what the numbers lead to: placement/plugins/usage.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from kumi.api.errors import FieldError
from kumi.engine.fields import Section
from kumi.engine.placement.conf import Conf

PLUGIN = "usage"
RESOURCE_METRICS, PROMETHEUS, ADAPTOR = "metrics.k8s.io", "prometheus", "prometheus_adaptor"
TYPES = (PROMETHEUS, ADAPTOR, RESOURCE_METRICS)
ELASTICSEARCH = "elasticsearch"
EVERY_MS = 30_000
LEAST_MS = 1_000
OF_ELASTICSEARCH = tuple(f"{ELASTICSEARCH}.{name}" for name in ("index", "username", "password", "hostnameFieldName"))
INSECURE = "tls.insecureSkipVerify"


@dataclass(frozen=True, slots=True)
class Measuring:
    """See the module."""

    type: str = RESOURCE_METRICS
    address: str = ""
    every_ms: int = EVERY_MS
    insecure: bool = False


def is_wanted(conf: Conf) -> bool:
    """Does anybody look at how busy nodes are?"""
    return any(option.name == PLUGIN for tier in conf.tiers for option in tier)


def measuring(raw: Any, errors: list[FieldError]) -> Measuring:
    """What the section says (None: there is none); what is wrong with it is added to the errors."""
    if raw is None:
        return Measuring()
    if not isinstance(raw, Mapping):
        errors.append(FieldError("metrics", "must be a mapping", "FieldValueTypeInvalid"))
        return Measuring()
    section = Section("metrics", raw, errors)
    for name in OF_ELASTICSEARCH:
        section.skip(name)
    found = Measuring(
        section.word("type", TYPES, PROMETHEUS),
        section.text("address", ""),
        section.duration("interval", EVERY_MS, least=LEAST_MS),
        _insecure(section),
    )
    if raw.get("type") in (None, PROMETHEUS) and not _is_address(found.address):
        detail = "must be the address of Prometheus, such as http://prometheus.monitoring:9090"
        section.wrong("address", detail, "FieldValueInvalid" if found.address else "FieldValueRequired", found.address)
    section.done()
    return found


def _insecure(section: Section) -> bool:
    section.skip(INSECURE)
    found = section.raw.get(INSECURE)
    if found not in (None, True, False, "true", "false", ""):
        section.wrong(INSECURE, 'must be "true" or "false"', value=found)
    return found in (True, "true")


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
