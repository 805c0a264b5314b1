"""Volume claims: which there are, and which pods use them where.

The rule       a pod uses the claims of its shape while it sits on a node (../pods.py); one that waits, or has ended, uses none.
Why            kept with the nodes, since what a claim says is of nodes: a change of a claim is to those who wait as if every
               node had changed. `looked_at` tells whether anybody may be waiting: a claim that nobody was ever refused or
               placed for changes for nobody. It only grows, and is no part of the state that a trial takes back.
Cost           O(claims of the pod) when one comes or goes.
Not here       what follows for a pod that names them: plugins/volumes.py.
"""

from __future__ import annotations

from kumi.engine.journal import Journal
from kumi.engine.model import Pod, VolumeClaim


class VolumeClaims:
    """All claims by key."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.by_key: dict[str, VolumeClaim] = {}
        self.users: dict[str, dict[str, str]] = {}
        """claim -> pod uid -> node"""
        self.looked_at: dict[str, None] = {}
        """the claims that a decision has asked for"""

    def put(self, claim: VolumeClaim) -> bool:
        """There is such a claim, or it changed; True where that is news to somebody."""
        if self.by_key.get(claim.key) == claim:
            return False
        self._journal.put(self.by_key, claim.key, claim)
        return claim.key in self.looked_at

    def remove(self, key: str) -> None:
        """The claim is gone; who uses it goes on."""
        self._journal.drop(self.by_key, key)

    def seat(self, pod: Pod, node: str) -> None:
        """The pod sits on that node now ("": nowhere)."""
        for key in pod.shape.volume_claims:
            users = self.users.get(key)
            if node:
                if users is None:
                    users = {}
                    self._journal.put(self.users, key, users)
                self._journal.put(users, pod.uid, node)
            elif users is not None and pod.uid in users:
                self._journal.drop(users, pod.uid)
                if not users:
                    self._journal.drop(self.users, key)
