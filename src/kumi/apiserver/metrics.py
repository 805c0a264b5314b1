"""/metrics: what the parts of a process tell of themselves (kumi.api.measures), in the formats that Prometheus reads.

    Exposition    the measures of its sources, and those of the process (memory, processor time, open files, the collector of
                  garbage), as text or OpenMetrics, whichever the scraper takes
A scrape asks every source anew: between two of them nothing is kept but the plain numbers of the parts themselves. The registry
is the exposition's own, so that several in one process (tests, mostly) tell nothing of each other.
Who may    on the API server those who may `get` the path (system:monitoring, administrators); beside `kumi controllers` whoever
           reaches its address, which is this machine's alone.
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from aiohttp import web
from prometheus_client import GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from kumi.api.measures import Family, Histogram, merged
from kumi.apiserver import health
from kumi.apiserver.errors import errors
from kumi.apiserver.responses import accepts_gzip

LOG = logging.getLogger("kumi.apiserver")

Source: TypeAlias = Callable[[], Iterable[Family]]
GZIP_LEVEL = 1


class Exposition(Collector):
    """See the module."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)
        self._registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._registry.register(self)

    def describe(self) -> Iterable[Metric]:
        """Nothing is said in advance: sources come and go."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Everything, as the library has it. A source that fails is left out, and the log says so."""
        families: list[Family] = []
        for source in self._sources:
            try:
                families += source()
            except Exception:
                LOG.exception("a source of metrics failed")
        return map(metric_of, merged(families))

    def text(self, accept: str) -> tuple[bytes, str]:
        """The whole page and its media type."""
        encode, media_type = choose_encoder(accept)
        return encode(self._registry), media_type


def metric_of(family: Family) -> Metric:
    """A family as the library has it."""
    if family.kind == "histogram":
        metric = HistogramMetricFamily(family.name, family.help, labels=family.labels)
        for labels, found in family.samples:
            assert isinstance(found, Histogram)
            buckets = [("+Inf" if bound == float("inf") else str(bound), float(n)) for bound, n in found.cumulative()]
            metric.add_metric(labels, buckets, found.total)
        return metric
    make = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    plain = make(family.name, family.help, labels=family.labels)
    for labels, value in family.samples:
        assert not isinstance(value, Histogram)
        plain.add_metric(labels, value)
    return plain


def add_routes(app: web.Application, exposition: Exposition) -> None:
    """/metrics."""

    async def metrics(request: web.Request) -> web.Response:
        body, media_type = exposition.text(request.headers.get("Accept", ""))
        headers = {"Content-Type": media_type, "Vary": "Accept, Accept-Encoding"}
        if accepts_gzip(request):
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body, GZIP_LEVEL)
        return web.Response(body=body, headers=headers)

    app.router.add_get("/metrics", metrics)


def make_metrics_app(sources: Sequence[Source], checks: Mapping[str, health.Check]) -> web.Application:
    """An application that has nothing else to say: /metrics, and the health paths."""
    app = web.Application(middlewares=[errors])
    health.add_routes(app, checks)
    add_routes(app, Exposition(sources))
    return app
