"""The memory of a store."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.store.base import Entry
from kumi.store.ledger import FIRST, Ledger, Written, created_by, end_of

KEYS = st.sampled_from(["/a/1", "/a/2", "/a/3", "/b/1"])
ROWS = st.lists(st.tuples(KEYS, st.binary(max_size=2) | st.none()), max_size=30)


def written(rows: list[tuple[str, bytes | None]]) -> list[Written]:
    """The rows as writes, without deletions of what is absent."""
    live: dict[str, Entry] = {}
    writes = []
    for key, value in rows:
        before = live.get(key)
        if before is None and value is None:
            continue
        revision = FIRST + 1 + len(writes)
        after = created_by(key, before, value, revision)
        live.pop(key, None)
        if after is not None:
            live[key] = after
        writes.append(Written(revision, key, before, after))
    return writes


def stored(writes: list[Written]) -> list[tuple[int, str, int, bytes | None]]:
    return [(w.revision, w.key, w.after.created if w.after else 0, w.after.value if w.after else None) for w in writes]


@given(ROWS)
def test_a_ledger_filled_from_rows_equals_one_that_saw_the_writes(rows: list[tuple[str, bytes | None]]) -> None:
    writes = written(rows)
    lived, restored = Ledger(), Ledger()
    lived._publish(writes)
    restored._restore(stored(writes), 0, writes[-1].revision if writes else FIRST)
    assert (lived._live, lived._keys, lived._log) == (restored._live, restored._keys, restored._log)
    assert lived.revision == restored.revision


@given(ROWS, st.integers(0, 40), st.integers(1, 3))
def test_pages_at_a_revision_put_together_are_the_whole_list_at_it(
    rows: list[tuple[str, bytes | None]], back: int, limit: int
) -> None:
    writes = written(rows)
    ledger = Ledger()
    ledger._publish(writes)
    at = max(FIRST, ledger.revision - back)
    past = Ledger()
    past._publish([w for w in writes if w.revision <= at])
    whole = past.list("/a/").entries
    pages, after = [], ""
    while True:
        page = ledger.list("/a/", limit=limit, after=after, revision=at)
        pages += page.entries
        assert page.remaining == len(whole) - len(pages)
        if not page.more:
            break
        after = page.entries[-1].key
    assert pages == whole


@given(ROWS, st.integers(0, 40))
def test_forgetting_changes_nothing_that_can_still_be_asked(rows: list[tuple[str, bytes | None]], back: int) -> None:
    writes = written(rows)
    whole, compacted = Ledger(), Ledger()
    whole._publish(writes)
    compacted._publish(writes)
    at = max(FIRST, whole.revision - back)
    compacted._forget(at)
    for revision in range(at, whole.revision + 1):
        assert compacted.list("/", revision=revision) == whole.list("/", revision=revision)


def test_the_end_of_a_prefix_is_past_all_its_keys_and_before_the_next() -> None:
    assert "/a/zzz\U0010ffff" < end_of("/a/") < "/a0x"
