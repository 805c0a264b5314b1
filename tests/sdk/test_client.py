"""The client against a real server in this process: submit, find, follow, why, logs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kumi.api.errors import KumiError
from kumi.sdk import TrainingJob, connect

pytestmark = pytest.mark.process

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: pool}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: default, resources: [{name: nvidia.com/gpu, nominalQuota: 1}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: door, namespace: default}
spec: {clusterQueue: pool}
"""


async def test_a_job_is_submitted_followed_and_explained(cluster: Any) -> None:
    cluster.up("--gpus", "1")
    async with connect(str(cluster.data_dir / "kubeconfig")) as kumi:
        assert [done for done, _ in await kumi.apply(QUEUES)] == ["created"] * 3
        job = await kumi.submit(TrainingJob("a", ["sh", "-c", "echo hello"], queue="door", gpus=1))
        steps = [step async for step in kumi.follow(job)]
        assert steps[-1].succeeded
        [pod] = await kumi.pods(job)
        log = b"".join([chunk async for chunk in kumi.logs("default", pod["metadata"]["name"])])
        assert log == b"hello\n"
        async with asyncio.timeout(60):  # the job has ended, and its Workload is about to say so
            while "finished" not in (await kumi.why(await kumi.find("a")))[0]:
                await asyncio.sleep(0.05)
        large = await kumi.submit(TrainingJob("b", ["true"], queue="door", workers=2, gpus=1))
        async for step in kumi.follow(large):
            assert step.permanent
            break
        assert "1 nvidia.com/gpu" in (await kumi.why(large))[0]


async def test_nobody_answers_is_a_connection_error(tmp_path: Path) -> None:
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "x",
        "clusters": [{"name": "x", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "x", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
    }  # fmt: skip
    (tmp_path / "config").write_text(json.dumps(config))
    async with connect(str(tmp_path / "config")) as kumi:
        with pytest.raises((ConnectionError, KumiError)):
            await kumi.find("a")
