"""The note about injected variables."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.jobs.injected import ANNOTATION, Injected, decode, encode

NAMES = st.lists(st.text(min_size=1, max_size=8), max_size=3).map(tuple)


@given(
    st.builds(
        Injected,
        names=NAMES,
        ports=NAMES,
        endpoints=NAMES,
        group=st.text(max_size=8),
        port=st.integers(0, 65535),
    )
)
def test_what_was_encoded_is_decoded(injected: Injected) -> None:
    assert decode({ANNOTATION: encode(injected)}) == injected


def test_the_bytes_are_compact_and_sorted() -> None:
    note = Injected(names=("MASTER_ADDR",), ports=("MASTER_PORT",), group="u1", port=23456)
    assert encode(note) == '{"endpoints":[],"group":"u1","names":["MASTER_ADDR"],"port":23456,"ports":["MASTER_PORT"]}'


def test_a_pod_without_the_note_has_nothing_to_substitute() -> None:
    assert decode({"a": "b"}) is None


def test_a_note_that_is_no_json_or_of_another_shape_is_not_ours() -> None:
    assert decode({ANNOTATION: "{"}) is None
    assert decode({ANNOTATION: '{"names": 3}'}) is None
