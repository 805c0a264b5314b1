"""A sandbox for one container, made by bubblewrap: own user, mount, process, IPC and host name spaces.

    cell = open_cell(plan, mounts, hostname)        in the container's guardian; CannotProvide
    passage = Passage(cell.init)
    in a fork of a guardian:   passage.go_in()      returns only in a process inside, which has no capabilities
    in the guardian:           passage.await_child(fork)        that process's id

The rule:
    1  bubblewrap builds the view (sandbox_view.py) around a shell that waits for the end of its input, which the guardian
       holds: when the guardian is gone, however it went, the kernel ends everything inside
    2  before anything of the pod runs, it is looked at what is at each mount's target: it must be the very file or directory
       that was checked, whatever has been renamed meanwhile
    3  the container's process and every command that joins it come from outside, through setns(2): so their exit status is
       their own, their words are told, and signals reach them as without a sandbox
    4  what comes in drops all capabilities, and can gain none
Joining    children of a process that joins are inside, it is not: so it forks and ends, and the guardian, which adopts every
           orphan, has a child of its own inside. That waits until the guardian has said so; then it may ask to die with it.
Source     bwrap(1), setns(2), pid_namespaces(7), capabilities(7).
Not here   Standard library only: the shim and the zygote load it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from kumi.kubelet import mounts, sandbox_view
from kumi.kubelet.mounts import CannotProvide, Mount
from kumi.kubelet.sandbox_view import Plan

_SPACES = 0x10000000 | 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000
"""user, mount, host name, IPC, process"""
PROGRAM = "bwrap"
_KEEPER = ("/bin/sh", "-c", "echo; read line")
_SET_DUMPABLE, _NO_NEW_PRIVILEGES, _DROP_BOUND, _CLEAR_AMBIENT = 4, 38, 24, (47, 4)
_CAPABILITIES_AT_MOST = 64
_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


class Cell(NamedTuple):
    """An open sandbox. `init`: a process inside, by which others join; `door`: closed, everything inside ends."""

    init: int
    door: int


def open_cell(plan: Plan, wanted: Sequence[Mount], hostname: str) -> Cell:
    """Makes a sandbox, with nothing of the pod in it yet. CannotProvide, OSError."""
    words, placed = sandbox_view.arrange(plan, wanted)
    try:
        cell = _start(plan.program, [*_options(hostname), *words])
        try:
            for target, descriptor in placed:
                _check(cell.init, target, descriptor)
        except BaseException:
            os.close(cell.door)
            raise
        return cell
    finally:
        sandbox_view.close(placed)


class Passage:
    """The way of one process to where `pid` is; made by a guardian before it forks."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._ours, self._theirs = socket.socketpair()

    def go_in(self) -> None:
        """In the fork: returns in a process that is inside. OSError."""
        self._ours.close()
        place = os.pidfd_open(self._pid)
        mounts.checked(_libc.setns(place, _SPACES))
        _libc.prctl(
            _SET_DUMPABLE, 0, 0, 0, 0
        )  # nobody inside looks into a guardian's memory; a program that starts is free
        os.close(place)
        child = os.fork()
        if child:
            self._theirs.send(str(child).encode())
            os._exit(0)
        self._wait_for_guardian()
        _drop_capabilities()

    def await_child(self, fork: int) -> int:
        """In the guardian, which adopts orphans: the process inside, or `fork` itself if it did not get there."""
        self._theirs.close()
        said = self._ours.recv(32)
        if not said:
            return fork
        os.waitpid(fork, 0)
        with contextlib.suppress(OSError):
            self._ours.send(b"!")
        return int(said)

    def _wait_for_guardian(self) -> None:
        if not self._theirs.recv(1):
            os._exit(1)
        mounts.death_signal(signal.SIGKILL)
        self._theirs.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            if not self._theirs.recv(1):
                os._exit(1)
        self._theirs.close()


def inside_of(guardian: int, pids: Sequence[int]) -> list[int]:
    """Those of a guardian's children that are in a sandbox, and not on its outside as bubblewrap itself is."""
    outside = _space(guardian)
    return [pid for pid in pids if (space := _space(pid)) and space != outside]


def _space(pid: int) -> str:
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/pid")
    return ""


def _options(hostname: str) -> list[str]:
    found = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    found += ["--cap-drop", "ALL", "--new-session", "--die-with-parent"]
    return [*found, "--hostname", hostname[:63] or "kumi"]


