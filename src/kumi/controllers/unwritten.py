"""Answers that need not be written at once: decided and counted, kept until it is their turn.

The rule   a held workload of which only numbers moved (a place further in the queue, some quota freed): REFRESH_AT_ONCE
           of them every REFRESH_MS, the longest unwritten first
           a pod that waits for the rest of its gang to be created: GANG_MS after that was first said, if it still waits
Why        With a thousand waiting, every start moves the numbers of all the others: a thousand writes that nobody reads.
           A gang is incomplete for a moment whenever it is created: that is no news, unless it stays so.
Order      Workloads before pods, each in the order in which they were first put.
Cost       O(1) to put and drop, O(what is due) to take.
"""

from __future__ import annotations

from kumi.engine.decisions import Hold, Unplaced

REFRESH_MS = 1000
REFRESH_AT_ONCE = 32
GANG_MS = 2000


class Unwritten:
    """See the module."""

    def __init__(self) -> None:
        self._holds: dict[str, Hold] = {}
        self._pods: dict[str, tuple[Unplaced, int]] = {}
        self._refreshed_ms = 0

    def put(self, decision: Hold | Unplaced, now_ms: int) -> None:
        """Keeps the answer in place of the one before; its turn stays that of the first."""
        if isinstance(decision, Hold):
            self._holds[decision.workload] = decision
        else:
            _, due_ms = self._pods.get(decision.pod, (None, now_ms + GANG_MS))
            self._pods[decision.pod] = (decision, due_ms)

    def put_back(self, decision: Hold | Unplaced, now_ms: int) -> None:
        """The write was refused: its turn comes again, unless there is a newer answer."""
        if isinstance(decision, Hold):
            self._holds.setdefault(decision.workload, decision)
        else:
            self._pods.setdefault(decision.pod, (decision, now_ms + GANG_MS))

    def drop_workload(self, key: str) -> None:
        """Another answer was given, or it is gone."""
        self._holds.pop(key, None)

    def drop_pod(self, uid: str) -> None:
        """Another answer was given, or it is gone."""
        self._pods.pop(uid, None)

    def take(self, now_ms: int) -> list[Hold | Unplaced]:
        """Those whose turn it is."""
        due: list[Hold | Unplaced] = []
        if self._holds and now_ms >= self._refreshed_ms + REFRESH_MS:
            self._refreshed_ms = now_ms
            due += [self._holds.pop(key) for key in list(self._holds)[:REFRESH_AT_ONCE]]
        while self._pods and (first := next(iter(self._pods.values())))[1] <= now_ms:
            due.append(self._pods.pop(first[0].pod)[0])
        return due

    def wake_at_ms(self, now_ms: int) -> int | None:
        """When the next turn is."""
        times = [self._refreshed_ms + REFRESH_MS] if self._holds else []
        times += [due_ms for _, due_ms in list(self._pods.values())[:1]]
        return max(now_ms, min(times)) if times else None
