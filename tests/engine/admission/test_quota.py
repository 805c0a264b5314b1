"""Quota: the tree's equations, kept as usage changes, against the same equations counted plainly."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from kumi.api.quantity import MAX
from kumi.engine.admission.quota import Quotas
from kumi.engine.journal import Journal
from kumi.engine.model import Quota

FR = ("default", "cpu")
LEAVES = ("q1", "q2", "q3", "q4")
PARENTS = {"q1": "left", "q2": "left", "q3": "right", "q4": "", "left": "root", "right": "root", "root": ""}


@dataclass(frozen=True)
class Tree:
    quota: dict[str, Quota]
    usage: dict[str, int]

    def children(self, node: str) -> list[str]:
        return [child for child, parent in PARENTS.items() if parent == node]

    def subtree(self, node: str) -> int:
        return self.quota[node].nominal + sum(self.subtree(c) - self.local(c) for c in self.children(node))

    def local(self, node: str) -> int:
        limit = self.quota[node].lending_limit
        return 0 if limit is None or not PARENTS[node] else max(0, self.subtree(node) - limit)

    def used(self, node: str) -> int:
        return self.usage.get(node, 0) + sum(max(0, self.used(c) - self.local(c)) for c in self.children(node))

    def available(self, node: str) -> int:
        if not PARENTS[node]:
            return self.subtree(node) - self.used(node)
        room = self.available(PARENTS[node])
        borrow = self.quota[node].borrowing_limit
        if borrow is not None:
            stored = self.subtree(node) - self.local(node)
            room = min(room, stored - max(0, self.used(node) - self.local(node)) + borrow)
        return max(0, self.local(node) - self.used(node)) + room


limits = st.none() | st.integers(0, 10)
quotas = st.builds(Quota, st.integers(0, 10), limits, limits)
trees = st.fixed_dictionaries(dict.fromkeys(PARENTS, quotas))
changes = st.lists(st.tuples(st.sampled_from(LEAVES), st.integers(-6, 12)), max_size=12)


def made(quota: dict[str, Quota]) -> Quotas:
    kept = Quotas(Journal())
    for node in ("root", "left", "right", *LEAVES):
        kept.set(node, {FR: quota[node]}, PARENTS[node])
    return kept


@given(trees, changes)
def test_what_is_kept_is_what_the_equations_say(quota: dict[str, Quota], changes: list[tuple[str, int]]) -> None:
    kept = made(quota)
    usage: dict[str, int] = {}
    for leaf, wanted in changes:
        amount = max(wanted, -usage.get(leaf, 0))
        kept.add(leaf, FR, amount)
        usage[leaf] = usage.get(leaf, 0) + amount
        tree = Tree(quota, usage)
        for node in PARENTS:
            assert kept.used(node, FR) == tree.used(node)
            assert kept.available(node, FR) == tree.available(node)


@given(trees, trees, st.sampled_from(sorted(PARENTS)), changes)
def test_a_changed_quota_is_seen_all_the_way_up(
    quota: dict[str, Quota], other: dict[str, Quota], node: str, changes: list[tuple[str, int]]
) -> None:
    kept, usage = made(quota), dict.fromkeys(LEAVES, 0)
    for leaf, amount in changes:
        kept.add(leaf, FR, abs(amount))
        usage[leaf] += abs(amount)
    kept.set(node, {FR: other[node]}, PARENTS[node])
    tree = Tree(quota | {node: other[node]}, usage)
    assert {n: kept.used(n, FR) for n in PARENTS} == {n: tree.used(n) for n in PARENTS}


@given(trees, st.sampled_from(LEAVES), st.sampled_from(["left", "right", ""]), changes)
def test_a_queue_that_moves_takes_its_usage_along(
    quota: dict[str, Quota], leaf: str, parent: str, changes: list[tuple[str, int]]
) -> None:
    kept = made(quota)
    for name, amount in changes:
        kept.add(name, FR, abs(amount))
    kept.set(leaf, {FR: quota[leaf]}, parent)
    kept.set(leaf, {FR: quota[leaf]}, PARENTS[leaf])
    fresh = made(quota)
    for name, amount in changes:
        fresh.add(name, FR, abs(amount))
    assert {n: kept.used(n, FR) for n in PARENTS} == {n: fresh.used(n, FR) for n in PARENTS}


def test_a_lone_queue_has_its_nominal_quota_and_lends_nothing() -> None:
    kept = Quotas(Journal())
    kept.set("q", {FR: Quota(10, borrowing_limit=5, lending_limit=3)})
    kept.add("q", FR, 4)
    assert (kept.available("q", FR), kept.potential("q", FR), kept.used("q", FR)) == (6, 10, 4)


def test_what_is_used_beyond_quota_is_not_clamped() -> None:
    kept = Quotas(Journal())
    kept.add("q", FR, 12)
    assert kept.available("q", FR) == -12
    kept.set("q", {FR: Quota(10)})
    assert kept.available("q", FR) == -2


def test_a_queue_that_is_gone_keeps_what_is_used_of_it() -> None:
    kept = Quotas(Journal())
    kept.set("q", {FR: Quota(10)})
    kept.add("q", FR, 4)
    kept.unset("q")
    assert (kept.used("q", FR), kept.available("q", FR)) == (4, -4)
    kept.add("q", FR, -4)
    assert kept.usage == {}


def test_a_quota_without_end_is_never_used_up() -> None:
    kept = Quotas(Journal())
    kept.set("q", {FR: Quota(MAX)})
    kept.add("q", FR, 10**15)
    assert kept.available("q", FR) == MAX


def test_potential_is_what_could_be_borrowed_at_most() -> None:
    kept = made(
        dict.fromkeys(PARENTS, Quota(10)) | {"q1": Quota(10, borrowing_limit=5), "q2": Quota(10, lending_limit=4)}
    )
    assert kept.potential("q1", FR) == 15
    # root, left and right have 10 each; q1, q3 lend all of theirs, q2 only 4; q2 keeps 6 for itself
    assert kept.potential("q2", FR) == 6 + 10 * 5 + 4


def test_only_what_was_touched_and_is_over_is_inherited() -> None:
    kept = Quotas(Journal())
    kept.set("q", {FR: Quota(10)})
    kept.add("q", FR, 12)
    kept.inherit()
    assert kept.inherited == {("q", FR): 2}
    kept.add("q", FR, -5)
    kept.inherit()
    assert kept.inherited == {}
