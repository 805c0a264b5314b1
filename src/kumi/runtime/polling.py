"""Polling: objects that nobody lets be watched: asked for now and then, told to loops as an informer tells what it watches.

The rule   read, tell the differences to what the cache has, wait, again; from when the first lists of what it looks at are there
Down       a read that fails, or takes longer than PATIENCE_S, changes nothing: what was read before stays, and its age is for
           whoever looks at it. The log says so once, and once when it works again; the measures say it as long as it lasts.
Begin      whoever waits for the first list waits for the first read, whether it works or not: a source that is down keeps nobody
           from deciding.
Not here   what is read: node_loads.py.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from kumi.api.errors import KumiError
from kumi.api.measures import Family, Sample
from kumi.api.meta import Object
from kumi.api.scheme import Kind
from kumi.runtime.cache import Cache
from kumi.runtime.client import Reader
from kumi.runtime.clock import Clock
from kumi.runtime.informer import Informer
from kumi.runtime.view import View

log = logging.getLogger(__name__)

PATIENCE_S = 10.0


@dataclass(frozen=True)
class Source:
    """Where the objects of one type come from. `name`: as people know it; `kind`: what is asked for; `objects`: what comes of it;
    `looks_at`: types that `read` looks at.

    `read` gives all objects as they are now. KumiError, OSError: it can't be asked, or what it says can't be read."""

    name: str
    kind: Kind
    objects: type[Object]
    looks_at: tuple[type[Object], ...]
    every_ms: int
    read: Callable[[View, int], Awaitable[Sequence[Object]]]
    """(what is looked at, now in ms)"""


class Polling(Informer):
    """See the module. `seen`: informers of the types that the source looks at."""

    def __init__(self, reader: Reader, source: Source, cache: Cache, clock: Clock, seen: Sequence[Informer]) -> None:
        super().__init__(reader, source.kind, cache, clock, source.objects)
        self._source, self._seen_first = source, tuple(seen)
        self._works: bool | None = None
        self._done = self._failed = 0

    async def run(self) -> None:
        """Until cancelled."""
        for informer in self._seen_first:
            await informer.synced.wait()
        while True:
            await self._read()
            self.synced.set()
            await self._clock.sleep_ms(self._source.every_ms)

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured."""
        name = self._source.name
        ended = (Sample((name, "done"), self._done), Sample((name, "failed"), self._failed))
        told = "Questions to sources that can only be asked, by how they ended."
        yield Family("kumi_polls_total", told, "counter", ("source", "result"), ended)
        works = (Sample((name,), float(self._works is not False)),)
        yield Family("kumi_poll_source_up", "0 while a source gives no answer.", "gauge", ("source",), works)

    async def _read(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                found = await self._source.read(self._cache, self._clock.now_ms())
        except TimeoutError:
            self._tell_down(f"no answer within {PATIENCE_S:g} s")
        except (KumiError, OSError) as error:
            self._tell_down(str(error) or type(error).__name__)
        except Exception as error:
            if self._works is not False:
                log.exception("reading %s failed: a bug", self._source.name)
            self._tell_down(str(error) or type(error).__name__)
        else:
            self._done += 1
            if self._works is False:
                log.warning("%s answers again", self._source.name)
            self._works = True
            self._take(found)

    def _tell_down(self, why: str) -> None:
        self._failed += 1
        if self._works is not False:
            log.warning(
                "%s gives no answer: %s; what it said before counts until it is too old", self._source.name, why
            )
        self._works = False

    def _take(self, objects: Sequence[Object]) -> None:
        left = dict.fromkeys(obj.key for obj in self.mine())
        for obj in objects:
            left.pop(obj.key, None)
            old = self._cache.find(self._type, obj.key)
            if old != obj:
                self._cache.set(obj)
                self._tell(old, obj)
        for key in left:
            self._removed(key)
        self._progressed()
