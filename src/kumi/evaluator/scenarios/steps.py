"""Steps: what a scenario is made of, in the order of time: an object that is created, updated or deleted, or a job as it is.

Order      by time; at one instant as they come from their sources, the sources in the order of the scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from operator import attrgetter
from typing import Literal, TypeAlias

import numpy as np

from kumi.api.wire import JsonObject
from kumi.evaluator.model import Event

Verb = Literal["create", "update", "delete"]
VERBS: tuple[Verb, ...] = ("create", "update", "delete")


@dataclass(frozen=True, slots=True)
class Step:
    """Something is done with an object, a manifest as people write them: it is never changed. `place`: where it comes from, for
    people. An update says what is different, and how it is after: as a merge patch."""

    at_ms: int
    verb: Verb
    object: JsonObject
    place: str


@dataclass(frozen=True, slots=True)
class Told:
    """An event of a trace or a generator as it is. `place`: where it comes from, for people."""

    event: Event
    place: str = ""

    @property
    def at_ms(self) -> int:
        """When."""
        return self.event.at_ms


Moment: TypeAlias = Step | Told
Source: TypeAlias = Callable[[int], Iterator[Moment]]
"""with a seed, what comes, by time; the same each time"""


def together(sources: Sequence[Source], seed: int) -> Iterator[Moment]:
    """All of them."""
    return merge(*(source(seed) for source in sources), key=attrgetter("at_ms"))


def in_order(moments: Iterable[Moment]) -> list[Moment]:
    """By time, those of one instant as they are."""
    return sorted(moments, key=attrgetter("at_ms"))


def seed_of(seed: int, *places: int) -> int:
    """The seed of a source within a run: what chance gives to one of them does not depend on the others."""
    return int(np.random.SeedSequence((seed, *places)).generate_state(1, np.uint64)[0])
