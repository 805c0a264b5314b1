"""What a container is started with."""

from __future__ import annotations

import pytest

from tests.kubelet.stage import Cluster, container, pod, state, status

pytestmark = pytest.mark.process


async def test_a_container_has_what_it_declares_over_what_it_inherits(cluster: Cluster) -> None:
    env = [
        {"name": "HOME", "value": "/nowhere"},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ]
    await cluster.run(pod("p", container("echo $HOME $HOSTNAME $IP; pwd", env=env, workingDir="/usr"), hostname="box"))
    found = await cluster.phase("p", "Succeeded")
    assert await cluster.log("p") == f"/nowhere box {found['status']['podIP']}\n/usr\n"


async def test_a_command_in_a_container_has_the_environment_of_its_start_also_after_a_restart_of_kumi(
    cluster: Cluster,
) -> None:
    flag = cluster.data_dir / "flag"
    flag.touch()
    script = f'test "$WORD" = yes && test "$HOSTNAME" = box && test -e {flag}'
    probe = {"exec": {"command": ["/bin/sh", "-c", script]}, "periodSeconds": 1, "failureThreshold": 1}
    env = [{"name": "WORD", "value": "yes"}]
    await cluster.run(pod("p", container("exec sleep 60", env=env, readinessProbe=probe), hostname="box"))
    await cluster.until("p", lambda p: status(p).get("ready"), "ready")
    await cluster.crash()
    await cluster.start()
    flag.unlink()
    await cluster.until("p", lambda p: not status(p).get("ready"), "unready")
    flag.touch()
    found = await cluster.until("p", lambda p: status(p).get("ready"), "ready again")
    assert status(found)["restartCount"] == 0


async def test_a_container_with_a_probe_that_can_not_be_asked_waits_and_says_why(cluster: Cluster) -> None:
    await cluster.run(pod("p", container("exec sleep 60", livenessProbe={"grpc": {"port": 80}})))
    found = await cluster.until("p", lambda p: "waiting" in state(p) and state(p)["waiting"].get("message"), "told")
    assert state(found)["waiting"]["reason"] == "CreateContainerConfigError"
    assert "gRPC" in state(found)["waiting"]["message"]


async def test_no_pod_can_pass_for_another_s_process(cluster: Cluster) -> None:
    await cluster.run(
        pod("p", container("echo $KUMI_CONTAINER", env=[{"name": "KUMI_CONTAINER", "value": "/another/0"}]))
    )
    await cluster.phase("p", "Succeeded")
    assert (await cluster.log("p")).endswith("/main/0\n")
