"""Decisions: of what is said twice in one look the last counts."""

from __future__ import annotations

from operator import attrgetter

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.decisions import Bind, Decision, Unplaced, last_words
from kumi.engine.reasons import Code, Reason

SAID = st.builds(Unplaced, st.sampled_from("abc"), st.just(()) | st.just((Reason(Code.NO_NODES),)))


@given(st.lists(SAID | st.builds(Bind, st.sampled_from("abc"), st.just("n")), max_size=8))
def test_the_last_of_each_stays_and_all_that_is_of_another_kind_in_their_order(decided: list[Decision]) -> None:
    found = last_words(decided, Unplaced, attrgetter("pod"))
    last = {one.pod: n for n, one in enumerate(decided) if isinstance(one, Unplaced)}
    stays = [n for n, one in enumerate(decided) if not isinstance(one, Unplaced) or last[one.pod] == n]
    assert found == [decided[n] for n in stays]


def test_what_is_said_once_is_given_back_as_it_is() -> None:
    decided: list[Decision] = [Unplaced("a", ()), Bind("a", "n"), Unplaced("b", ())]
    assert last_words(decided, Unplaced, attrgetter("pod")) is decided
