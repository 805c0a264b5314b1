"""Past usage of LocalQueues, as their status shows it: what the scheduler's state knows, written so that a restart finds it.

The rule   of each LocalQueue whose usage was sampled, once in a sampling period and when it has none any more:
             status.fairSharing.admissionFairSharingStatus   consumedResources in whole units, lastUpdate
Why        The state is not kept elsewhere: what is in the API is what the next scheduler starts from.
Runs with  the scheduler, in one pump, and after it: it reads the state that the scheduler decides on.
Source     Kueue: LocalQueue status, admission fair sharing.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import Object, format_time
from kumi.api.quantity import nano_text
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import status_patch
from kumi.bridge.into.quotas import NANO
from kumi.engine.state import State
from kumi.runtime.decider import NO_STEPS, Batch, Step


class PastUsageStatus:
    """See the module and kumi.runtime.decider.Decider."""

    name = "kumi-past-usage"

    def __init__(self, state: State) -> None:
        self._state = state
        self._queues: dict[str, kueue.LocalQueue] = {}
        self._written_ms: dict[str, int] = {}

    @property
    def watches(self) -> tuple[type[Object], ...]:
        """See Decider."""
        return (kueue.LocalQueue,)

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        """See Decider."""
        if isinstance(new, kueue.LocalQueue):
            self._queues[key] = new
        else:
            self._queues.pop(key, None)
            self._written_ms.pop(key, None)

    def decide(self, now_ms: int) -> Batch:
        """See Decider."""
        past = self._state.past
        if past.settings is None:
            return NO_STEPS
        steps, wakes = [], []
        for key, queue in sorted(self._queues.items()):
            if key not in past.sampled_ms:
                continue
            due_ms = self._written_ms.get(key, now_ms - past.settings.sampling_ms) + past.settings.sampling_ms
            if due_ms > now_ms:
                wakes.append(due_ms)
            elif past.sampled_ms[key] > self._written_ms.get(key, -1):
                self._written_ms[key] = now_ms
                steps.append(Step(key, (status_patch(SCHEME.of(kueue.LocalQueue), queue, self._status(key, queue)),)))
        return Batch(tuple(steps), min(wakes, default=None))

    def settle(self, token: str, ok: bool, error: str) -> None:
        """See Decider."""
        if not ok:
            self._written_ms.pop(token, None)

    def _status(self, key: str, queue: kueue.LocalQueue) -> JsonObject:
        past, said = self._state.past, queue.status.fair_sharing
        consumed = {r: nano_text(int(amount * NANO)) for r, amount in sorted(past.consumed.get(key, {}).items())}
        before = said.admission_fair_sharing_status if said is not None else None
        gone = {r: None for r in (before.consumed_resources if before is not None else {}) if r not in consumed}
        share = said.weighted_share if said is not None else 0
        made = {"consumedResources": {**gone, **consumed}, "lastUpdate": format_time(past.sampled_ms[key])}
        return {"fairSharing": {"weightedShare": share, "admissionFairSharingStatus": made}}
