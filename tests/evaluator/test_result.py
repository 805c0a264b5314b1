"""A result as people have it in a notebook."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluator.told import small


def test_columns_are_arrays_by_name() -> None:
    jobs = small().jobs
    assert len(jobs) == 4
    assert jobs["work_ms"].tolist() == [100_000, 50_000, 10_000, 30_000]
    assert jobs["job"].tolist()[0] == "default/first"
    assert np.isnan(jobs["jct_ms"][2])
    assert jobs["arrival"].dtype == np.dtype("datetime64[ms]")
    assert "wait_ms" in list(jobs)


def test_a_column_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(KeyError, match=r"no column waiting.*wait_ms"):
        small().jobs["waiting"]


def test_series_by_name() -> None:
    result = small()
    assert [line.label for line in result.series("dominant_share")] == ["red", "blue"]
    with pytest.raises(KeyError, match=r"no series queue.*queue_length"):
        result.series("queue")


def test_a_notebook_shows_a_table_in_which_names_are_only_text() -> None:
    shown = small(policy="<b>mine</b>")._repr_html_()
    assert "&lt;b&gt;mine&lt;/b&gt;, seed 0" in shown
    assert "<th style='text-align:left'>jobs</th><td>4</td>" in shown
    assert "mean 95.0, peak 100.0" in shown


def test_jobs_that_never_ran_to_their_end_say_why() -> None:
    assert small().never_finished() == {"default/giant": "no node has 64 of nvidia.com/gpu"}


def test_placements_are_a_table_too() -> None:
    assert small().placements["node"].tolist() == ["n1", "n2", "n2", "n2"]
