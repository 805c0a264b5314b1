"""Snapshot: Kueue's way with a cycle's entries. All were nominated on one state; each is judged by what those before it took.

The rule, for one entry after the other
    1  one of its targets is a target already: with settings.recompute_overlap its nominated flavors are looked at again as if
       the earlier victims were gone. Fits: it is deferred, and takes its usage. Other victims: it goes on with them. Else, and
       without that setting, it is outrun.
    2  it doesn't fit, and nobody would go: NO_FIT
    3  nobody may go: NO_CANDIDATES. Unless its queue may reclaim from anybody it takes what it could get in time, so that
       others of the cohort don't: up to its borrowing limit where it would borrow, else up to its nominal quota
    4  with all victims gone, its own and the earlier ones, it doesn't fit: OUTRUN
    5  it takes its usage; it is PENDING where it has targets, else ADMITTED (HELD while admitted pods are not ready)
What an entry takes here is taken back when the cycle is judged; what is decided then counts.
Why            it is what Kueue does, and what the suites were recorded with. live.py is how Kumi does it.
Order          entries.py.
Cost           O(entries x (flavor-resources x depth + victims)).
Source         Kueue: the scheduling cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kumi.engine.admission.assignment import Mode
from kumi.engine.admission.entries import Entry, ordered
from kumi.engine.admission.nominate import nominate
from kumi.engine.admission.question import Aim
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.admission.verdicts import Outcome, Verdict
from kumi.engine.model import Evictable, Quota

if TYPE_CHECKING:
    from kumi.engine.state import State

NONE = Quota(0)


def process(state: State, entries: list[Entry]) -> Iterator[Verdict]:
    """See the module."""
    with state.trial():
        judged = _Cycle(state).judge(entries)
    yield from judged


class _Cycle:
    def __init__(self, state: State) -> None:
        self.state = state
        self.taken: dict[str, None] = {}
        """targets of this cycle"""
        self.starting = 0

    def judge(self, entries: list[Entry]) -> list[Verdict]:
        """Every entry, in order."""
        return [self._one(entry) for entry in ordered(self.state, entries)]

    def _one(self, entry: Entry) -> Verdict:
        recomputed = ""
        if any(target.workload in self.taken for target in entry.targets):
            if not self.state.profile.settings.recompute_overlap:
                return Verdict(entry, Outcome.OUTRUN, skipped=True)
            again = self._again(entry)
            if again.fits:
                self._take(again)
                return Verdict(again, Outcome.PENDING, recomputed="deferred_fit")
            if not again.targets:
                outcome = Outcome.NO_CANDIDATES if again.assignment.mode.evicts else Outcome.NO_FIT
                return Verdict(again, outcome, skipped=True, recomputed="skipped")
            entry, recomputed = again, "new_targets"
        if entry.assignment.mode is Mode.NO_FIT:
            return Verdict(entry, Outcome.NO_FIT)
        if not entry.fits and not entry.targets:
            self._reserve(entry)
            return Verdict(entry, Outcome.NO_CANDIDATES)
        targets = [target.workload for target in entry.targets]
        if not self._fits_without(entry, targets):
            return Verdict(entry, Outcome.OUTRUN, skipped=not entry.fits, recomputed=recomputed)
        if entry.fits and self._must_wait():
            return Verdict(entry, Outcome.HELD)
        self._take(entry)
        self.taken.update(dict.fromkeys(targets))
        self.starting += entry.fits
        return Verdict(entry, Outcome.ADMITTED if entry.fits else Outcome.PENDING, recomputed=recomputed)

    def _must_wait(self) -> bool:
        ready = self.state.profile.settings.pods_ready
        return ready is not None and ready.block_admission and bool(self.state.unready or self.starting)

    def _again(self, entry: Entry) -> Entry:
        """The entry as it is with the earlier victims gone, on its nominated flavors."""
        with self.state.trial():
            for victim in self.taken:
                self.state.holdings.drop(victim)
            return nominate(self.state, entry.workload, entry.queue, Aim(nominated=entry.assignment))

    def _fits_without(self, entry: Entry, targets: Iterable[str]) -> bool:
        """Does it fit with all victims gone?"""
        with self.state.trial():
            for victim in {**self.taken, **dict.fromkeys(targets)}:
                self.state.holdings.drop(victim)
            return self.state.quotas.fits(entry.queue.name, entry.usage)

    def _take(self, entry: Entry) -> None:
        for fr, amount in entry.usage.items():
            self.state.quotas.add(entry.queue.name, fr, amount)

    def _reserve(self, entry: Entry) -> None:
        if entry.queue.preemption.reclaim is Evictable.ANY:
            return
        for fr, amount in entry.usage.items():
            self.state.quotas.add(entry.queue.name, fr, self._in_time(entry, fr, amount))

    def _in_time(self, entry: Entry, fr: FlavorResource, amount: int) -> int:
        """How much of it the entry keeps from others."""
        quotas, name = self.state.quotas, entry.queue.name
        quota, used = quotas.quota.get(name, {}).get(fr, NONE), quotas.used(name, fr)
        if not entry.level:
            return max(0, min(amount, quota.nominal - used))
        if quota.borrowing_limit is None:
            return amount
        return min(amount, quota.nominal + quota.borrowing_limit - used)
