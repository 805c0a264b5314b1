"""Entries: the heads of one cycle, and in which order they are processed.

The rule       by default, in this order
                   who holds quota already goes first
                   who waits for its victims                      in profile kueue only where settings say so
                   the lower level of borrowing (quota.py)
                   the higher priority                            unless settings say the older one
                   the earlier time, then the name of the queue
               where dominant shares decide (settings.fair): by the tournament of fair_sharing.py, anew after each of them
Waiting        claims (../claims.py) keep what was promised to those who wait; after a restart they are found in the objects, and
               go first so that they get it again.
Why            who stays within its own quota is never behind one that would take it.
Order and ties a queue has one head; of the same queue, those who hold quota go by their keys.
Cost           O(n log n) for n heads.
Source         Kueue: the scheduling cycle.
Not here       who is the head of its queue: ../queues.py, order.py; what becomes of an entry: snapshot.py, live.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kumi.engine.admission import fair_sharing
from kumi.engine.admission.assignment import Assignment, Mode
from kumi.engine.admission.order import stamp_ms
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.admission.victims import Target
from kumi.engine.model import ClusterQueue, Workload
from kumi.engine.reasons import Considered
from kumi.engine.settings import Settings

if TYPE_CHECKING:
    from kumi.engine.state import State


@dataclass(slots=True)
class Entry:
    """A head with what it would get. `targets`: who would have to go; `plan`: what it gets once they are gone, where that is
    worked out; `considered`: who was thought of; `evicting`: eviction was thought of; `later`: it fits as soon as those are gone
    whom others evict; `holds`: it has quota already."""

    workload: Workload
    queue: ClusterQueue
    assignment: Assignment
    targets: tuple[Target, ...] = ()
    plan: Assignment | None = None
    considered: tuple[Considered, ...] = ()
    evicting: bool = False
    later: bool = False
    holds: bool = False
    seen: tuple[int, int] = field(default=(0, 0))
    """how often its tree and the nodes had changed in this cycle when it was nominated"""

    @property
    def key(self) -> str:
        """The workload's."""
        return self.workload.key

    @property
    def level(self) -> int:
        """How high up it would borrow."""
        return self.assignment.level

    @property
    def usage(self) -> dict[FlavorResource, int]:
        """What it would add to its queue's usage."""
        return self.assignment.usage

    @property
    def fits(self) -> bool:
        """Now, without anybody going."""
        return self.assignment.mode is Mode.FIT and not self.later


def ordered(state: State, entries: list[Entry]) -> Iterator[Entry]:
    """The entries as they are to be processed; the state may change between one and the next."""
    settings, first = state.profile.settings, WAITING_FIRST[state.profile.name](state.profile.settings)
    if settings.fair is None:
        yield from sorted(entries, key=lambda entry: _rank(entry, settings, first))
        return
    entry_by_workload = {entry.key: entry for entry in entries}
    askers = [_asker(entry, settings, first) for entry in entries]
    for asker in fair_sharing.tournament(state, askers):
        yield entry_by_workload[asker.workload]


WAITING_FIRST: dict[str, Callable[[Settings], bool]] = {
    "kumi": lambda _: True,
    "volcano": lambda _: True,
    "kueue": lambda settings: settings.preemptors_first,
}
"""by the profile's name: do those who wait for their victims go first?"""


def _rank(entry: Entry, settings: Settings, waiting_first: bool) -> tuple[object, ...]:
    """Where an entry stands where shares play no part; smaller goes first."""
    waits = entry.workload.waiting and waiting_first
    return (not entry.holds, not waits, entry.level, *_turn(entry, settings))


def _asker(entry: Entry, settings: Settings, waiting_first: bool) -> fair_sharing.Asker:
    waits = entry.workload.waiting and waiting_first
    return fair_sharing.Asker(entry.key, entry.queue.name, entry.usage, _turn(entry, settings), waits)


def _turn(entry: Entry, settings: Settings) -> tuple[object, ...]:
    priority = -entry.workload.priority if settings.priority_in_cohort else 0
    return priority, stamp_ms(entry.workload), entry.queue.name, entry.key
