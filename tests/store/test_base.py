"""The store's errors say what is wrong."""

from __future__ import annotations

from kumi.store.base import ABSENT, Compacted, Conflict, FutureRevision


def test_a_conflict_says_what_was_expected_and_what_was_found() -> None:
    assert str(Conflict("/a", 3, 5)) == "/a: expected revision 3, found 5"
    assert str(Conflict("/a", 3, ABSENT)) == "/a: expected revision 3, found nothing"
    assert str(Conflict("/a", None, ABSENT)) == "/a: expected something to delete, found nothing"


def test_a_revision_that_is_not_kept_names_the_one_that_is() -> None:
    assert str(Compacted(3, 5)) == "revision 3 is compacted, the oldest kept is 5"
    assert str(FutureRevision(7, 5)) == "revision 7 is in the future, the newest is 5"
