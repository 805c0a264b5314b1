"""The store without a disk."""

from __future__ import annotations

import pytest
from hypothesis import settings

from kumi.store.base import Store
from kumi.store.memory import MemoryStore

from .machine import StoreMachine
from .suite import SMALL_BOUND, StoreSuite


class MemoryMachine(StoreMachine):
    def open(self) -> Store:
        return MemoryStore()


class TestMemoryStore(StoreSuite):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore(SMALL_BOUND)


TestMemoryMachine = MemoryMachine.TestCase
TestMemoryMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
