"""What a probe or a hook does: one look at a container, or one word to it.

    exec        a command in the container: good with exit code 0; what it says is told, the first OUTPUT_BYTES of it
    httpGet     a GET to the pod's address (or `host`): good with a status from 200 to 399, redirections on the same host
                followed, others taken for good; certificates are not checked. A hook asks for an answer only
    tcpSocket   a connection is taken (probes only)
    sleep       seconds go by (hooks only)
Port       a number, or the name of one of the container's ports.
Not known  gRPC probes: a container that has one is not started, and says so (`unknown`).
Source     Kubernetes: probes, container life-cycle hooks.
Not here   when, how often, and what follows: pod_state.py, probes.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from dataclasses import dataclass
from typing import NamedTuple

import aiohttp
from yarl import URL

from kumi.api.wire import JsonObject
from kumi.kubelet import inside
from kumi.kubelet.probes import ProbeKind
from kumi.kubelet.process import Launcher, Refused

OUTPUT_BYTES = 10 * 1024
_BODY_BYTES = 10 * 1024
_REDIRECTS = 10
_AGENT = "kube-probe/1.33"


class Verdict(NamedTuple):
    """Whether it went well, and what was said."""

    ok: bool
    message: str = ""


@dataclass(frozen=True)
class Subject:
    """The container that is looked at. `request` runs in it with its `argv` replaced."""

    container: JsonObject
    address: str
    request: inside.Request
    launcher: Launcher


def unknown(container: JsonObject) -> str:
    """Why a container's probes can't be asked here, or ""."""
    for kind in ProbeKind:
        if (container.get(f"{kind.value}Probe") or {}).get("grpc"):
            return (
                f"its {kind.value}Probe is a gRPC one, which process nodes do not ask: use exec (with grpc_health_probe), "
                "httpGet or tcpSocket"
            )
    return ""


async def probe(spec: JsonObject, subject: Subject) -> Verdict:
    """One probe, within its own timeout."""
    seconds = int(spec.get("timeoutSeconds") or 1)
    try:
        async with asyncio.timeout(seconds):
            return await _probe(spec, subject)
    except TimeoutError:
        if spec.get("exec"):
            command = shlex.join(spec["exec"].get("command") or ())
            return Verdict(False, f"command timed out: {command!r} timed out after {seconds}s")
        return Verdict(False, f"no answer within {seconds}s")


async def hook(spec: JsonObject, subject: Subject) -> str:
    """A hook to its end: why it failed, or ""."""
    if spec.get("exec"):
        verdict = await _execute(spec["exec"], subject)
        return "" if verdict.ok else f"exec hook failed: {verdict.message}"
    if spec.get("httpGet"):
        verdict = await _get(spec["httpGet"], subject, any_status=True)
        return "" if verdict.ok else f"http hook failed: {verdict.message}"
    if spec.get("sleep") is not None:
        await asyncio.sleep(int(spec["sleep"].get("seconds") or 0))
        return ""
    return "no exec, httpGet or sleep in it"


async def _probe(spec: JsonObject, subject: Subject) -> Verdict:
    if spec.get("exec"):
        return await _execute(spec["exec"], subject)
    if spec.get("httpGet"):
        return await _get(spec["httpGet"], subject)
    if spec.get("tcpSocket"):
        return await _connect(spec["tcpSocket"], subject)
    return Verdict(False, "no exec, httpGet or tcpSocket in it")


async def _execute(spec: JsonObject, subject: Subject) -> Verdict:
    """Both output streams go into one pipe, as far as they are wanted."""
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    output, end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    os.set_blocking(end, True)
    said = bytearray()
    loop = asyncio.get_running_loop()
    loop.add_reader(output, _take, output, said)
    try:
        request = subject.request._replace(argv=[str(word) for word in spec.get("command") or ()])
        code = await subject.launcher.run_inside(request, [nothing, end, end])
        _take(output, said)
    except Refused as error:
        return Verdict(False, str(error))
    finally:
        loop.remove_reader(output)
        os.close(output)
    text = bytes(said[:OUTPUT_BYTES]).decode(errors="replace")
    return Verdict(code == 0, text if text or code == 0 else f"command exited with code {code}")


def _take(descriptor: int, said: bytearray) -> None:
    """Reads what is there, and forgets what nobody wants."""
    with contextlib.suppress(BlockingIOError):
        while chunk := os.read(descriptor, 1 << 16):
            said += chunk[: max(0, OUTPUT_BYTES - len(said))]
            if len(chunk) < 1 << 16:
                return
        asyncio.get_running_loop().remove_reader(descriptor)


async def _get(spec: JsonObject, subject: Subject, any_status: bool = False) -> Verdict:
    try:
        port = port_of(spec.get("port"), subject.container)
        url = _url(spec, subject.address, port)
    except ValueError as error:
        return Verdict(False, str(error))
    headers = {"User-Agent": _AGENT, "Accept": "*/*", "Connection": "close"}
    headers |= {h["name"]: h.get("value", "") for h in spec.get("httpHeaders") or ()}
    try:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False, force_close=True)) as session:
            for _ in range(_REDIRECTS):
                async with session.get(url, headers=headers, allow_redirects=False) as answer:
                    to = answer.headers.get("Location") if 300 <= answer.status < 400 else None
                    if any_status or to is None or url.join(URL(to)).host != url.host:
                        return await _judged(answer, any_status)
                    url = url.join(URL(to))
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return Verdict(False, f'Get "{url}": {_words(error)}')
    return Verdict(False, f'Get "{url}": stopped after {_REDIRECTS} redirects')


async def _judged(answer: aiohttp.ClientResponse, any_status: bool) -> Verdict:
    await answer.content.read(_BODY_BYTES)
    if any_status or 200 <= answer.status < 400:
        return Verdict(True)
    return Verdict(False, f"HTTP probe failed with statuscode: {answer.status}")


def _url(spec: JsonObject, address: str, port: int) -> URL:
    host = str(spec.get("host") or address)
    path = str(spec.get("path") or "/")
    target = URL(path if path.startswith("/") else f"/{path}")
    scheme = str(spec.get("scheme") or "HTTP").lower()
    return URL.build(scheme=scheme, host=host, port=port).join(target)


async def _connect(spec: JsonObject, subject: Subject) -> Verdict:
    try:
        port = port_of(spec.get("port"), subject.container)
    except ValueError as error:
        return Verdict(False, str(error))
    host = str(spec.get("host") or subject.address)
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError as error:
        return Verdict(False, f"dial tcp {host}:{port}: connect: {_words(error)}")
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return Verdict(True)


def port_of(wanted: object, container: JsonObject) -> int:
    """The number of a port that is given as a number, or by the name of a port of the container. ValueError."""
    text = str(wanted)
    for port in container.get("ports") or ():
        if port.get("name") == text:
            return int(port["containerPort"])
    if text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    raise ValueError(f'couldn\'t find port: "{text}"')


def _words(error: Exception) -> str:
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, OSError) and cause.errno:
        return os.strerror(cause.errno).lower()
    return str(cause) or type(cause).__name__
