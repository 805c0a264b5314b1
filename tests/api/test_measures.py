from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.api.measures import Family, Histogram, Sample, merged, one

BOUNDS = (0.5, 1.0, 8.0)


@given(st.lists(st.floats(0, 20)))
def test_a_histogram_says_how_many_were_at_or_under_each_bound(values: list[float]) -> None:
    histogram = Histogram(BOUNDS)
    for value in values:
        histogram.observe(value)
    wanted = [(bound, sum(value <= bound for value in values)) for bound in (*BOUNDS, float("inf"))]
    assert histogram.cumulative() == wanted
    assert histogram.count == len(values)
    assert histogram.total == sum(values)


@given(st.lists(st.sampled_from("abc")))
def test_families_of_one_name_are_told_once_with_all_samples_in_order(names: list[str]) -> None:
    told = [Family(name, "", "gauge", ("n",), (Sample((str(i),), i),)) for i, name in enumerate(names)]
    found = merged(told)
    assert [family.name for family in found] == sorted(dict.fromkeys(names))
    for family in found:
        assert [s.value for s in family.samples] == [i for i, name in enumerate(names) if name == family.name]


def test_a_lone_number_needs_no_labels() -> None:
    assert one("x", "What it is.", "gauge", 3) == Family("x", "What it is.", "gauge", (), (Sample((), 3),))
