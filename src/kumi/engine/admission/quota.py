"""Quota: how much of one flavor-resource a queue may still use.

The rule, for a node n with children C (a ClusterQueue has none; this build makes no parents yet):
    subtree(n)   = nominal(n) + sum(subtree(c) - local(c) for c in C)
    local(n)     = max(0, subtree(n) - lending_limit(n)), 0 when lending is unlimited
    usage(n)     = own(n) + sum(max(0, usage(c) - local(c)) for c in C)
    available(n) = subtree(n) - usage(n)                                            at the root, else
                   max(0, local(n) - usage(n)) + min(available(parent), room to borrow(n))
    room to borrow(n) = subtree(n) - local(n) - max(0, usage(n) - local(n)) + borrowing_limit(n), no limit when that is unset
    potential(n) = subtree(n) at the root, else local(n) + potential(parent), at most subtree(n) + borrowing_limit(n)
Why        a lending limit keeps capacity at home; only what exceeds it is seen above.
Negative   available(n) < 0 means over-admission (quota was cut, or the queue moved): callers must not clamp it.
Unlimited  a quota of 2^63-1 or more is without end: whatever is used of it, as much is available.
Units      int64 in the resource's base unit (cpu and devices: thousandths; memory: bytes).
Cost       O(depth) a query and an update; O(children) where a node's quota changes.
Source     Kueue: hierarchical cohorts (KEP-79), lending limits (KEP-1224).
Not here   who goes first: order.py; which flavor: flavors.py; who uses it: ../holdings.py.
"""

from __future__ import annotations

from kumi.api.quantity import MAX
from kumi.engine.journal import Journal
from kumi.engine.model import Quota

FlavorResource = tuple[str, str]
"""(flavor, resource)"""

NONE = Quota(0)


class Quotas:
    """The tree: quota and usage of each node, kept as usage changes.

    A node may be used before it has quota, and after: a workload can name a queue that isn't there (any more)."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.quota: dict[str, dict[FlavorResource, Quota]] = {}
        self.usage: dict[str, dict[FlavorResource, int]] = {}
        self.parent: dict[str, str] = {}
        self.children: dict[str, dict[str, None]] = {}
        self.inherited: dict[tuple[str, FlavorResource], int] = {}
        """how far usage is past quota for causes outside of the engine: what invariants.py lets pass"""
        self.touched: dict[tuple[str, FlavorResource], None] = {}

    def set(self, node: str, quota: dict[FlavorResource, Quota], parent: str = "") -> None:
        """This node has that quota, under that parent ("": a root). The caller refuses cycles."""
        before = self.parent.get(node, "")
        old = self.quota.get(node, {})
        self._journal.put(self.quota, node, quota)
        if before != parent:
            self._move(node, before, parent)
        for fr in sorted({*old, *quota, *self.usage.get(node, {})}):
            self.touched[node, fr] = None
            self._recount(node, fr)
            if before and before != parent:
                self._recount_from(before, fr)

    def unset(self, node: str) -> None:
        """The node has no quota any more; what is used of it stays known."""
        self.set(node, {})
        self._journal.drop(self.quota, node)

    def subtree(self, node: str, fr: FlavorResource) -> int:
        """All that the node has: its own, and what its children lend."""
        own = self.quota.get(node, {}).get(fr, NONE).nominal
        lent = sum(self.subtree(c, fr) - self.local(c, fr) for c in self.children.get(node, ()))
        return min(MAX, own + lent)

    def local(self, node: str, fr: FlavorResource) -> int:
        """What the node keeps for itself."""
        limit = self.quota.get(node, {}).get(fr, NONE).lending_limit
        return 0 if limit is None or not self.parent.get(node) else max(0, self.subtree(node, fr) - limit)

    def used(self, node: str, fr: FlavorResource) -> int:
        """What is used of it, through the node itself or seen from its children."""
        return self.usage.get(node, {}).get(fr, 0)

    def available(self, node: str, fr: FlavorResource) -> int:
        """What may still be used; negative where more is used than there is."""
        subtree, used = self.subtree(node, fr), self.used(node, fr)
        parent = self.parent.get(node)
        if subtree >= MAX:
            return MAX
        if not parent:
            return subtree - used
        local = self.local(node, fr)
        above = self.available(parent, fr)
        limit = self.quota.get(node, {}).get(fr, NONE).borrowing_limit
        if limit is not None:
            above = min(above, subtree - local - max(0, used - local) + limit)
        return max(0, local - used) + above

    def potential(self, node: str, fr: FlavorResource) -> int:
        """What could be used were nobody else there."""
        subtree = self.subtree(node, fr)
        parent = self.parent.get(node)
        if not parent:
            return subtree
        most = min(MAX, self.local(node, fr) + self.potential(parent, fr))
        limit = self.quota.get(node, {}).get(fr, NONE).borrowing_limit
        return most if limit is None else min(most, subtree + limit)

    def add(self, node: str, fr: FlavorResource, amount: int) -> None:
        """The node uses so much more; negative: less. What exceeds what it keeps is passed up."""
        while node and amount:
            table = self._table(node)
            before = table.get(fr, 0)
            local = self.local(node, fr)
            self._set_usage(node, fr, before + amount)
            amount = max(0, before + amount - local) - max(0, before - local)
            node = self.parent.get(node, "")

    def inherit(self) -> None:
        """What is past quota now, of what was touched, is so for causes outside of the engine."""
        for node, fr in self.touched:
            over = self.used(node, fr) - self.subtree(node, fr)
            if over > 0:
                self._journal.put(self.inherited, (node, fr), over)
            else:
                self._journal.drop(self.inherited, (node, fr))
        self.touched.clear()

    def _table(self, node: str) -> dict[FlavorResource, int]:
        if node not in self.usage:
            self._journal.put(self.usage, node, {})
        return self.usage[node]

    def _set_usage(self, node: str, fr: FlavorResource, amount: int) -> None:
        self.touched[node, fr] = None
        table = self._table(node)
        if amount:
            self._journal.put(table, fr, amount)
            return
        self._journal.drop(table, fr)
        if not table:
            self._journal.drop(self.usage, node)

    def _move(self, node: str, before: str, parent: str) -> None:
        if before:
            self._journal.drop(self.children[before], node)
        if parent:
            if parent not in self.children:
                self._journal.put(self.children, parent, {})
            self._journal.put(self.children[parent], node, None)
            self._journal.put(self.parent, node, parent)
        else:
            self._journal.drop(self.parent, node)

    def _recount(self, node: str, fr: FlavorResource) -> None:
        self._recount_from(self.parent.get(node, ""), fr)

    def _recount_from(self, node: str, fr: FlavorResource) -> None:
        """Usage of the nodes above is what they see of their children: only leaves use quota themselves."""
        while node:
            seen = (max(0, self.used(c, fr) - self.local(c, fr)) for c in self.children.get(node, ()))
            self._set_usage(node, fr, sum(seen))
            node = self.parent.get(node, "")
