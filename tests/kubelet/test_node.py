from __future__ import annotations

import pytest

from tests.kubelet.stage import Cluster, pod, state

pytestmark = pytest.mark.process


async def test_a_pod_runs_to_success(cluster: Cluster) -> None:
    await cluster.run(pod("p", "echo hello; exit 0"))
    found = await cluster.phase("p", "Succeeded")
    assert state(found)["terminated"]["exitCode"] == 0
    assert await cluster.log("p") == "hello\n"
