"""Quota: how much of one flavor-resource a queue may still use.

The rule, for a node n with children C (a ClusterQueue has none; a Cohort has ClusterQueues and Cohorts):
    subtree(n)   = nominal(n) + sum(subtree(c) - local(c) for c in C)
    local(n)     = max(0, subtree(n) - lending_limit(n)), 0 when lending is unlimited
    usage(n)     = own(n) + sum(max(0, usage(c) - local(c)) for c in C)
    available(n) = subtree(n) - usage(n)                                            at the root, else
                   room(n) + min(available(parent), room to borrow(n))
    room(n)      = max(0, local(n) - usage(n)): what is left of what it keeps for itself
    room to borrow(n) = subtree(n) - local(n) - max(0, usage(n) - local(n)) + borrowing_limit(n), no limit when that is unset
    potential(n) = subtree(n) at the root, else local(n) + potential(parent), at most subtree(n) + borrowing_limit(n)
    over(n)      = usage(n) > subtree(n): it borrows
    height(n)    = 0 without children, else 1 + the largest height of a child
    level(q, v)  = 0 where v more fit within the queue's own, else the height of the lowest cohort above it that holds what is
                   left of v after the room of all below it; the root's where none does
Why        a lending limit keeps capacity at home; only what exceeds it is seen above. The level says how far up somebody else's
           quota is used: the lower, the fewer are touched by it.
Negative   available(n) < 0 means over-admission (quota was cut, or the queue moved): callers must not clamp it.
Unlimited  a quota of 2^63-1 or more is without end: it stays so, whatever is added or taken away. Unlimited less unlimited is
           0, and anything else less unlimited is -2^63. Usage is counted exactly however large it gets.
Units      int64 in the resource's base unit (cpu and devices: thousandths; memory: bytes).
Cost       O(depth) a query, a change of usage and a change of quota, for each flavor-resource: subtree, local, who lends and who
           borrows are kept. A node whose highest child is taken away looks through its other children.
Source     Kueue: hierarchical cohorts (KEP-79), lending limits (KEP-1224).
Not here   which cohort is under which: ../tree.py; who goes first: order.py; which flavor: flavors.py; who uses it:
           ../holdings.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias, TypeVar

from kumi.api.quantity import MAX
from kumi.engine.journal import Journal
from kumi.engine.model import Quota

FlavorResource: TypeAlias = tuple[str, str]
"""(flavor, resource)"""

V = TypeVar("V")
NO_QUOTA = Quota(0)
COHORT = "cohort/"
LEAST = -(2**63)


def cohort_node(name: str) -> str:
    """The node of a Cohort; "" for none. A ClusterQueue's node is its name, which has no slash: the two never meet."""
    return COHORT + name if name else ""


def plus(a: int, b: int) -> int:
    """a + b, where something may be unlimited."""
    return min(MAX, a + b)


def minus(a: int, b: int) -> int:
    """a - b, where something may be unlimited."""
    if b >= MAX:
        return 0 if a >= MAX else LEAST
    return MAX if a >= MAX else a - b


class _Seen(NamedTuple):
    """What the node above sees of a node."""

    listed: bool = False
    """it has quota of this flavor-resource, if only 0"""
    lent: int = 0
    used: int = 0
    over: bool = False


_NOTHING = _Seen()


