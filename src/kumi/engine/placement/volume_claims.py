"""Volume claims: which there are, and which pods use them where.

The rule       a pod uses the claims of its shape while it sits on a node (../pods.py); one that waits, or has ended, uses none.
Why            kept with the nodes, since what a claim says is of nodes: a change of a claim is to those who wait as if every
               node had changed. `looked_at` tells whether anybody may be waiting: a claim that nobody was ever refused or
               placed for changes for nobody. It only grows, and is no part of the state that a trial takes back.
Attached       a volume that a driver attaches is on a node once, however many claims and pods use it there; one that isn't made
               yet is known by its claim.
Cost           O(claims of the pod) when one comes or goes; O(pods that use it) where a claim gets its volume.
Not here       what follows for a pod that names them: plugins/volumes.py.
"""

from __future__ import annotations

from typing import TypeVar

from kumi.engine.journal import Journal
from kumi.engine.model import Pod, VolumeClaim

T = TypeVar("T")


class VolumeClaims:
    """All claims by key."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.by_key: dict[str, VolumeClaim] = {}
        self.users: dict[str, dict[str, str]] = {}
        """claim -> pod uid -> node"""
        self.attached: dict[str, dict[str, dict[str, int]]] = {}
        """driver -> node -> volume -> how many uses of it"""
        self.looked_at: dict[str, None] = {}
        """the claims that a decision has asked for"""

    def put(self, claim: VolumeClaim) -> bool:
        """There is such a claim, or it changed; True where that is news to somebody."""
        if self.by_key.get(claim.key) == claim:
            return False
        self._attach_all(claim.key, -1)
        self._journal.put(self.by_key, claim.key, claim)
        self._attach_all(claim.key, 1)
        return claim.key in self.looked_at

    def remove(self, key: str) -> None:
        """The claim is gone; who uses it goes on."""
        self._attach_all(key, -1)
        self._journal.drop(self.by_key, key)

    def seat(self, pod: Pod, node: str) -> None:
        """The pod sits on that node now ("": nowhere)."""
        for key in pod.shape.volume_claims:
            users = self.users.get(key)
            was = users.get(pod.uid, "") if users is not None else ""
            if was == node:
                continue
            self._attach(key, was, -1)
            self._attach(key, node, 1)
            if node:
                if users is None:
                    users = {}
                    self._journal.put(self.users, key, users)
                self._journal.put(users, pod.uid, node)
            elif users is not None:
                self._journal.drop(users, pod.uid)
                if not users:
                    self._journal.drop(self.users, key)

    def _attach_all(self, key: str, times: int) -> None:
        for node in self.users.get(key, {}).values():
            self._attach(key, node, times)

    def _attach(self, key: str, node: str, times: int) -> None:
        """One use more, or less, of the claim's volume on the node."""
        claim = self.by_key.get(key)
        if not node or claim is None or not claim.driver:
            return
        nodes = self._of(self.attached, claim.driver)
        volumes = self._of(nodes, node)
        uses = volumes.get(volume_of(claim), 0) + times
        if uses:
            self._journal.put(volumes, volume_of(claim), uses)
            return
        self._journal.drop(volumes, volume_of(claim))
        if not volumes:
            self._journal.drop(nodes, node)

    def _of(self, table: dict[str, dict[str, T]], key: str) -> dict[str, T]:
        """The part of a table; made where there is none."""
        if key not in table:
            self._journal.put(table, key, {})
        return table[key]


def volume_of(claim: VolumeClaim) -> str:
    """What its driver attaches: the same for claims of one volume."""
    return claim.handle or f"claim {claim.key}"
