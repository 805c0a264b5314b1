"""A cluster of `kumi up --bare` for clients of other people, one for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Cluster


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """It is up; stopped at the end, whatever happened."""
    home = tmp_path_factory.mktemp("bare")
    (home / "work").mkdir()
    made = Cluster(home / "data", home / "work")
    made.up("--bare")
    yield made
    made.kumi("down", ok=False)


@pytest.fixture
def kubeconfig(bare: Cluster) -> Path:
    """Of the administrator of `bare`."""
    return bare.data_dir / "kubeconfig"
