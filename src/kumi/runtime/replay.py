"""Replay files: what a loop saw when it found a bug of ours (an InvariantError), so that the bug becomes a test.

A file is one JSON object: the loop, the key it looked at ("" for a decider), the time, the error, and every object in
its view as decoded. Feeding the objects to the same loop at the same time shows the same error.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import orjson

from kumi.api.meta import Object
from kumi.runtime.cache import Cache

log = logging.getLogger(__name__)

KEEP = 20
"""Files kept in a directory; a loop that fails over and over must not fill the disk."""


@dataclass(frozen=True)
class Replay:
    """See the module. `objects` are by type name, each list in key order. `recent` are the last calls of a decider."""

    loop: str
    key: str
    now_ms: int
    error: str
    objects: dict[str, list[Any]]
    recent: list[str] = field(default_factory=list)


Recorder: TypeAlias = Callable[[Replay], None]


def objects_of(cache: Cache, types: Iterable[type[Object]]) -> dict[str, list[Any]]:
    """The objects of those types as plain JSON values."""
    return {type_.__name__: [msgspec.to_builtins(o) for o in cache.list(type_)] for type_ in types}


class ReplayFiles:
    """A Recorder that writes files into a directory and keeps the newest KEEP of them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __call__(self, replay: Replay) -> None:
        """Writes one; a disk that refuses is logged, since the loop has worse to tell."""
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            path = self._free(f"{replay.now_ms:015d}-{replay.loop}")
            path.write_bytes(orjson.dumps(replay, option=orjson.OPT_INDENT_2))
            for old in sorted(self._directory.glob("*.json"))[:-KEEP]:
                old.unlink(missing_ok=True)
        except OSError:
            log.exception("no replay file for %s", replay.loop)
        else:
            log.error("what %s saw is in %s", replay.loop, path)

    def _free(self, stem: str) -> Path:
        paths = (self._directory / f"{stem}{f'-{i}' if i else ''}.json" for i in range(KEEP + 1))
        return next((path for path in paths if not path.exists()), self._directory / f"{stem}.json")
