"""Who waits, and where: what the API server asks of whoever decides. The scheduler implements it, the command line wires it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject


@dataclass(frozen=True)
class Pending:
    """A workload that waits in the line of a ClusterQueue; positions from 0. `metadata`: its own, as the API has it, reduced to
    what tells it and its job."""

    metadata: JsonObject
    priority: int
    local_queue: str
    position: int
    position_in_local_queue: int


@runtime_checkable
class PendingSource(Protocol):
    """Knows the lines."""

    def pending(self, cluster_queue: str) -> Iterator[Pending] | None:
        """Everybody in the line of that ClusterQueue, the head first, as of now; None: there is no such queue."""
        ...

    def cluster_queue_of(self, local_queue: str) -> str | None:
        """The ClusterQueue that a LocalQueue (`namespace/name`) opens to; None: there is no such door."""
        ...


def nobody_decides() -> ApiError:
    """There is nobody to ask: the API is as good as not installed."""
    return ApiError(404, "NotFound", "no scheduler runs in this process: there is nobody to ask who waits")
