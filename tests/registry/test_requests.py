"""Options of requests."""

from __future__ import annotations

from kumi.registry.requests import WriteOptions


def test_a_warning_is_given_once_however_often_a_write_is_tried() -> None:
    options = WriteOptions()
    options.warn(["a", "b"])
    options.warn(["b", "c"])
    assert options.warnings == ["a", "b", "c"]