class Quotas:
    """The tree: quota and usage of each node, kept as usage changes.

    A node may be used before it has quota, and after: a workload can name a queue that isn't there (any more)."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.quota: dict[str, dict[FlavorResource, Quota]] = {}
        self.usage: dict[str, dict[FlavorResource, int]] = {}
        self.parent: dict[str, str] = {}
        self.children: dict[str, dict[str, None]] = {}
        self.subtrees: dict[str, dict[FlavorResource, int]] = {}
        self.kept: dict[str, dict[FlavorResource, int]] = {}
        """`local` of each node, where it isn't 0"""
        self.lent: dict[str, dict[FlavorResource, tuple[int, int]]] = {}
        """(how many children have quota of it, what they lend together)"""
        self.borrowers: dict[str, dict[FlavorResource, dict[str, None]]] = {}
        """node -> its children that use more than they have"""
        self.heights: dict[str, int] = {}
        """of those that have children"""
        self.inherited: dict[tuple[str, FlavorResource], int] = {}
        """how far usage is past quota for causes outside of the engine: what invariants.py lets pass"""
        self.touched: dict[tuple[str, FlavorResource], None] = {}
        self.lendable: dict[str, dict[str, int]] = {}
        """what fair_sharing.py has counted from quota alone; empty when any quota changed"""

    # what is set up

    def set(self, node: str, quota: dict[FlavorResource, Quota], parent: str = "") -> None:
        """This node has that quota, under that parent ("": a root). The caller refuses cycles."""
        before = self.parent.get(node, "")
        known = (self.quota, self.usage, self.subtrees)
        frs = sorted({*quota, *(fr for table in known for fr in table.get(node, ()))})
        was = {fr: self._seen(node, fr) for fr in frs}
        self._journal.put(self.quota, node, quota)
        self._journal.swap(self, "lendable", {})
        if before != parent:
            self._move(node, before, parent)
        for fr in frs:
            self.touched[node, fr] = None
            self._renew(node, fr)
            now = self._seen(node, fr)
            if before != parent:
                self._shift(before, fr, node, was[fr], _NOTHING)
                was[fr] = _NOTHING
            self._shift(parent, fr, node, was[fr], now)

    def unset(self, node: str) -> None:
        """The node has no quota any more, and no parent; what is used of it stays known."""
        self.set(node, {})
        self._journal.drop(self.quota, node)

    # what rules ask

    def subtree(self, node: str, fr: FlavorResource) -> int:
        """All that the node has: its own, and what its children lend."""
        return self.subtrees.get(node, {}).get(fr, 0)

    def local(self, node: str, fr: FlavorResource) -> int:
        """What the node keeps for itself."""
        return self.kept.get(node, {}).get(fr, 0)

    def used(self, node: str, fr: FlavorResource) -> int:
        """What is used of it, through the node itself or seen from its children."""
        return self.usage.get(node, {}).get(fr, 0)

    def room(self, node: str, fr: FlavorResource) -> int:
        """What is left of what it keeps for itself."""
        return max(0, minus(self.local(node, fr), self.used(node, fr)))

    def over(self, node: str, fr: FlavorResource, more: int = 0) -> bool:
        """Would the node use more than it has, with so much more?"""
        return self.used(node, fr) + more > self.subtree(node, fr)

    def available(self, node: str, fr: FlavorResource) -> int:
        """What may still be used; negative where more is used than there is."""
        subtree, used = self.subtree(node, fr), self.used(node, fr)
        parent = self.parent.get(node)
        if not parent:
            return minus(subtree, used)
        above = self.available(parent, fr)
        limit = self.quota.get(node, {}).get(fr, NO_QUOTA).borrowing_limit
        if limit is not None:
            local = self.local(node, fr)
            stored = minus(minus(subtree, local), max(0, minus(used, local)))
            above = min(above, plus(stored, limit))
        return plus(self.room(node, fr), above)

    def potential(self, node: str, fr: FlavorResource) -> int:
        """What could be used were nobody else there."""
        subtree = self.subtree(node, fr)
        parent = self.parent.get(node)
        if not parent:
            return subtree
        most = plus(self.local(node, fr), self.potential(parent, fr))
        limit = self.quota.get(node, {}).get(fr, NO_QUOTA).borrowing_limit
        return most if limit is None else min(most, plus(subtree, limit))

    def most(self, node: str, fr: FlavorResource) -> int | None:
        """What may be used of the node at most, whatever the others do; None: no limit of its own."""
        subtree = self.subtree(node, fr)
        if not self.parent.get(node):
            return subtree
        limit = self.quota.get(node, {}).get(fr, NO_QUOTA).borrowing_limit
        return None if limit is None else plus(subtree, limit)

    def level(self, node: str, fr: FlavorResource, amount: int) -> tuple[int, bool]:
        """The level for so much more, and whether others could be asked to give back what they borrowed of it: is there anything
        above the node at which the level ends?"""
        if not self.over(node, fr, amount):
            return 0, bool(self.parent.get(node))
        left, here = amount, node
        for above in self.path(node):
            left -= self.room(here, fr)
            here = above
            if not self.over(here, fr, left):
                return self.height(here), bool(self.parent.get(here))
        return self.height(here) if here != node else 0, False

    def height(self, node: str) -> int:
        """How many levels are below the node."""
        return self.heights.get(node, 0)

    def path(self, node: str) -> Iterator[str]:
        """The nodes above it, the nearest first."""
        while node := self.parent.get(node, ""):
            yield node

    def root(self, node: str) -> str:
        """The top of its tree; itself where nothing is above it."""
        for above in self.path(node):
            node = above
        return node

    def queues(self, node: str) -> list[str]:
        """The ClusterQueues at or below the node, by name."""
        found, nodes = [], [node]
        while nodes:
            here = nodes.pop()
            if here.startswith(COHORT):
                nodes.extend(self.children.get(here, ()))
            else:
                found.append(here)
        return sorted(found)

    def fits(self, node: str, amounts: Mapping[FlavorResource, int]) -> bool:
        """May so much more be used now, all of it? What is not asked for plays no part."""
        return all(amount <= max(0, self.available(node, fr)) for fr, amount in amounts.items())

    # usage

    def add(self, node: str, fr: FlavorResource, amount: int) -> None:
        """The node uses so much more; negative: less. What exceeds what it keeps is passed up."""
        while node and amount:
            before = self.usage.get(node, {}).get(fr, 0)
            after = before + amount
            subtree, parent = self.subtree(node, fr), self.parent.get(node, "")
            self._set_usage(node, fr, after)
            if parent and (before > subtree) != (after > subtree):
                self._set_borrower(parent, fr, node, after > subtree)
            local = self.local(node, fr)
            amount = max(0, after - local) - max(0, before - local)
            node = parent

    def inherit(self) -> None:
        """What is past quota now, of what was touched, is so for causes outside of the engine."""
        for node, fr in self.touched:
            most = self.most(node, fr)
            over = 0 if most is None else self.used(node, fr) - most
            if over > 0:
                self._journal.put(self.inherited, (node, fr), over)
            else:
                self._journal.drop(self.inherited, (node, fr))
        self.touched.clear()

    # how it is kept

    def _seen(self, node: str, fr: FlavorResource) -> _Seen:
        subtree, used, local = self.subtree(node, fr), self.used(node, fr), self.local(node, fr)
        listed = fr in self.subtrees.get(node, ())
        return _Seen(listed, minus(subtree, local), max(0, used - local), used > subtree)

    def _shift(self, node: str, fr: FlavorResource, child: str, was: _Seen, now: _Seen) -> None:
        """The node sees its child otherwise than before; so does, perhaps, the one above."""
        if not node or was == now:
            return
        before = self._seen(node, fr)
        lenders, lent = self.lent.get(node, {}).get(fr, (0, 0))
        lenders += now.listed - was.listed
        self._set(self.lent, node, fr, (lenders, lent + now.lent - was.lent) if lenders else None)
        if now.used != was.used:
            self._set_usage(node, fr, self.used(node, fr) + now.used - was.used)
        if now.over != was.over:
            self._set_borrower(node, fr, child, now.over)
        self.touched[node, fr] = None
        self._renew(node, fr)
        self._shift(self.parent.get(node, ""), fr, node, before, self._seen(node, fr))

    def _renew(self, node: str, fr: FlavorResource) -> None:
        """What the node has, and keeps for itself, from its own quota and what its children lend."""
        own = self.quota.get(node, {}).get(fr)
        lenders, lent = self.lent.get(node, {}).get(fr, (0, 0))
        subtree = plus(own.nominal if own is not None else 0, lent)
        self._set(self.subtrees, node, fr, subtree if own is not None or lenders else None)
        limit = own.lending_limit if own is not None and self.parent.get(node) else None
        self._set(self.kept, node, fr, (max(0, minus(subtree, limit)) or None) if limit is not None else None)

    def _move(self, node: str, before: str, parent: str) -> None:
        if before:
            self._journal.drop(self.children[before], node)
            if not self.children[before]:
                self._journal.drop(self.children, before)
            self._lower(before)
        if not parent:
            self._journal.drop(self.parent, node)
            return
        if parent not in self.children:
            self._journal.put(self.children, parent, {})
        self._journal.put(self.children[parent], node, None)
        self._journal.put(self.parent, node, parent)
        above, height = parent, self.height(node) + 1
        while above and self.height(above) < height:
            self._journal.put(self.heights, above, height)
            above, height = self.parent.get(above, ""), height + 1

    def _lower(self, node: str) -> None:
        """A child went, or is lower than it was."""
        while node:
            children = self.children.get(node)
            height = 1 + max(self.height(c) for c in children) if children else 0
            if height == self.height(node):
                return
            if height:
                self._journal.put(self.heights, node, height)
            else:
                self._journal.drop(self.heights, node)
            node = self.parent.get(node, "")

    def _set_usage(self, node: str, fr: FlavorResource, amount: int) -> None:
        self.touched[node, fr] = None
        self._set(self.usage, node, fr, amount or None)

    def _set_borrower(self, node: str, fr: FlavorResource, child: str, borrows: bool) -> None:
        known = self.borrowers.get(node, {}).get(fr)
        if known is None:
            self._set(self.borrowers, node, fr, known := {})
        if borrows:
            self._journal.put(known, child, None)
            return
        self._journal.drop(known, child)
        if not known:
            self._set(self.borrowers, node, fr, None)

    def _set(self, tables: dict[str, dict[FlavorResource, V]], node: str, fr: FlavorResource, value: V | None) -> None:
        """One entry of a node's table; None: without it. An empty table isn't kept."""
        table = tables.get(node)
        if value is not None:
            if table is None:
                self._journal.put(tables, node, table := {})
            if table.get(fr) != value:
                self._journal.put(table, fr, value)
        elif table is not None:
            self._journal.drop(table, fr)
            if not table:
                self._journal.drop(tables, node)
