"""Quota: the tree's equations, kept as usage changes, against the same equations counted plainly."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.quantity import MAX
from kumi.engine.admission.quota import LEAST, Quotas, cohort_node, minus, plus
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
    assert (kept.local("q", FR), kept.kept) == (0, {})


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


# the tree as it changes

NODES = ("top", "mid", "low", "a", "b", "c", "d")
TABLES = ("quota", "usage", "parent", "children", "subtrees", "kept", "lent", "borrowers", "heights")


def one_quota(chance: Random) -> dict[tuple[str, str], Quota]:
    limit = [chance.choice([None, chance.randint(0, 9)]) for _ in range(2)]
    nominal = chance.choice([0, 1, 5, 9, MAX])
    frs = chance.choice([(FR,), (FR, OTHER), (OTHER,), ()])
    return {fr: Quota(nominal, *limit) for fr in frs}


OTHER = ("spot", "cpu")


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_the_tree_that_was_changed_is_the_tree_as_if_made_now(seed: int) -> None:
    chance = Random(seed)
    journal = Journal()
    kept, used = Quotas(journal), dict.fromkeys([(n, fr) for n in "abcd" for fr in (FR, OTHER)], 0)
    for _ in range(20):
        node = chance.choice(NODES)
        if node in "abcd" and chance.random() < 0.6:
            fr = chance.choice([FR, OTHER])
            amount = chance.randint(-used[node, fr], 9)
            kept.add(node, fr, amount)
            used[node, fr] += amount
        elif chance.random() < 0.1:
            kept.unset(node)
        else:
            above = ("", *NODES[: NODES.index(node)]) if node in NODES[:3] else ("", *NODES[:3])
            kept.set(node, one_quota(chance), chance.choice(above))
    fresh = Quotas(Journal())
    for node in sorted(kept.quota, reverse=chance.random() < 0.5):
        fresh.set(node, kept.quota[node], kept.parent.get(node, ""))
    for (node, fr), amount in used.items():
        fresh.add(node, fr, amount)
    assert {t: getattr(kept, t) for t in TABLES} == {t: getattr(fresh, t) for t in TABLES}


@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_what_a_trial_did_to_the_tree_is_undone(seed: int) -> None:
    chance = Random(seed)
    journal = Journal()
    kept = Quotas(journal)
    for node, parent in (("top", ""), ("mid", "top"), ("a", "mid"), ("b", "top")):
        kept.set(node, one_quota(chance), parent)
    kept.add("a", FR, 7)
    before = deepcopy({t: getattr(kept, t) for t in TABLES})
    with journal.trial():
        kept.set("mid", one_quota(chance), chance.choice(["", "top"]))
        kept.add("b", FR, chance.randint(1, 9))
        kept.unset("a")
    assert {t: getattr(kept, t) for t in TABLES} == before


# levels


def three() -> Quotas:
    """q (3 of its own, 1 of them kept) under mid (2) under top (4); p (2) under mid."""
    kept = Quotas(Journal())
    kept.set("top", {FR: Quota(4)})
    kept.set("mid", {FR: Quota(2)}, "top")
    kept.set("q", {FR: Quota(3, lending_limit=2)}, "mid")
    kept.set("p", {FR: Quota(2)}, "mid")
    return kept


@pytest.mark.parametrize(
    ("amount", "level", "may_reclaim"),
    [(3, 0, True), (4, 1, True), (7, 1, True), (8, 2, False), (99, 2, False)],
)
def test_the_level_is_the_height_of_the_lowest_cohort_with_room(amount: int, level: int, may_reclaim: bool) -> None:
    assert three().level("q", FR, amount) == (level, may_reclaim)


def test_what_a_node_below_still_has_need_not_be_found_above() -> None:
    kept = three()
    kept.add("p", FR, 3)  # mid has 6 that q and p share; 3 are used
    assert kept.level("q", FR, 4) == (1, True)
    assert kept.level("q", FR, 5) == (2, False)


def test_a_queue_without_a_cohort_has_no_level_and_nobody_to_reclaim_from() -> None:
    kept = Quotas(Journal())
    kept.set("q", {FR: Quota(2)})
    assert kept.level("q", FR, 1) == kept.level("q", FR, 9) == (0, False)


def test_a_height_falls_when_the_highest_child_goes() -> None:
    kept = three()
    assert [kept.height(n) for n in ("top", "mid", "q")] == [2, 1, 0]
    kept.set("q", {}, "")
    kept.set("p", {}, "")
    assert [kept.height(n) for n in ("top", "mid")] == [1, 0]
    kept.set("mid", {}, "")
    assert kept.heights == {}


def test_children_that_use_more_than_they_have_are_known() -> None:
    kept = three()
    kept.add("p", FR, 2)
    assert kept.borrowers == {}
    kept.add("p", FR, 5)
    assert kept.borrowers == {"mid": {FR: {"p": None}}, "top": {FR: {"mid": None}}}
    kept.set("mid", {FR: Quota(9)}, "top")
    assert kept.borrowers == {"mid": {FR: {"p": None}}}
    kept.add("p", FR, -7)
    assert kept.borrowers == {}


def test_what_is_not_asked_for_does_not_keep_from_fitting() -> None:
    kept = Quotas(Journal())
    kept.set("q", {FR: Quota(2)})
    kept.add("q", FR, 5)
    assert kept.fits("q", {FR: 0, OTHER: 0})
    assert not kept.fits("q", {FR: 1})


def test_a_queue_and_a_cohort_of_one_name_are_two_nodes() -> None:
    kept = Quotas(Journal())
    kept.set("team", {FR: Quota(1)}, cohort_node("team"))
    kept.set(cohort_node("team"), {FR: Quota(2)})
    assert kept.queues(kept.root("team")) == ["team"]
    assert (kept.subtree("team", FR), kept.subtree(cohort_node("team"), FR)) == (1, 3)


def test_unlimited_stays_so_whatever_is_added_or_taken_away() -> None:
    assert (plus(MAX, 5), plus(MAX, -5 + 5), plus(MAX - 1, 9), plus(2, 3)) == (MAX, MAX, MAX, 5)
    assert (minus(MAX, 5), minus(MAX, MAX), minus(5, MAX), minus(5, 7)) == (MAX, 0, LEAST, -2)


def test_usage_past_any_number_is_given_back_exactly() -> None:
    kept = Quotas(Journal())
    kept.set("top", {FR: Quota(5)})
    kept.set("q", {FR: Quota(MAX)}, "top")
    kept.add("q", FR, MAX)
    kept.add("q", FR, 7)
    kept.add("q", FR, -MAX)
    assert (kept.used("q", FR), kept.used("top", FR), kept.available("q", FR)) == (7, 7, MAX)


def test_the_most_that_may_be_used_is_what_there_is_and_what_may_be_borrowed() -> None:
    kept = three()
    kept.set("p", {FR: Quota(2, borrowing_limit=3)}, "mid")
    assert (kept.most("p", FR), kept.most("mid", FR), kept.most("top", FR)) == (5, None, 10)
    kept.add("p", FR, 6)
    kept.inherit()
    assert kept.inherited == {("p", FR): 1}
