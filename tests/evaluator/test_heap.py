import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.evaluator.heap import Heap
from kumi.evaluator.model import START_MS, Arrive, Cancel, Change, Event
from tests.evaluator.stories import job


def event(kind: str, at_ms: int, name: str) -> Event:
    if kind == "arrive":
        return Arrive(job(name, at_ms))
    return Cancel(START_MS + at_ms, name) if kind == "cancel" else Change(START_MS + at_ms, ())


KINDS = ["end", "change", "cancel", "arrive"]
happenings = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(KINDS)), max_size=30)


@given(happenings)
def test_what_happens_comes_by_time_then_ends_changes_cancels_arrivals_then_as_it_was_put(said):
    numbered = [(at, KINDS.index(kind), number) for number, (at, kind) in enumerate(said)]
    events = [(at, turn, n) for at, turn, n in sorted(numbered, key=lambda one: (one[0], one[2])) if turn]
    stream = [event(KINDS[turn], at, str(n)) for at, turn, n in events]
    heap: Heap[str] = Heap(iter(stream))
    for at, turn, n in numbered:
        if turn == 0:
            heap.end(START_MS + at, f"end {n}")
    taken: list[object] = []
    while (now_ms := heap.next_ms()) is not None:
        found = heap.take(now_ms)
        assert found
        taken += found
    by_event = {n: one for (_, _, n), one in zip(events, stream, strict=True)}
    assert taken == [by_event.get(n, f"end {n}") for _, _, n in sorted(numbered)]


def test_an_end_that_was_called_off_does_not_happen():
    heap: Heap[str] = Heap(iter(()))
    first = heap.end(10, "first")
    second = heap.end(20, "second")
    heap.end(20, "third")
    heap.call_off(first)
    heap.call_off(second)
    assert heap.next_ms() == 20
    assert heap.take(20) == ["third"]
    assert heap.next_ms() is None


def test_events_are_read_one_ahead():
    read = []

    def events():
        for at in range(10):
            read.append(at)
            yield event("arrive", at, f"j{at}")

    heap: Heap[str] = Heap(events())
    assert read == [0]
    heap.take(START_MS + 3)
    assert read == [0, 1, 2, 3, 4]


def test_an_event_that_is_earlier_than_the_one_before_it_is_an_error_that_says_which():
    stream = [event("arrive", 5, "a"), event("arrive", 4, "b")]
    with pytest.raises(KumiError, match="event 2 of the load"):
        Heap(iter(stream)).take(START_MS + 5)


@given(happenings, st.integers(0, 40))
def test_it_goes_on_with_another_stream_of_the_same_events(said, played):
    stream = [
        event(kind, at, str(n)) for n, (at, kind) in enumerate(sorted(said, key=lambda one: one[0])) if kind != "end"
    ]
    heap: Heap[str] = Heap(iter(stream))
    heap.end(START_MS + 3, "end")
    for _ in range(played):
        if (now_ms := heap.next_ms()) is not None:
            heap.take(now_ms)
    again = pickle.loads(pickle.dumps(heap))
    assert again.go_on(iter(stream))
    while (now_ms := heap.next_ms()) is not None:
        assert again.next_ms() == now_ms
        assert again.take(now_ms) == heap.take(now_ms)
    assert again.next_ms() is None


def test_it_does_not_go_on_with_other_events():
    stream = [event("arrive", at, f"j{at}") for at in range(4)]
    heap: Heap[str] = Heap(iter(stream))
    heap.take(START_MS + 1)
    for others in (stream[:2], [*stream[:1], event("arrive", 1, "x"), *stream[2:]], []):
        assert not pickle.loads(pickle.dumps(heap)).go_on(iter(others))
    heap.take(START_MS + 9)
    assert not pickle.loads(pickle.dumps(heap)).go_on(iter([*stream, event("arrive", 9, "more")]))
