from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.runtime.correlation import (
    COMBINED,
    REMEMBERED,
    SIMILAR,
    SIMILAR_MS,
    SPAM_BURST,
    SPAM_MS,
    Correlated,
    Correlator,
)
from kumi.runtime.reconcile import Note


def note(message: str = "m", name: str = "a", reason: str = "Failed") -> Note:
    about = {"apiVersion": "v1", "kind": "Pod", "namespace": "team", "name": name, "uid": f"uid-{name}"}
    return Note(about, reason, message)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, SPAM_MS)), max_size=80))
def test_no_object_is_told_of_more_often_than_it_has_room_for(told: list[tuple[int, int]]) -> None:
    correlator, now, taken = Correlator(), 0, [0, 0, 0, 0]
    for which, pause in told:
        now += pause
        taken[which] += correlator.take(note("same", name=str(which)), "loop", now) is not None
    assert all(count <= SPAM_BURST + now / SPAM_MS for count in taken)


def test_the_same_note_is_one_event() -> None:
    correlator = Correlator()
    found = [correlator.take(note(), "loop", 0) for _ in range(3)]
    assert found[0] is not None
    assert found == [found[0]] * 3
    assert found[0].message == "m"


def messages(correlator: Correlator, count: int, now_ms: int = 0) -> list[Correlated]:
    found = [correlator.take(note(f"pod {i}"), "loop", now_ms) for i in range(count)]
    return [each for each in found if each is not None]


def test_past_ten_messages_similar_notes_are_one_event_with_the_latest_words() -> None:
    found = messages(Correlator(), SIMILAR + 3)
    assert [each.message for each in found[:SIMILAR]] == [f"pod {i}" for i in range(SIMILAR)]
    assert [each.message for each in found[SIMILAR:]] == [f"{COMBINED}pod {i}" for i in range(SIMILAR, SIMILAR + 3)]
    assert len({each.told for each in found}) == SIMILAR + 1


def test_a_message_that_was_told_before_still_counts_under_its_own_words() -> None:
    correlator = Correlator()
    first, *_ = messages(correlator, SIMILAR + 1)
    assert correlator.take(note("pod 0"), "loop", 0) == first


def test_after_a_quiet_time_messages_are_told_one_by_one_again() -> None:
    correlator = Correlator()
    messages(correlator, SIMILAR + 1)
    [again] = messages(correlator, 1, SIMILAR_MS + 1)
    assert again.message == "pod 0"


def test_an_object_that_has_used_up_its_room_gets_more_with_time_and_hides_no_other() -> None:
    correlator = Correlator()
    assert len(messages(correlator, SPAM_BURST + 5)) == SPAM_BURST
    assert correlator.take(note(name="b"), "loop", 0) is not None
    assert correlator.take(note(), "another loop", 0) is not None
    assert correlator.take(note(reason="Completed"), "loop", 0) is not None
    assert correlator.take(note(), "loop", SPAM_MS - 1) is None
    assert correlator.take(note(), "loop", SPAM_MS) is not None


def test_what_is_remembered_is_bounded() -> None:
    correlator = Correlator()
    for number in range(REMEMBERED + 3):
        correlator.take(note(name=str(number)), "loop", 0)
    assert len(correlator._rooms) == len(correlator._similar) == REMEMBERED
