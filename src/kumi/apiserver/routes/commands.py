"""A command in a pod, or a container's own streams: GET or POST pods/NAME/exec and pods/NAME/attach, over WebSocket, as
`kubectl exec` and `kubectl attach` ask for them.

Query        container, stdin, stdout, stderr, tty; exec also command (one a word)
Protocols    v5.channel.k8s.io and v4.channel.k8s.io: binary messages whose first byte is the channel (of clients also text)
                 0 stdin   1 stdout   2 stderr   3 the end   4 the terminal's size: {"Width", "Height"}
                 255 (v5 only): the channel in the next byte is at its end; only stdin's end means something
             the first message, on the lowest channel that the server writes to, is empty: it says that the command runs
The end      a v1 Status on channel 3: Success; or Failure, NonZeroExitCode with the code as its cause ExitCode;
             or Failure, InternalError when the command could not be started
Refused      before the protocol changes, with a Status of its own: a pod that is over or nowhere, a container that does not
             run, no command, a client that speaks no WebSocket (SPDY is not spoken here). kubectl asks again in SPDY
             whenever it was refused, and shows the second answer: that one must say what the first did.
A client that leaves takes its command with it; a container that it was attached to goes on.
Source       Kubernetes: KEP-4006 (WebSocket streams), the remote command protocol.
Not here     running it: whoever implements runtime.streams.ExecSource.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import orjson
from aiohttp import WSMsgType, web
from multidict import MultiMapping

from kumi.api.errors import ApiError, KumiError, bad_request
from kumi.api.wire import JsonObject
from kumi.apiserver.routes.logs import chosen_container
from kumi.apiserver.routes.options import boolean
from kumi.apiserver.routes.streams import Streams
from kumi.runtime.streams import Command, ExecOptions, ExecSource

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
_CHANNELS = {"stdout": STDOUT, "stderr": STDERR}
_OVER = ("Succeeded", "Failed")
_MESSAGE_BYTES = 1 << 22


def exec_options(query: MultiMapping[str], pod: JsonObject) -> ExecOptions:
    """The options of a request for a command in this pod. ApiError 400."""
    command = tuple(query.getall("command", []))
    if not command or not command[0]:
        raise bad_request("you must specify a command for the container")
    return _options(query, pod, command)


def _options(query: MultiMapping[str], pod: JsonObject, command: tuple[str, ...]) -> ExecOptions:
    if not any(boolean(query, name) for name in ("stdin", "stdout", "stderr")):
        raise bad_request("you must specify at least 1 of stdin, stdout, stderr")
    container = chosen_container(pod, query.get("container", ""))
    return ExecOptions(container, command, boolean(query, "stdin"), boolean(query, "tty"))


def check_pod(pod: JsonObject, doing: str = "exec into a container in") -> None:
    """ApiError 400 for a pod in which nothing can run."""
    name, phase = pod["metadata"]["name"], (pod.get("status") or {}).get("phase")
    if phase in _OVER:
        raise bad_request(f"cannot {doing} a completed pod; current phase is {phase}")
    if not (pod.get("spec") or {}).get("nodeName"):
        raise bad_request(f"pod {name} does not have a host assigned")


def _check_running(pod: JsonObject, container: str) -> None:
    """ApiError 404 for a container that does not run as far as its pod's status tells."""
    told = (pod.get("status") or {}).get("containerStatuses") or ()
    if any(one["name"] == container and "running" not in (one.get("state") or {}) for one in told):
        raise ApiError(404, "NotFound", f'container not found ("{container}")')


async def run(
    request: web.Request,
    query: MultiMapping[str],
    source: ExecSource,
    pod: JsonObject,
    streams: Streams,
    *,
    attach: bool = False,
) -> web.StreamResponse:
    """Answers with the streams of a command, or of the container itself, as the query asks. ApiError: refused before."""
    options = _options(query, pod, ()) if attach else exec_options(query, pod)
    check_pod(pod, "attach to a container in" if attach else "exec into a container in")
    socket = web.WebSocketResponse(protocols=PROTOCOLS, max_msg_size=_MESSAGE_BYTES)
    offered = socket.can_prepare(request)
    if not offered.ok or offered.protocol not in PROTOCOLS:
        _check_running(pod, options.container)
        raise bad_request(f"Upgrade request required: WebSocket with one of {', '.join(PROTOCOLS)}")
    opening = source.attach(pod, options.container, options.stdin) if attach else source.execute(pod, options)
    command = await opening
    try:
        await socket.prepare(request)
        wanted = [name for name in _CHANNELS if boolean(query, name)]
        async with streams.deadline(None):
            await _serve(socket, command, wanted)
    finally:
        await command.close()
    return socket


async def _serve(socket: web.WebSocketResponse, command: Command, wanted: list[str]) -> None:
    """Until the command has ended, or the client has left."""
    hears = asyncio.create_task(_hear(socket, command))
    says = asyncio.create_task(_say(socket, command, wanted))
    try:
        await asyncio.wait([hears, says], return_when=asyncio.FIRST_COMPLETED)
        if says.done():
            says.result()
            await socket.close()
    except (ConnectionError, asyncio.IncompleteReadError):
        return
    finally:
        for task in (hears, says):
            task.cancel()
        await asyncio.gather(hears, says, return_exceptions=True)


async def _hear(socket: web.WebSocketResponse, command: Command) -> None:
    """What the client sends, until it leaves."""
    async for message in socket:
        if message.type not in (WSMsgType.BINARY, WSMsgType.TEXT) or not message.data:
            continue
        content = message.data.encode() if message.type is WSMsgType.TEXT else message.data
        channel, data = content[0], content[1:]
        if channel == STDIN:
            await command.write(data)
        elif channel == CLOSE and data[:1] == bytes([STDIN]):
            await command.close_input()
        elif channel == RESIZE:
            _resize(command, data)


def _resize(command: Command, data: bytes) -> None:
    try:
        size = orjson.loads(data)
        command.resize(int(size["Width"]), int(size["Height"]))
    except (ValueError, TypeError, KeyError):
        return  # as Kubernetes has it: a size that can't be read is no size


async def _say(socket: web.WebSocketResponse, command: Command, wanted: list[str]) -> None:
    """What the command says, and then how it ended."""
    first = _CHANNELS[wanted[0]] if wanted else ERROR
    await socket.send_bytes(bytes([first]))
    async with asyncio.TaskGroup() as group:
        for name in _CHANNELS:
            group.create_task(_copy(socket, command, name, told=name in wanted))
    try:
        status = end_of(await command.code())
    except KumiError as error:
        status = _not_run(error)
    await socket.send_bytes(bytes([ERROR]) + orjson.dumps(status))


async def _copy(socket: web.WebSocketResponse, command: Command, name: str, *, told: bool) -> None:
    """What nobody wants to be told is read all the same: the command must not wait for it."""
    while data := await command.read(name):
        if told:
            await socket.send_bytes(bytes([_CHANNELS[name]]) + data)


def end_of(code: int) -> Mapping[str, object]:
    """A Status that says with which code a command ended."""
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def _not_run(error: KumiError) -> Mapping[str, object]:
    message = f"error executing command in container: {error}"
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"Internal error occurred: {message}",
        "reason": "InternalError",
        "details": {"causes": [{"message": message}]},
        "code": 500,
    }


def unavailable() -> ApiError:
    """501: this server has no nodes of its own."""
    return ApiError(501, "NotImplemented", "this server runs no pods: there is nobody to run a command in them")
