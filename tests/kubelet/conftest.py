"""A cluster for each test that runs processes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.kubelet.stage import Cluster


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """One node; it is stopped and everything of it killed after the test."""
    found = Cluster(tmp_path / tmp_path.name)
    await found.start()
    yield found
    await found.crash()
    found.end()
