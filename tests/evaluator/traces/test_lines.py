"""Lines of a recording."""

from __future__ import annotations

from io import BytesIO, StringIO
from pathlib import Path

import pytest

from kumi.evaluator.traces import lines
from kumi.evaluator.traces.base import TraceError

PATH = Path("rec.jsonl")
POD = {"kind": "Pod", "metadata": {"name": "p"}}


def test_what_is_written_is_read_again() -> None:
    text = lines.head(5) + lines.written(7, "ADDED", object=POD) + lines.written(7, lines.BEGUN)
    for stream in (BytesIO(text), StringIO(text.decode())):
        assert lines.started_ms(PATH, stream) == 5
        found = list(lines.lines(PATH, stream))
        assert [(line.number, line.at_ms, line.type) for line in found] == [(2, 7, "ADDED"), (3, 7, "BEGUN")]
        assert found[0].said["object"] == POD


def test_a_torn_last_line_is_told_as_such() -> None:
    stream = BytesIO(lines.head(5) + lines.written(7, lines.BEGUN) + b'{"at_ms": 9, "ty')
    lines.started_ms(PATH, stream)
    assert [line.type for line in lines.lines(PATH, stream)] == [lines.BEGUN, lines.TORN]


@pytest.mark.parametrize("size", [10, 65_536, 200_000])
def test_whole_lines_are_counted_from_the_end(tmp_path: Path, size: int) -> None:
    path = tmp_path / "rec"
    path.write_bytes(b"a\nbb\n" + b"x" * size)
    assert lines.whole(path) == 5
    path.write_bytes(b"x" * size + b"\n")
    assert lines.whole(path) == size + 1
    path.write_bytes(b"x" * size)
    assert lines.whole(path) == 0


@pytest.mark.parametrize("first", [b"", b"{}\n", b"hello\n", b"[]\n"])
def test_another_file_is_no_recording(first: bytes) -> None:
    with pytest.raises(TraceError, match="line 1: is no recording"):
        lines.started_ms(PATH, BytesIO(first))


def test_a_recording_of_a_later_version_is_told() -> None:
    with pytest.raises(TraceError, match="of version 9, this Kumi reads version 1"):
        lines.started_ms(PATH, BytesIO(b'{"kumi": "recording", "version": 9, "started_ms": 1}\n'))


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{nothing\n", "line 3: is no line of a recording"),
        (b'{"at_ms": 8, "type": "ADDED", "object": {}}\n', "line 3: is no line"),
        (b'{"at_ms": 8, "type": "SUNK"}\n', "line 3: a line of type 'SUNK' is not known"),
        (b'{"at_ms": 3, "type": "BEGUN"}\n', "line 3, column at_ms: is earlier than the line before it"),
    ],
)
def test_a_line_that_can_not_be_read_is_told(raw: bytes, says: str) -> None:
    with pytest.raises(TraceError, match=says):
        list(lines.lines(PATH, BytesIO(lines.written(7, lines.RESUMED) + raw)))
