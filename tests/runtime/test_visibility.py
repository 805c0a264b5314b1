"""Visibility: nobody to ask is told as an API that is not there."""

from __future__ import annotations

from kumi.runtime.visibility import nobody_decides


def test_nobody_to_ask_is_an_api_that_is_not_there_and_says_why() -> None:
    error = nobody_decides()
    assert (error.code, error.reason) == (404, "NotFound")
    assert "no scheduler" in error.message
