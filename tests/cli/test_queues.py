"""Rows of `kumi queues`."""

from __future__ import annotations

from kumi.cli.queues import amounts, row
from kumi.sdk.gangs import Queue


def test_a_queue_shows_what_it_holds_and_may_have_and_how_many_run_and_wait() -> None:
    held = {"cpu": "2", "memory": "0", "nvidia.com/gpu": "1"}
    queue = Queue("q", "root", "Open", 3, held, {"nvidia.com/gpu": "2"}, {}, ("ns/a",), ("ns/b", "ns/c"))
    assert row(queue) == ("q", "root", "Open", "3", "2 cpu, 1 nvidia.com/gpu", "2 nvidia.com/gpu", "1", "2")


def test_a_queue_without_a_limit_may_have_any() -> None:
    assert row(Queue("q", "", "Closed", 1, {}, {}, {}))[4:6] == ("", "any")
    assert amounts({}) == ""
