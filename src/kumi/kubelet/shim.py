"""The shim: the guardian of one container, a small process that outlives Kumi.

Its life:
    1  a session of its own; it adopts every orphan below it, so that no descendant of the container can slip away
    2  it claims the attempt's `.run` record (whoever has it owns the attempt); taken already: it leaves
    3  it forks the container (own session, private view, then exec) and says on the report pipe how that went
    4  it copies stdout and stderr to the log, line by line, with the time (log_files.py), and reaps
    5  SIGTERM to the shim is passed on to the container's process group; SIGUSR1 kills everything below the shim
    6  when the container's process has ended, what is left below it is killed, the pipes are read to their end, and only
       then `.exit` is made: a reader that sees `.exit` finds the log complete
Report     one line of JSON: {"pid", "ticks", "boot", "started_ms"}, {"failed": message} or {"taken": true}.
Death      if the shim itself is killed, the kernel kills the container's first process; the rest carries the variable
           KUMI_CONTAINER, by which process.py finds it.
Source     prctl(2) PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG.
Not here   who starts shims: zygote.py, process.py; the form of the log: log_files.py. Standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import select
import signal
import termios
import time
from typing import Any, NamedTuple, NoReturn

from kumi.kubelet import bubblewrap, mounts, records
from kumi.kubelet.console import Console, Wanted
from kumi.kubelet.log_files import LIMITS, Limits, Log
from kumi.kubelet.sandbox_view import Plan

KILL_ALL = signal.SIGUSR1
"""the signal that tells a shim to kill everything below it"""
START_ERROR_CODE = 128
"""exit code of a container that could not be started, as container runtimes have it"""
_CHUNK = 1 << 16
_FULL_DISK_S = 0.5
_HANDLED = (signal.SIGCHLD, signal.SIGTERM, KILL_ALL)


class Request(NamedTuple):
    """What a shim is to run; travels as JSON. `stem` is the path of the attempt's files without their suffix."""

    stem: str
    argv: list[str]
    environment: dict[str, str]
    working_dir: str
    isolation: str = mounts.NONE
    hostname: str = ""
    mounts: list[list[Any]] = []
    kept: list[str] = []
    staging: str = ""
    log: list[int] = list(LIMITS)
    """log_files.Limits"""
    sandbox: list[Any] = []
    """sandbox_view.Plan, where the isolation is a sandbox"""
    console: list[bool] = list(Wanted())


def run(request: Request, report: int) -> NoReturn:
    """The whole life of a shim, in a process of its own that was just forked. Never returns."""
    code = 0
    try:
        _Shim(request, report).live()
    except BaseException as error:
        kill_all_below()
        now_ms = time.time_ns() // 1_000_000
        # An attempt that is nobody's has no end either: the next one of that number is to tell its own.
        with contextlib.suppress(OSError):
            message = f"the shim failed: {error!r}"
            os.stat(f"{request.stem}.run")
            records.claim(f"{request.stem}.exit", _exit(137, 0, "ContainerStatusUnknown", message, now_ms, now_ms))
        code = 1
    finally:
        os._exit(code)


