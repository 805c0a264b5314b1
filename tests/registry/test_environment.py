"""What every verb works with."""

from __future__ import annotations

from kumi.api.scheme import Scheme
from kumi.registry.environment import Environment
from kumi.registry.objects import Objects
from kumi.store.memory import MemoryStore


def test_now_is_written_as_the_api_writes_times() -> None:
    env = Environment(Objects(MemoryStore()), Scheme(), lambda: 1_800_000_000_999, lambda: "uid")
    assert env.now() == "2027-01-15T08:00:00Z"
