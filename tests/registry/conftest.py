"""A registry in memory for every test that asks for one."""

from __future__ import annotations

import pytest

from kumi.api.scheme import Scheme, load
from tests.registry.world import World


@pytest.fixture(scope="session")
def scheme() -> Scheme:
    """Every kind."""
    return load()


@pytest.fixture
async def world(scheme: Scheme) -> World:
    """An empty cluster with namespace `ns`."""
    made = World(scheme)
    await made.create("Namespace", {"metadata": {"name": "ns"}})
    return made
