"""A command inside a running container: for exec probes, hooks, and `kubectl exec`.

Its life, in a process that the zygote has just forked:
    1  a session of its own; it adopts every orphan below it, and holds the container's shim by a process descriptor
    2  it forks the command: the container's name spaces, root directory, working directory and environment; standard
       streams as they were handed over (three pipes, or one terminal, which becomes the command's controlling one)
    3  when the command has ended it says so on the report pipe; what the command left running in the background goes on,
       as it would in a container, and is guarded until the container ends
    4  when the container's shim is gone, or nobody reads the report any more, everything below it is killed
Report     one line of JSON: {"code": exit status, 128 + the signal for one that was killed} or {"failed": message} when the
           command could not be started.
Source     setns(2), namespaces(7), tty_ioctl(4).
Not here   who asks: process.py. Standard library only: the zygote loads it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
from typing import Any, NamedTuple, NoReturn

from kumi.kubelet import bubblewrap, mounts, records, shim

_GONE = "the container is not running"


class Request(NamedTuple):
    """What is to run, and where; travels as JSON. `guardian`: the container's shim as (pid, ticks, boot); `stem`: its attempt."""

    guardian: list[Any]
    argv: list[str]
    environment: dict[str, str]
    working_dir: str
    isolation: str = mounts.NONE
    terminal: bool = False
    stem: str = ""


def run(request: Request, streams: list[int], report: int) -> NoReturn:
    """The whole life of it. `streams`: stdin, stdout, stderr; with a terminal all the same one. Never returns."""
    try:
        _Guard(request, streams, report).live()
    except BaseException as error:
        _tell(report, {"failed": f"the command's guardian failed: {error!r}"})
        shim.kill_all_below()
    finally:
        os._exit(0)


class _Guard:
    def __init__(self, request: Request, streams: list[int], report: int) -> None:
        self._request, self._streams, self._report = request, streams, report
        self._main = 0

    def live(self) -> None:
        os.setsid()
        os.chdir("/")
        mounts.adopt_orphans()
        mounts.set_name("kumi-inside")
        wake = shim.listen()
        who = records.Who(*self._request.guardian)
        try:
            container = os.pidfd_open(who.pid)
        except OSError:
            container = -1
        trouble = self._start(who.pid) if container >= 0 and who.runs() else _GONE
        if trouble:
            self._say({"failed": trouble})
        else:
            self._watch(wake, container)
        shim.kill_all_below()

    def _start(self, guardian: int) -> str:
        """Forks the command: why it could not be started, or ""."""
        try:
            first = _first_of(guardian, self._request.isolation)
        except OSError as error:
            return shim.in_words(error)
        trouble, trouble_end = os.pipe2(os.O_CLOEXEC)
        passage = bubblewrap.Passage(first) if self._request.isolation == mounts.SANDBOX else None
        way = (first, os.getpid(), passage)
        self._main = os.fork()
        if self._main == 0:
            _become(self._request, self._streams, way, trouble_end)
        if passage is not None:
            self._main = passage.await_child(self._main)
        for descriptor in (trouble_end, *self._streams):
            os.close(descriptor)
        said = b""
        while chunk := os.read(trouble, 1 << 16):
            said += chunk
        os.close(trouble)
        return said.decode(errors="replace")

    def _watch(self, wake: int, container: int) -> None:
        """Until nothing is left below it, the container is gone, or the asker is."""
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(container, select.POLLIN)
        poll.register(self._report, 0)  # an error there: nobody reads it any more
        while True:
            for descriptor, _ in poll.poll():
                if descriptor != wake:
                    return
                os.read(wake, 1 << 16)
                if not self._reap():
                    return

    def _reap(self) -> bool:
        """Whether anything is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._main:
                code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                self._say({"code": code})

    def _say(self, what: dict[str, Any]) -> None:
        _tell(self._report, what)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, self._report)  # the asker sees the pipe's end, and may leave
        os.close(nothing)


def _become(
    request: Request, streams: list[int], way: tuple[int, int, bubblewrap.Passage | None], trouble: int
) -> NoReturn:
    """In the fork: the command. `way`: a process of the container, the guard, and how to get into a sandbox. Tells `trouble`
    why it could not become it."""
    first, guard, passage = way
    try:
        if passage is not None:
            passage.go_in()
        shim.take_streams(streams, terminal=request.terminal)
        if passage is None:
            mounts.join(first, request.isolation)
            shim.die_with(guard)
        shim.become_command(request.argv, request.environment, request.working_dir)
    except OSError as error:
        os.write(trouble, shim.in_words(error).encode())
    except BaseException as error:
        os.write(trouble, repr(error).encode())
    finally:
        os._exit(shim.START_ERROR_CODE)


def _first_of(guardian: int, isolation: str) -> int:
    """The container's first process: the oldest child of its shim that is inside. OSError: there is none."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
            if int(words[1]) == guardian and words[0] not in (b"Z", b"X"):
                found.append((int(words[19]), int(name)))
    pids = [pid for _, pid in sorted(found)]
    if isolation == mounts.SANDBOX:
        pids = bubblewrap.inside_of(guardian, pids)
    if not pids:
        raise OSError(_GONE)
    return pids[0]


def _tell(report: int, what: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(what).encode() + b"\n")
