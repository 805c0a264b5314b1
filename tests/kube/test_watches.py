from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.kube.client import error_from_status
from kumi.kube.watches import events, lines


async def chunks(parts: list[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({min(p, len(data)) for p in places} | {len(data)})
    return [data[a:b] for a, b in zip([0, *ends], ends, strict=False)]


@given(st.lists(st.text()), st.lists(st.integers(0, 300)))
async def test_events_are_the_same_however_the_stream_is_cut(names: list[str], places: list[int]) -> None:
    data = b"".join(json.dumps({"type": "ADDED", "object": {"name": name}}).encode() + b"\n" for name in names)
    found = [event async for event in events(chunks(cut(data, places)), error_from_status)]
    assert [event.object["name"] for event in found] == names


async def test_a_line_that_was_cut_off_is_no_line() -> None:
    assert [line async for line in lines(chunks([b"a\nb", b"c\n", b"d"]))] == [b"a", b"bc"]


async def test_an_error_event_is_raised() -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    stream = events(chunks([json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"]), error_from_status)
    with pytest.raises(ApiError) as gone:
        await anext(stream)
    assert (gone.value.code, gone.value.reason) == (410, "Expired")


@pytest.mark.parametrize("line", [b"nonsense\n", b"{}\n", b"[]\n", b"3\n"])
async def test_what_is_no_event_is_a_lost_connection(line: bytes) -> None:
    with pytest.raises(ConnectionError):
        await anext(events(chunks([line]), error_from_status))


async def test_blank_lines_are_passed_over() -> None:
    assert [event async for event in events(chunks([b"\n \n"]), error_from_status)] == []
