from __future__ import annotations

import re

import pytest
from aiohttp import ClientSession

from kumi.api.measures import Family, Histogram, Sample, one
from kumi.apiserver.metrics import Exposition, make_metrics_app, metric_of
from kumi.apiserver.server import Server
from tests.apiserver.conftest import config_map


def value(page: str, name: str, /, **labels: str) -> float:
    """The sum of the samples of that name that have these labels."""
    found = 0.0
    for line in page.splitlines():
        match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
        if match and match[1] == name:
            told = dict(re.findall(r'(\w+)="([^"]*)"', match[2] or ""))
            found += float(match[3]) if labels.items() <= told.items() else 0
    return found


def boom() -> list[Family]:
    raise RuntimeError("no")


def test_families_become_what_prometheus_reads_and_several_sources_of_one_name_are_one() -> None:
    waited = Histogram((0.5, 1.0))
    waited.observe(0.7)
    first = [
        Family("depth", "How many.", "gauge", ("name",), (Sample(("a",), 2),)),
        one("w", "Wait.", "histogram", waited),
    ]
    second = [
        Family("depth", "How many.", "gauge", ("name",), (Sample(("b",), 3),)),
        one("c_total", "C.", "counter", 4),
    ]
    body, media_type = Exposition([lambda: first, lambda: second]).text("")
    page = body.decode()
    assert media_type.startswith("text/plain")
    assert page.count("# TYPE depth gauge") == 1
    assert (value(page, "depth", name="a"), value(page, "depth", name="b"), value(page, "c_total")) == (2, 3, 4)
    assert [value(page, "w_bucket", le=bound) for bound in ("0.5", "1.0", "+Inf")] == [0, 1, 1]
    assert (value(page, "w_count"), value(page, "w_sum")) == (1, 0.7)
    assert value(page, "process_resident_memory_bytes") > 0


def test_a_source_that_fails_takes_nobody_else_with_it(caplog: pytest.LogCaptureFixture) -> None:
    body, _ = Exposition([boom, lambda: [one("x", "X.", "gauge", 1)]]).text("")
    assert value(body.decode(), "x") == 1
    assert "a source of metrics failed" in caplog.text


def test_two_expositions_of_a_process_tell_nothing_of_each_other() -> None:
    first, second = (Exposition([lambda: [one("x", "X.", "gauge", 1)]]), Exposition([]))
    assert b"\nx 1.0" in first.text("")[0]
    assert b"\nx " not in second.text("")[0]


def test_a_family_without_samples_is_told_of() -> None:
    assert metric_of(Family("x", "X.", "gauge", ("a",))).samples == []


async def test_the_page_is_there_in_both_formats_and_compressed(client: ClientSession) -> None:
    plain = await client.get("/metrics")
    assert (plain.status, plain.content_type) == (200, "text/plain")
    assert plain.headers["Content-Encoding"] == "gzip"
    accept = "application/openmetrics-text; version=1.0.0"
    assert (await (await client.get("/metrics", headers={"Accept": accept})).text()).endswith("# EOF\n")


async def test_stored_objects_are_told_by_kind(client: ClientSession) -> None:
    for name in ("a", "b"):
        await client.post("/api/v1/namespaces/default/configmaps", json=config_map(name))
    page = await (await client.get("/metrics")).text()
    assert value(page, "apiserver_storage_objects", resource="configmaps") == 2
    assert value(page, "apiserver_storage_objects", resource="jobs.batch") == 0


async def test_an_application_of_its_own_has_metrics_and_health_and_nothing_else() -> None:
    app = make_metrics_app([lambda: [one("x", "X.", "gauge", 1)]], {"deciders": lambda: False})
    async with Server(app) as server, ClientSession(server.url) as client:
        assert value(await (await client.get("/metrics")).text(), "x") == 1
        codes = [(await client.get(path)).status for path in ("/livez", "/readyz", "/api/v1/pods")]
        assert codes == [200, 500, 404]
