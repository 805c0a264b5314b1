"""Files of traces, and what is said of those that can't be read."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import pytest

from kumi.evaluator.traces.base import TraceError, opened


def test_an_error_says_file_line_column_and_what_is_wrong() -> None:
    error = TraceError(Path("a.csv"), "is empty", 3, "name")
    assert str(error) == "a.csv, line 3, column name: is empty"
    assert str(TraceError(Path("a.csv"), "is empty")) == "a.csv: is empty"


def test_an_error_comes_back_from_another_process_as_it_was() -> None:
    error = pickle.loads(pickle.dumps(TraceError(Path("a.csv"), "is empty", 3, "name")))
    assert (error.path, error.line, error.column, str(error)) == (
        Path("a.csv"),
        3,
        "name",
        "a.csv, line 3, column name: is empty",
    )


def test_a_packed_file_is_read_as_it_was_before_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(gzip.compress(b"a\nb\n"))
    with opened(tmp_path / "log") as text:
        assert list(text) == ["a\n", "b\n"]


def test_a_mark_of_the_byte_order_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes("\ufeffsn".encode())
    with opened(tmp_path / "log") as text:
        assert text.read() == "sn"


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"\xff\xfe\x00", "is not UTF-8 text"), (gzip.compress(b"a" * 9999)[:-20], "can't be unpacked")],
)
def test_what_is_no_text_is_told(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(TraceError, match=says), opened(tmp_path / "log") as text:
        text.read()


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="there is no such file"), opened(tmp_path / "log"):
        pass
    with pytest.raises(TraceError, match="can't be read: Is a directory"), opened(tmp_path):
        pass
