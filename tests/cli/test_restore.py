"""A restore over a cluster that is there, and into a folder that is not one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Cluster

pytestmark = [pytest.mark.process, pytest.mark.needs("kubectl")]


def test_force_goes_back_to_the_backup(cluster: Cluster, tmp_path: Path) -> None:
    cluster.up("--bare")
    cluster.kubectl("create", "configmap", "kept")
    cluster.kumi("backup", str(tmp_path / "backup"))
    cluster.kubectl("delete", "configmap", "kept")
    cluster.kumi("down")
    cluster.kumi("restore", str(tmp_path / "backup"), "--force")
    cluster.up("--bare")
    cluster.kubectl("get", "configmap", "kept")


def test_a_folder_with_something_else_in_it_is_left_alone(cluster: Cluster, tmp_path: Path) -> None:
    cluster.data_dir.mkdir()
    (cluster.data_dir / "letters").write_text("dear")
    (tmp_path / "backup").write_text("")
    assert "is not empty" in cluster.kumi("restore", str(tmp_path / "backup"), ok=False).stderr
    assert [path.name for path in cluster.data_dir.iterdir()] == ["letters"]
