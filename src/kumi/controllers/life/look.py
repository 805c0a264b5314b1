"""One look at a Workload: it, its queues, what its administrator wants, and a `now`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from kumi.api import kueue
from kumi.api.meta import Condition, find_condition, is_true, parse_time
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import status_patch
from kumi.bridge.out.eviction import Eviction, evicted_status, notes
from kumi.bridge.out.reference import reference
from kumi.engine.settings import PodsReady
from kumi.runtime.reconcile import Note, Outcome


@dataclass(frozen=True)
class Policy:
    """What holds for the life of all workloads. `pods_ready` None: pods may take as long as they like; `keep_finished_ms`: for
    how long a finished one is kept (None: as long as its job); `orphans_finish`: one whose job let go of it is over;
    `explicit`: what waits says so from its first moment on."""

    pods_ready: PodsReady | None = None
    keep_finished_ms: int | None = None
    orphans_finish: bool = True
    explicit: bool = False


@dataclass(frozen=True)
class Look:
    """See the module. `queue`, `cluster_queue`: None where there is no such one. `conditions`: those of the Workload, with
    what earlier rules of this look have changed in them."""

    workload: kueue.Workload
    queue: kueue.LocalQueue | None
    cluster_queue: kueue.ClusterQueue | None
    policy: Policy
    now_ms: int
    conditions: list[Condition] = field(default_factory=list)
    labels: Mapping[str, str] = field(default_factory=dict)
    """those of its namespace"""

    @property
    def active(self) -> bool:
        """Whether its user lets it run."""
        return self.workload.spec.active

    @property
    def holds_quota(self) -> bool:
        """Condition QuotaReserved."""
        return is_true(self.conditions, "QuotaReserved")

    @property
    def admitted(self) -> bool:
        """Condition Admitted."""
        return is_true(self.conditions, "Admitted")

    @property
    def evicted(self) -> bool:
        """Condition Evicted."""
        return is_true(self.conditions, "Evicted")

    def condition(self, type_: str) -> Condition | None:
        """The condition of that type."""
        return find_condition(self.conditions, type_)

    def since_ms(self, type_: str) -> int:
        """When a condition last changed; now, where nobody says."""
        found = self.condition(type_)
        return (parse_time(found.last_transition_time) if found is not None else None) or self.now_ms

    def note(self, reason: str, message: str, severity: str = "Normal") -> Note:
        """An event on the Workload."""
        return Note(reference(self.workload), reason, message, severity)

    def written(self, status: JsonObject, *told: Note) -> Outcome:
        """One patch of the status."""
        return Outcome((status_patch(SCHEME.of(kueue.Workload), self.workload, status),), told)

    def evict(self, eviction: Eviction, more: JsonObject | None = None) -> Outcome:
        """The eviction as one patch; `more`: other fields of the status that change with it."""
        status = evicted_status(self.workload, eviction, self.conditions, self.now_ms)
        return self.written({**status, **(more or {})}, *notes(self.workload, eviction))


Rule: TypeAlias = Callable[[Look], Outcome | None]
"""What one rule leads to; None where it does not apply, and the next one is asked"""
