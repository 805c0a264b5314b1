"""What probes and hooks do: against a real server and a real container."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from kumi.api.core import Event
from kumi.kubelet import handlers, inside
from kumi.kubelet.handlers import Subject, Verdict, port_of
from kumi.kubelet.process import Launcher
from tests.kubelet.stage import Cluster, container, pod, state, status

NOBODY = inside.Request([0, 0, ""], [], {}, "/")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """A server: /ok, /bad, /moved (to /bad), /away (to another host), /agent (a good status for a probe's)."""

    async def answer(request: web.Request) -> web.Response:
        path = request.path
        if path == "/moved":
            return web.Response(status=302, headers={"Location": "/bad"})
        if path == "/away":
            return web.Response(status=302, headers={"Location": "http://elsewhere.invalid/"})
        if path == "/agent":
            good = request.headers["User-Agent"].startswith("kube-probe/") and request.headers.get("X-Word") == "yes"
            return web.Response(status=200 if good else 400)
        return web.Response(status=200 if path == "/ok" else 503)

    app = web.Application()
    app.router.add_get("/{rest:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    yield site._server.sockets[0].getsockname()[1]
    await runner.cleanup()


def subject(**fields: Any) -> Subject:
    return Subject({"name": "c", **fields}, "127.0.0.1", NOBODY, Launcher(None))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "good"), [("/ok", True), ("/bad", False), ("/moved", False), ("/away", True), ("ok", True)]
)
async def test_a_get_is_good_with_a_status_from_200_to_399_where_its_host_leads_it(
    port: int, path: str, good: bool
) -> None:
    verdict = await handlers.probe({"httpGet": {"path": path, "port": port}}, subject())
    assert verdict.ok is good
    assert good or verdict.message == "HTTP probe failed with statuscode: 503"


async def test_a_get_sends_the_probe_s_headers(port: int) -> None:
    get = {"path": "/agent", "port": port, "httpHeaders": [{"name": "X-Word", "value": "yes"}]}
    assert (await handlers.probe({"httpGet": get}, subject())).ok


async def test_a_hook_asks_for_an_answer_only(port: int) -> None:
    assert await handlers.hook({"httpGet": {"path": "/bad", "port": port}}, subject()) == ""


async def test_a_socket_is_good_if_it_takes_a_connection(port: int) -> None:
    ports = [{"name": "web", "containerPort": port}]
    assert await handlers.probe({"tcpSocket": {"port": "web"}}, subject(ports=ports)) == Verdict(True)


async def test_nobody_there_is_no_good_answer_and_says_so() -> None:
    verdict = await handlers.probe({"tcpSocket": {"port": 1}}, subject())
    assert verdict == Verdict(False, "dial tcp 127.0.0.1:1: connect: connection refused")
    verdict = await handlers.probe({"httpGet": {"port": 1}}, subject())
    assert verdict == Verdict(False, 'Get "http://127.0.0.1:1/": connection refused')


async def test_an_answer_that_takes_longer_than_the_timeout_is_bad() -> None:
    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(keep, "127.0.0.1", 0)
    async with server:
        spec = {"httpGet": {"port": server.sockets[0].getsockname()[1]}, "timeoutSeconds": 1}
        assert await handlers.probe(spec, subject()) == Verdict(False, "no answer within 1s")


async def test_a_hook_may_sleep_and_must_do_something() -> None:
    assert await handlers.hook({"sleep": {"seconds": 0}}, subject()) == ""
    assert await handlers.hook({"tcpSocket": {"port": 1}}, subject()) != ""


def test_a_port_is_a_number_or_a_name_of_the_container() -> None:
    named = {"ports": [{"name": "web", "containerPort": 80}, {"containerPort": 81}]}
    assert (port_of(8080, named), port_of("8080", named), port_of("web", named)) == (8080, 8080, 80)
    for wrong in ("http", 0, 70_000, None):
        with pytest.raises(ValueError, match="find port"):
            port_of(wrong, named)


