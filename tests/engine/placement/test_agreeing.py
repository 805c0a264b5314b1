"""Agreeing: whom plug-ins let go together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.model import Pod
from kumi.engine.placement.agreeing import Agree, by_all, starting_anew
from kumi.testing.builders import pod

PODS = {name: pod(f"ns/{name}") for name in "abcd"}
answers = st.lists(st.one_of(st.none(), st.sets(st.sampled_from("abcd")).map(sorted)), max_size=4)


def said(agree: Agree, *names: str | list[str] | None) -> str:
    found: list[Pod] = agree(iter([None if one is None else [PODS[n] for n in one] for one in names]))
    return "".join(p.name for p in found)


@given(answers)
def test_with_kumis_way_a_victim_is_one_that_all_with_an_opinion_name(answers: list[list[str] | None]) -> None:
    opinions = [set(one) for one in answers if one is not None]
    wanted = "".join(sorted(set.intersection(*opinions))) if opinions else ""
    assert said(by_all, *answers) == wanted


@given(answers)
def test_both_ways_agree_where_the_common_part_never_becomes_empty(answers: list[list[str] | None]) -> None:
    if said(by_all, *answers):
        assert said(starting_anew, *answers) == said(by_all, *answers)


@pytest.mark.parametrize("agree", [by_all, starting_anew])
@pytest.mark.parametrize(
    ("answers", "wanted"),
    [((), ""), ((None,), ""), (("ab", None, "b"), "b"), (("ab", "", "b"), ""), (("ba", "abc"), "ba")],
)
def test_one_without_an_opinion_is_passed_over_and_one_that_spares_all_is_enough(
    agree: Agree, answers: tuple[str | None, ...], wanted: str
) -> None:
    assert said(agree, *answers) == wanted


def test_with_volcanos_way_the_next_one_starts_anew_where_nobody_is_left() -> None:
    assert said(starting_anew, "a", "b", "cd") == "cd"
    assert said(by_all, "a", "b", "cd") == ""