class _Shim:
    def __init__(self, request: Request, report: int) -> None:
        self._request, self._report = request, report
        self._main = 0
        self._poll = select.poll()
        self._status: int | None = None
        self._started_ms = 0

    def live(self) -> None:
        os.setsid()
        os.chdir("/")
        mounts.adopt_orphans()
        mounts.set_name("kumi-shim")
        wake = listen()
        me = records.who_is(os.getpid())
        assert me is not None
        self._started_ms = time.time_ns() // 1_000_000
        who = {"pid": me.pid, "ticks": me.ticks, "boot": me.boot, "started_ms": self._started_ms}
        who["isolation"] = self._request.isolation
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.dirname(self._request.stem))  # and not the pod's: where that is gone, nothing may start
        if not records.claim(f"{self._request.stem}.run", who):
            self._tell({"taken": True})
            return
        log = Log(self._request.stem, Limits(*self._request.log))
        self._console = Console(Wanted(*self._request.console))
        trouble = self._start()
        if trouble:
            kill_all_below()
            log.close()
            self._ended(_exit(START_ERROR_CODE, 0, "StartError", trouble, self._started_ms, self._started_ms))
            self._tell({"failed": trouble})
            return
        self._console.open(f"{self._request.stem}.attach", self._poll)
        self._tell(who)
        self._watch(wake, log)
        log.close()
        assert self._status is not None
        self._ended(_exit_of(self._status, self._started_ms))

    def _tell(self, what: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            os.write(self._report, json.dumps(what).encode() + b"\n")
        os.close(self._report)

    def _ended(self, record: records.Record) -> None:
        """Says how it ended; on a full disk as soon as there is room, since nobody else knows."""
        while True:
            try:
                records.claim(f"{self._request.stem}.exit", record)
                return
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
            time.sleep(_FULL_DISK_S)

    def _start(self) -> str:
        """Forks the container: why it could not be started, or ""."""
        trouble, trouble_end = os.pipe2(os.O_CLOEXEC)
        passage, inside = None, -1
        if self._request.isolation == mounts.SANDBOX:
            try:
                inside = self._open_sandbox()
            except OSError as error:
                return in_words(error)
            passage = bubblewrap.Passage(inside)
        shim = os.getpid()
        self._main = os.fork()
        if self._main == 0:
            _become(self._request, (shim, passage), self._console.theirs, trouble_end)
        if passage is not None:
            self._main = passage.await_child(self._main)
        self._console.handed_over()
        os.close(trouble_end)
        said = b""
        while chunk := os.read(trouble, _CHUNK):
            said += chunk
        os.close(trouble)
        return said.decode(errors="replace")

    def _open_sandbox(self) -> int:
        """A process inside. The door closes with this process."""
        asked = self._request
        wanted = [mounts.Mount(*mount) for mount in asked.mounts]
        return bubblewrap.open_cell(Plan(*asked.sandbox), wanted, asked.hostname).init

    def _watch(self, wake: int, log: Log) -> None:
        """Until the container's process has ended, nothing is below the shim, and its words are read."""
        poll, console = self._poll, self._console
        for descriptor in (wake, *console.outputs):
            poll.register(descriptor, select.POLLIN)
        while self._status is None:
            for descriptor, events in poll.poll(log.wait_ms()):
                if descriptor == wake:
                    for number in os.read(wake, _CHUNK):
                        self._heard(number)
                elif (stream := console.outputs.get(descriptor)) is None:
                    console.heed(descriptor, events)
                elif data := _read(descriptor):
                    log.take(stream, data)
                    console.tell(stream, data)
                elif data is not None:
                    poll.unregister(descriptor)
            log.show()
        kill_all_below()
        for descriptor, stream in console.outputs.items():
            os.set_blocking(descriptor, False)
            while data := _read(descriptor):
                log.take(stream, data)
                console.tell(stream, data)
        console.close()

    def _heard(self, number: int) -> None:
        if number == signal.SIGCHLD:
            with contextlib.suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    if ended[0] == self._main:
                        self._status = ended[1]
        elif number == signal.SIGTERM:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._main, signal.SIGTERM)
        elif number == KILL_ALL:
            for pid in _below():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def listen() -> int:
    """The signals that a guardian heeds, as bytes of a pipe."""
    read_end, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in _HANDLED:
        signal.signal(number, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    return read_end


def _become(request: Request, way: tuple[int, bubblewrap.Passage | None], streams: list[int], trouble: int) -> NoReturn:
    """In the fork: the container's own process. `way`: its guardian, and how it gets into its sandbox. Tells `trouble` why
    it could not become it."""
    shim, passage = way
    try:
        if passage is not None:
            passage.go_in()
        take_streams(streams, terminal=Wanted(*request.console).terminal)
        if passage is None:
            view = mounts.View(
                request.isolation,
                request.hostname,
                [mounts.Mount(*m) for m in request.mounts],
                request.kept,
                request.staging,
            )
            mounts.enter(view)
            die_with(shim)
        become_command(request.argv, request.environment, request.working_dir)
    except OSError as error:
        os.write(trouble, in_words(error).encode())
    except BaseException as error:
        os.write(trouble, repr(error).encode())
    finally:
        os._exit(START_ERROR_CODE)


def take_streams(streams: list[int], *, terminal: bool) -> None:
    """Makes this process the first of a session, with these standard streams."""
    os.setsid()
    for place, descriptor in enumerate(streams):
        os.dup2(descriptor, place)
    if terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def die_with(guardian: int) -> None:
    """This process, a fork of the guardian, is killed when that is gone."""
    mounts.death_signal(signal.SIGKILL)
    if os.getppid() != guardian:
        os._exit(START_ERROR_CODE)


def become_command(argv: list[str], environment: dict[str, str], working_dir: str) -> NoReturn:
    """In a fork of its guardian: the command, as if freshly started. OSError."""
    _change_dir(working_dir)
    mounts.set_name(os.path.basename(argv[0]))
    signal.set_wakeup_fd(-1)
    for number in (*_HANDLED, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    _exec(argv, environment)


def in_words(error: OSError) -> str:
    """An error of a start as its message."""
    return str(error.args[0] if len(error.args) == 1 else error)


def _read(descriptor: int) -> bytes | None:
    """What is there, None for nothing yet; b"" at the end, which a terminal tells by an error."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _change_dir(path: str) -> None:
    try:
        os.chdir(path)
    except OSError as error:
        raise OSError(f'can\'t change to the working directory "{path}": {_words(error)}') from error


def _exec(argv: list[str], environment: dict[str, str]) -> NoReturn:
    """Finds the program along the container's own PATH and becomes it."""
    program = argv[0]
    places = (
        [program] if "/" in program else [os.path.join(d or ".", program) for d in _path(environment) if d is not None]
    )
    trouble = f'exec: "{program}": executable file not found in $PATH'
    for place in places:
        try:
            os.execve(place, argv, environment)
        except OSError as error:
            if "/" in program:
                verb = "stat " if error.errno == errno.ENOENT else ""
                trouble = f'exec: "{program}": {verb + program + ": " if verb else ""}{_words(error)}'
            elif error.errno not in (errno.ENOENT, errno.ENOTDIR) and os.path.isfile(place):
                trouble = f'exec: "{place}": {_words(error)}'
    raise OSError(trouble)


def _path(environment: dict[str, str]) -> list[str]:
    return environment.get("PATH", os.defpath).split(":")


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def kill_all_below() -> None:
    """Kills every descendant and waits for it; what is forked meanwhile is found in the next round."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        for pid in _below():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _below() -> list[int]:
    """Every descendant of this process, parents first."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    todo = [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _exit_of(status: int, started_ms: int) -> records.Record:
    """A wait status as Kubernetes tells it: a signal is exit code 128 + its number."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    code = 128 + number if number else os.WEXITSTATUS(status)
    return _exit(code, number, "Error" if code else "Completed", "", started_ms, time.time_ns() // 1_000_000)


def _exit(code: int, number: int, reason: str, message: str, started_ms: int, finished_ms: int) -> records.Record:
    return {
        "code": code,
        "signal": number,
        "reason": reason,
        "message": message,
        "started_ms": started_ms,
        "finished_ms": finished_ms,
    }