# in a pod


def execs(script: str, **numbers: int) -> dict[str, Any]:
    return {"exec": {"command": ["/bin/sh", "-c", script]}, **numbers}


async def reasons(cluster: Cluster, name: str) -> dict[str, str]:
    kind = cluster.registry.scheme.of(Event)
    events = (await cluster.client.list(kind, "default")).items
    return {e["reason"]: e["message"] for e in events if e["involvedObject"]["name"] == name}


def is_ready(found: dict[str, Any]) -> bool:
    conditions = (found.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


@pytest.mark.process
async def test_a_pod_is_ready_while_its_readiness_probe_says_so(cluster: Cluster) -> None:
    flag = cluster.data_dir / "flag"
    probe = execs(f"test -e {flag}", periodSeconds=1, failureThreshold=1)
    await cluster.run(pod("p", container("exec sleep 60", readinessProbe=probe)))
    found = await cluster.phase("p", "Running")
    assert (status(found)["ready"], status(found)["started"], is_ready(found)) == (False, True, False)
    flag.touch()
    await cluster.until("p", is_ready, "ready")
    flag.unlink()
    await cluster.until("p", lambda p: not is_ready(p), "unready")
    assert (await reasons(cluster, "p"))["Unhealthy"].startswith("Readiness probe failed")


@pytest.mark.process
async def test_a_container_that_fails_its_liveness_probe_is_killed_and_runs_again(cluster: Cluster) -> None:
    probe = execs("echo sick >&2; exit 1", periodSeconds=1, failureThreshold=1)
    script = "trap '' TERM; while :; do sleep 0.05; done"
    await cluster.run(
        pod(
            "p",
            container(script, livenessProbe={**probe, "terminationGracePeriodSeconds": 1}),
            restartPolicy="Always",
        )
    )
    found = await cluster.until("p", lambda p: status(p)["restartCount"] > 0, "restarted")
    assert status(found)["lastState"]["terminated"]["exitCode"] == 137
    told = await reasons(cluster, "p")
    assert told["Unhealthy"] == "Liveness probe failed: sick\n"
    assert told["Killing"] == "Container main failed liveness probe, will be restarted"


@pytest.mark.process
async def test_hooks_run_in_the_container_after_its_start_and_before_its_end(cluster: Cluster) -> None:
    told = cluster.data_dir / "told"
    script = f"trap 'echo term >> {told}; exit 0' TERM; while :; do sleep 0.05; done"
    lifecycle = {"postStart": execs(f"echo $WORD >> {told}"), "preStop": execs(f"echo stop >> {told}")}
    env = [{"name": "WORD", "value": "start"}]
    await cluster.run(pod("p", container(script, lifecycle=lifecycle, env=env)))
    await cluster.phase("p", "Running")
    await cluster.until("p", lambda p: "running" in state(p), "running")
    assert told.read_text() == "start\n"
    await cluster.delete("p")
    await cluster.gone("p")
    assert told.read_text() == "start\nstop\nterm\n"


@pytest.mark.process
async def test_a_post_start_hook_that_fails_is_told_and_ends_the_container(cluster: Cluster) -> None:
    lifecycle = {"postStart": execs("echo wrong; exit 1")}
    await cluster.run(pod("p", container("exec sleep 60", lifecycle=lifecycle)))
    await cluster.phase("p", "Failed")
    assert "wrong" in (await reasons(cluster, "p"))["FailedPostStartHook"]


@pytest.mark.parametrize("kind", ["startup", "liveness", "readiness"])
def test_a_probe_that_is_not_known_is_told_with_what_to_use_instead(kind: str) -> None:
    said = handlers.unknown({"name": "main", f"{kind}Probe": {"grpc": {"port": 80}}})
    assert said.startswith(f"its {kind}Probe is a gRPC one")
    assert "grpc_health_probe" in said
    assert handlers.unknown({"name": "main", f"{kind}Probe": {"tcpSocket": {"port": 80}}}) == ""
