"""A result as people have it in a notebook."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kumi.api.errors import KumiError
from kumi.evaluator.play import Played
from kumi.evaluator.result import Columns
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


def test_a_run_that_was_played_is_shown_with_how_it_was_over_and_its_notes() -> None:
    facts = small().facts
    over = Played(facts, "fifo", 3, 0.5)
    shown = over._repr_html_()
    assert "<th style='text-align:left'>partial</th><td>no</td>" in shown
    assert ">stopped<" not in shown
    cut = replace(over, stopped="It was <stopped>.", notes=("a: left out 2", "b"), parameters=(("load", 0.5),))
    shown = cut._repr_html_()
    assert "<td>It was &lt;stopped&gt;.</td>" in shown
    assert "<td>a: left out 2 b</td>" in shown
    assert "<td>yes</td>" in shown
    assert "<caption>fifo load=0.5, seed 3</caption>" in shown


def test_a_report_is_written_of_one_result_or_of_several(tmp_path: Path) -> None:
    assert small().report(str(tmp_path / "one.html")) == tmp_path / "one.html"
    assert b"<h1>fifo</h1>" in (tmp_path / "one.html").read_bytes()
    small().report(tmp_path / "two.html", small("easy"))
    assert b"<h1>fifo against easy</h1>" in (tmp_path / "two.html").read_bytes()


def test_who_has_no_pandas_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(KumiError, match="pip install pandas"):
        Columns(NeedsPandas()).to_pandas()  # type: ignore[arg-type]


class NeedsPandas:
    """A table as pyarrow's, of which only what needs pandas is asked."""

    def to_pandas(self) -> object:
        """As pyarrow does it: when it is called."""
        import pandas

        return pandas


def test_jobs_that_never_ran_to_their_end_say_why() -> None:
    assert small().never_finished() == {"default/giant": "no node has 64 of nvidia.com/gpu"}


def test_placements_are_a_table_too() -> None:
    assert small().placements["node"].tolist() == ["n1", "n2", "n2", "n2"]
