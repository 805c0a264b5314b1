"""`kumi why` prints what the client says, line by line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from click.testing import CliRunner

import kumi.sdk
from kumi.cli.why import command


class Told:
    """A client that knows one answer."""

    async def find_waiting(self, name: str) -> str:
        return name

    async def why(self, job: str) -> tuple[str, str]:
        return f"{job} waits", "for ever"


def test_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def connect(*_: Any) -> AsyncIterator[Told]:
        yield Told()

    monkeypatch.setattr(kumi.sdk, "connect", connect, raising=False)
    assert CliRunner().invoke(command, ["bert"]).output == "bert waits\nfor ever\n"
