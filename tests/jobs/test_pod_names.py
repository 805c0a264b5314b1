from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.jobs.pod_names import LETTERS, letters, pod_name


@given(st.text(min_size=1, max_size=40), st.sets(st.integers(0, 20), max_size=10))
def test_a_repetition_gives_the_same_name_and_no_name_is_given_twice(uid: str, extra: set[int]) -> None:
    taken: set[str] = set()
    for _ in extra:
        name = pod_name(uid, "job-", taken)
        assert name not in taken
        assert pod_name(uid, "job-", taken) == name
        taken.add(name)


def test_a_name_fits_and_spells_no_word() -> None:
    name = pod_name("u", "x" * 80 + "-", set())
    assert len(name) == 63
    assert set(letters("text", 10)) <= set(LETTERS)
    assert len(letters("text", 10)) == 10


def test_purposes_have_names_of_their_own() -> None:
    assert pod_name("u", "j-", set(), "0") != pod_name("u", "j-", set(), "1")