def _start(program: str, words: list[str]) -> Cell:
    """Runs bubblewrap until the keeper inside says that the view is complete."""
    door_inside, door = os.pipe2(os.O_CLOEXEC)
    said, said_end = os.pipe2(os.O_CLOEXEC)
    facts, facts_end = os.pipe2(os.O_CLOEXEC)
    paper = os.memfd_create("words", os.MFD_CLOEXEC)  # so that nobody inside reads them from its command line
    with open(paper, "wb", closefd=False) as file:
        file.write("".join(f"{word}\0" for word in [*words, "--chdir", "/"]).encode(errors="surrogateescape"))
    os.lseek(paper, 0, os.SEEK_SET)
    child = os.fork()
    if child == 0:
        _become_bubblewrap(program, (door_inside, said_end, said_end), (paper, facts_end))
    for end in (door_inside, said_end, facts_end, paper):
        os.close(end)
    with open(said, "rb") as spoken, open(facts, "rb") as fact:
        first = spoken.readline()
        if first == b"\n":
            return Cell(_child_of(fact.read(1 << 12)), door)
        os.close(door)
        reason = (first + spoken.read(1 << 12)).decode(errors="replace").strip()
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
    raise CannotProvide(f"bubblewrap made no sandbox: {reason.removeprefix('bwrap: ') or 'it said nothing'}")


def _become_bubblewrap(program: str, streams: tuple[int, ...], papers: tuple[int, int]) -> NoReturn:
    """In the fork, with nothing of Kumi's environment. `papers`: where it reads its words, and where it tells its facts."""
    try:
        for place, descriptor in enumerate(streams):
            os.dup2(descriptor, place)
        for paper in papers:
            os.set_inheritable(paper, True)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGUSR1):
            signal.signal(number, signal.SIG_DFL)
        words, facts = (str(paper) for paper in papers)
        os.execve(program, [PROGRAM, "--args", words, "--info-fd", facts, "--", *_KEEPER], {"PATH": os.defpath})
    except OSError as error:
        os.write(2, f"{program}: {error.strerror}".encode())
    finally:
        os._exit(127)


def _child_of(facts: bytes) -> int:
    """What bubblewrap tells of itself: {"child-pid": N, ...}."""
    digits = facts.partition(b'"child-pid":')[2].split(b",")[0].strip(b" \n}")
    if not digits.isdigit():
        raise CannotProvide("bubblewrap made no sandbox: it told no process id")
    return int(digits)


def _check(init: int, target: str, descriptor: int) -> None:
    """CannotProvide unless what is at the target inside is what the descriptor is open on."""
    wanted = os.fstat(descriptor)
    try:
        found = os.stat(f"/proc/{init}/root{target}")
    except OSError as error:
        raise CannotProvide(f"can't mount at {target}: {error.strerror}") from error
    if (found.st_dev, found.st_ino) != (wanted.st_dev, wanted.st_ino):
        raise CannotProvide(f"can't mount at {target}: what is to be there was replaced meanwhile")


def _drop_capabilities() -> None:
    """For good: not even root inside has any, or gets one from a program."""
    mounts.checked(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    for number in range(_CAPABILITIES_AT_MOST):
        if _libc.prctl(_DROP_BOUND, number, 0, 0, 0) < 0:
            break  # the kernel knows no more
    _libc.prctl(*_CLEAR_AMBIENT, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    mounts.checked(_libc.capset(header, (ctypes.c_uint32 * 6)()))


def trial(plan: Plan) -> str:
    """Whether a sandbox can be had here, by making one, and going in: why not, or ""."""
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    guardian = os.fork()
    if guardian == 0:
        _try(plan, write_end)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    os.waitpid(guardian, 0)
    return "" if said == "ok" else said or "the trial ended without a word"


def _try(plan: Plan, report: int) -> NoReturn:
    try:
        mounts.adopt_orphans()
        cell = open_cell(plan, [], "kumi")
        passage = Passage(cell.init)
        fork = os.fork()
        if fork == 0:
            passage.go_in()
            os.write(report, b"ok")
            os._exit(0)
        os.waitpid(passage.await_child(fork), 0)
    except OSError as error:
        os.write(report, (error.strerror or str(error)).encode())
    finally:
        os._exit(0)
