"""What a decider is: a value that holds a whole state, takes changes in, gives decisions out, and hears how they ended.

A controller (kumi.runtime.reconcile) looks at one key at a time. A decider weighs everything against everything (who may
start, and where), so it keeps a state that it updates change by change. Its life is always in this order:

    apply*      every change that the watches have delivered, in the order of `watches`, then by key
    decide      at one `now`, only when all of them were applied
    (writes)    the pump (kumi.runtime.pump) does the writes of the steps: steps side by side, a step's own in order
    settle*     one call for each step, in the order of the batch; later for a step whose answer was lost

and again until a batch has no steps. A decider assumes its own decisions at once: the next `decide` counts them as
done, `settle(ok=False)` undoes one. Between a write and the watch event that shows it the pump holds back older states of
the written object, so `apply` never takes a decider back to before its own acknowledged write.

An error that is not a refusal (InvariantError, or any other bug) ends the cycle; the pump writes a replay file, makes
new deciders and applies everything to them, as after a restart. So nothing that matters may live in a decider alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from kumi.api.meta import Object
from kumi.api.wire import JsonObject
from kumi.runtime.reconcile import Note, Write


@dataclass(frozen=True)
class Step:
    """One decision as writes. `token` names it for `settle`; it is unique within its batch.

    The writes are done in order and stop at the first refusal; the notes are told only when all were acknowledged
    (a step of notes alone always tells them)."""

    token: str
    writes: tuple[Write, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Batch:
    """What one look leads to. `wake_at_ms` (since the epoch): decide again then even if nothing changes."""

    steps: tuple[Step, ...] = ()
    wake_at_ms: int | None = None


NO_STEPS = Batch()
FAILED_TO_DECIDE = "FailedToDecide"
"""the reason of the warnings to those who wait for a decider that fails"""


class Decider(Protocol):
    """See the module. `name` is unique and is the `reportingComponent` of its events."""

    name: str

    @property
    def watches(self) -> tuple[type[Object], ...]:
        """The types it reads, those that others refer to first (a flavor before the queue that names it)."""
        ...

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        """An object appeared (`old` None), changed, or is gone (`new` None). `old` is what this decider was last given
        for the key; several changes in between may have become one. `key` is `new.key` or `old.key`."""
        ...

    def decide(self, now_ms: int) -> Batch:
        """Everything that can be decided on the state as it is. No steps: a fixed point, nothing left to do."""
        ...

    def settle(self, token: str, ok: bool, error: str) -> None:
        """The step's writes were all acknowledged, or one was not done: `error` says why ("" when ok).

        A step whose answer was lost is settled (not ok) only when every change up to then was applied: if a write of it
        was done after all, `apply` has shown it before. Until then it stays assumed, perhaps over several `decide`."""
        ...


@runtime_checkable
class Follower(Protocol):
    """A decider that is told how far its view is: what is missing from a view that is far enough is not there at all."""

    def reached(self, type_: type[Object], revision: str) -> None:
        """Everything of that type up to the revision was applied. Called before `decide`, when it has moved."""
        ...


@runtime_checkable
class Awaited(Protocol):
    """A decider on whose decisions somebody waits, who is told when it fails."""

    def awaited_by(self) -> Iterator[JsonObject]:
        """References of who waits, those that people look at first; asked after an error, of whatever it was in."""
        ...
