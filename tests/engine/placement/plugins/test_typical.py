"""Typical tasks: one table, however it came."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import FieldError
from kumi.engine.model import PodShape, Requirement
from kumi.engine.placement.plugins.typical import MODEL, Typical, models, of_shapes, parse, to_text
from kumi.testing.builders import GPU, amounts

rows = st.builds(
    Typical,
    st.integers(0, 64_000),
    st.just(0),
    st.integers(0, 8),
    st.sampled_from([(), ("A10",), ("A10", "T4")]),
    st.integers(1, 99),
) | st.builds(Typical, st.integers(0, 64_000), st.integers(1, 999), st.just(0), st.just(()), st.integers(1, 99))


@given(st.lists(rows, unique_by=lambda row: row[:4]))
def test_what_is_written_is_read_back(table: list[Typical]) -> None:
    errors: list[FieldError] = []
    assert parse(json.loads(to_text(tuple(sorted(table)))), "typical", errors) == tuple(sorted(table))
    assert not errors


def test_tasks_of_one_kind_are_one_row_and_those_without_gpus_count() -> None:
    shared = PodShape((*amounts(cpu=6, memory="1Gi"), (GPU, 460)), share=460)
    other = PodShape((*amounts(cpu=6), (GPU, 460)), share=460)
    table = of_shapes([(shared, 2), (PodShape(amounts(cpu=4)), 3), (other, 1), (PodShape(((GPU, 2000),)), 1)])
    assert table == (
        Typical(0, 0, 2, (), 1),
        Typical(4000, 0, 0, (), 3),
        Typical(6000, 460, 0, (), 3),
    )


def test_gpu_models_are_those_of_the_selector_or_of_a_single_term() -> None:
    term = (Requirement(MODEL, "In", ("T4", "A10")),)
    assert models(PodShape((), affinity=(term,))) == ("A10", "T4")
    assert models(PodShape((), node_selector=((MODEL, "A10"),))) == ("A10",)
    assert models(PodShape((), affinity=(term, term))) == ()
    assert models(PodShape((), affinity=((Requirement(MODEL, "NotIn", ("T4",)),),))) == ()


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("many", "t"),
        (["many"], "t[0]"),
        ([{"gpus": 1}, {"gpu": 1}], "t[1].gpu"),
        ([{"share": 1000}], "t[0].share"),
        ([{"share": -1}], "t[0].share"),
        ([{"share": 500, "gpus": 2}], "t[0].gpus"),
        ([{"gpus": True}], "t[0].gpus"),
        ([{"gpus": 1, "weight": 0}], "t[0].weight"),
        ([{"cpu": "much"}], "t[0].cpu"),
        ([{"models": "A10"}], "t[0].models"),
    ],
)
def test_what_is_wrong_is_told_with_its_path(written: Any, path: str) -> None:
    errors: list[FieldError] = []
    parse(written, "t", errors)
    assert [error.path for error in errors] == [path]
