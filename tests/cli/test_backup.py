"""A backup of a cluster that runs, restored elsewhere: the same objects, the same users."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Cluster

pytestmark = [pytest.mark.process, pytest.mark.needs("kubectl")]


def test_a_running_cluster_is_backed_up_and_comes_back_elsewhere(cluster: Cluster, tmp_path: Path) -> None:
    cluster.up("--bare")
    cluster.kubectl("create", "configmap", "kept", "--from-literal=color=blue")
    backup = str(tmp_path / "backup")
    assert "everything up to revision" in cluster.kumi("backup", backup).stdout
    assert "--force" in cluster.kumi("backup", backup, ok=False).stderr
    cluster.kubectl("create", "configmap", "lost")
    token = (cluster.data_dir / "pki" / "token").read_bytes()
    assert "kumi down" in cluster.kumi("restore", backup, "--force", ok=False).stderr
    cluster.kumi("down")
    assert "--force" in cluster.kumi("restore", backup, ok=False).stderr

    other = Cluster(tmp_path / "other", cluster.working_dir)
    other.kumi("restore", backup)
    assert (other.data_dir / "pki" / "token").read_bytes() == token
    try:
        other.up("--bare")
        assert other.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.color}").stdout == "blue"
        assert "NotFound" in other.kubectl("get", "configmap", "lost", ok=False).stderr
    finally:
        other.kumi("down", ok=False)
