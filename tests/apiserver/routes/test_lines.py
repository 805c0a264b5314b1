"""Lines of watches, shared."""

from __future__ import annotations

import pytest

from kumi.api.scheme import Kind, load
from kumi.api.wire import WatchEvent
from kumi.apiserver.negotiate import PLAIN, Form
from kumi.apiserver.routes import lines
from kumi.apiserver.routes.lines import Lines, Words


def kind() -> Kind:
    found = load().find_plural("", "configmaps")
    assert found is not None
    return found


KIND = kind()


def event(revision: int, type_: str = "MODIFIED") -> WatchEvent:
    return WatchEvent(type_, {"metadata": {"name": "a", "resourceVersion": str(revision)}})  # type: ignore[arg-type]


class Pen:
    """Counts what it writes."""

    def __init__(self) -> None:
        self.written = 0

    def __call__(self, event: WatchEvent) -> bytes:
        self.written += 1
        return f"{event.type} {event.object['metadata']['resourceVersion']} {self.written}".encode()


def test_an_event_is_written_once_for_all_who_use_the_same_words() -> None:
    shared, pen = Lines(), Pen()
    first, second = (shared.writer(Words(KIND, "v1", PLAIN), pen) for _ in range(2))
    assert first(event(7)) is second(event(7))
    assert first(event(8)) != second(event(7))
    assert pen.written == 2


@pytest.mark.parametrize(
    ("words", "other"),
    [
        (Words(KIND, "v1", Form("partial")), event(7)),
        (Words(KIND, "v2", PLAIN), event(7)),
        (Words(KIND, "v1", PLAIN), event(7, "ADDED")),
        (Words(KIND, "v1", PLAIN), event(8)),
    ],
)
def test_other_words_and_other_events_are_written_anew(words: Words, other: WatchEvent) -> None:
    shared, pen = Lines(), Pen()
    shared.writer(Words(KIND, "v1", PLAIN), pen)(event(7))
    shared.writer(words, pen)(other)
    assert pen.written == 2


def test_a_kind_whose_definition_changed_is_another_kind() -> None:
    import copy

    shared, pen = Lines(), Pen()
    shared.writer(Words(KIND, "v1", PLAIN), pen)(event(7))
    shared.writer(Words(copy.copy(KIND), "v1", PLAIN), pen)(event(7))
    assert pen.written == 2


def test_bookmarks_are_of_one_watch_alone() -> None:
    shared, pen = Lines(), Pen()
    line = shared.writer(Words(KIND, "v1", PLAIN), pen)
    assert line(event(7, "BOOKMARK")) != line(event(7, "BOOKMARK"))


def test_what_is_kept_is_bounded_by_its_bytes_and_the_newest_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "KEPT_BYTES", 1000)
    shared = Lines()
    line = shared.writer(Words(KIND, "v1", PLAIN), lambda _: b"x" * 100)
    newest = b""
    for revision in range(50):
        newest = line(event(revision))
        assert sum(len(kept) for _, kept in shared._kept.values()) == shared._bytes <= 1000
    assert line(event(49)) is newest
