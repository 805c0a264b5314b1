"""A container's private view of the machine: its host name, and files and directories that only it sees.

The rule, in the container's own process between fork and exec:
    1  new mount and host name namespaces; without root inside a new user namespace that maps the own user to itself
    2  mounts made here never reach the machine; what the machine mounts or unmounts later still arrives
    3  if a wanted path needs a new entry in `/`, the root becomes a small file system in memory with all entries of the
       machine's root bound into it
    4  each wanted path, parents before children: where it exists it is bound over; where it does not, the nearest
       existing directory above is *covered* (a file system in memory, with all its entries bound again), and the path
       is made in there
    5  the host name is set
Why        no image means no file system of the pod's own, yet `mountPath: /etc/config` must be there, and nothing may be
           made in the machine's own directories.
Kept       below the working directory and the home directory a missing mount point is made for real (as `docker -v`
           does): covering them would lose files that the program writes next to itself.
Users      in a user namespace files of other users belong to `nobody`, and programs that change user (sudo) don't work.
Cost       one bind mount (some 20 us) per entry of a covered directory; at most ENTRIES_AT_MOST of them.
Source     mount_namespaces(7), user_namespaces(7), pivot_root(2).
Not here   what is behind a mount: volumes.py, hosts.py. Standard library only: the shim loads it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import stat
from collections.abc import Sequence
from typing import NamedTuple

NONE, MOUNT, USER, SANDBOX = "none", "mount", "user", "bubblewrap"
"""isolation: no private view; a mount namespace (root); a user namespace around it; a sandbox (sandbox_view.py)"""
ENTRIES_AT_MOST = 4000

_NEW_MOUNTS, _NEW_NAMES, _NEW_USERS = 0x00020000, 0x04000000, 0x10000000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC = 0x1, 0x2, 0x4, 0x8
_REMOUNT, _BIND, _RECURSIVE = 0x20, 0x1000, 0x4000
_UNBINDABLE, _SLAVE = 1 << 17, 1 << 19
_NO_ATIME, _NO_DIR_ATIME, _RELATIVE_ATIME = 0x400, 0x800, 1 << 21
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)


class Mount(NamedTuple):
    """`source` (a file or directory of the machine) appears at `target`. `within`: the volume that it must not lead out of,
    "" for what Kumi itself has made; `named`: it is a path of the machine that a pod names."""

    source: str
    target: str
    read_only: bool = False
    within: str = ""
    named: bool = False


class View(NamedTuple):
    """What a container is to see. `kept`: directories below which mount points are made for real."""

    isolation: str
    hostname: str
    mounts: Sequence[Mount]
    kept: Sequence[str]
    staging: str
    """an empty directory to build a root on"""


class CannotProvide(OSError):
    """A wanted path can't be provided; the text says which and why."""


def enter(view: View) -> None:
    """Gives this process the view (see the module). CannotProvide, OSError."""
    if view.isolation == NONE:
        return
    _unshare(view.isolation)
    _mount("none", "/", None, _RECURSIVE | _SLAVE)
    covers = _Covers(view.kept)
    wanted = sorted(
        (m._replace(target=os.path.normpath(m.target)) for m in view.mounts), key=lambda m: _parts(m.target)
    )
    if any(not os.path.lexists("/" + _parts(m.target)[0]) for m in wanted if _parts(m.target)):
        covers.root(view.staging)
    sources = [_open(m) for m in wanted]
    for mount, source in zip(wanted, sources, strict=True):
        covers.bind(mount, source)
    for source in sources:
        os.close(source)
    if view.hostname:
        socket.sethostname(view.hostname[:63])


def join(pid: int, isolation: str) -> None:
    """Gives this process the view that another one has. OSError."""
    if isolation == NONE:
        return
    place = f"/proc/{pid}"
    root = os.open(f"{place}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    kinds = [("user", _NEW_USERS)] if isolation == USER else []
    kinds += [("mnt", _NEW_MOUNTS), ("uts", _NEW_NAMES)]
    spaces = [(os.open(f"{place}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC), flag) for name, flag in kinds]
    for space, flag in spaces:
        checked(_libc.setns(space, flag))
        os.close(space)
    os.fchdir(root)
    os.chroot(".")
    os.close(root)


def death_signal(number: int) -> None:
    """Asks the kernel to send this process a signal when its parent dies."""
    checked(_libc.prctl(1, number, 0, 0, 0))


def adopt_orphans() -> None:
    """Makes this process the new parent of every descendant whose parent dies."""
    checked(_libc.prctl(36, 1, 0, 0, 0))


def set_name(name: str) -> None:
    """What `ps` shows for this process, at most 15 bytes."""
    _libc.prctl(15, name.encode()[:15], 0, 0, 0)


class _Covers:
    """Makes room for mount points, and remembers where it did."""

    def __init__(self, kept: Sequence[str]) -> None:
        self._kept = [os.path.realpath(k) for k in kept]
        self._ours: set[int] = set()
        self._volumes: list[str] = []

    def bind(self, mount: Mount, source: int) -> None:
        """Makes what `source` is open on appear at the target."""
        is_directory = stat.S_ISDIR(os.fstat(source).st_mode)
        target = os.path.realpath(mount.target)
        try:
            if not os.path.exists(target):
                self._make(target, is_directory)
            elif os.path.isdir(target) != is_directory:
                words = ("a directory", "a file") if is_directory else ("a file", "a directory")
                raise CannotProvide(f"can't mount {words[0]} at {mount.target}: there is {words[1]}")
            _mount(f"/proc/self/fd/{source}", target, None, _BIND | _RECURSIVE)
            if mount.read_only:
                _mount("none", target, None, _BIND | _REMOUNT | _READ_ONLY | _locked_flags(target))
            elif is_directory:
                self._volumes.append(target)
        except CannotProvide:
            raise
        except OSError as error:
            raise CannotProvide(f"can't mount at {mount.target}: {error.strerror or error}") from error

    def root(self, staging: str) -> None:
        """Replaces the root by one in memory that has all the machine's entries."""
        _mount("tmpfs", staging, "tmpfs", _NO_SUID | _NO_DEVICES, "mode=0755")
        _mount("none", staging, None, _UNBINDABLE)
        self._fill(staging, "/")
        os.chdir(staging)
        number = _PIVOT_ROOT.get(os.uname().machine)
        if number is not None and _libc.syscall(number, b".", b".") == 0:
            checked(_libc.umount2(b".", _DETACH))
        else:
            os.chroot(".")
        os.chdir("/")
        self._ours.add(os.stat("/").st_dev)

    def _make(self, target: str, is_directory: bool) -> None:
        parent = os.path.dirname(target)
        while not os.path.isdir(parent):
            parent = os.path.dirname(parent)
        if not self._may_write(parent):
            self._cover(parent)
        try:
            self._make_below(target, is_directory)
        except OSError:
            if os.stat(parent).st_dev in self._ours:
                raise
            self._cover(parent)
            self._make_below(target, is_directory)

    def _make_below(self, target: str, is_directory: bool) -> None:
        os.makedirs(target if is_directory else os.path.dirname(target), exist_ok=True)
        if not is_directory:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))

    def _may_write(self, directory: str) -> bool:
        if os.stat(directory).st_dev in self._ours:
            return True
        return any(_is_below(directory, top) for top in (*self._kept, *self._volumes))

    def _cover(self, directory: str) -> None:
        was = os.stat(directory)
        below = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _mount("tmpfs", directory, "tmpfs", _NO_SUID | _NO_DEVICES, f"mode={stat.S_IMODE(was.st_mode):o}")
            with contextlib.suppress(OSError):
                os.chown(directory, was.st_uid, was.st_gid)
            self._fill(directory, f"/proc/self/fd/{below}")
        finally:
            os.close(below)
        self._ours.add(os.stat(directory).st_dev)

    @staticmethod
    def _fill(directory: str, original: str) -> None:
        """Every entry of `original` in the empty `directory`; what can't be bound (another user's FUSE mount) is left out."""
        with os.scandir(original) as scan:
            entries = sorted(scan, key=lambda e: e.name)
        if len(entries) > ENTRIES_AT_MOST:
            raise CannotProvide(f"it has more than {ENTRIES_AT_MOST} entries")
        for entry in entries:
            new, old = os.path.join(directory, entry.name), os.path.join(original, entry.name)
            with contextlib.suppress(OSError):
                if entry.is_symlink():
                    os.symlink(os.readlink(old), new)
                    continue
                if entry.is_dir():
                    os.mkdir(new)
                else:
                    os.close(os.open(new, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
                _mount(old, new, None, _BIND | _RECURSIVE)


def _unshare(isolation: str) -> None:
    uid, gid = os.geteuid(), os.getegid()
    users = _NEW_USERS if isolation == USER else 0
    checked(_libc.unshare(_NEW_MOUNTS | _NEW_NAMES | users))
    if users:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)


def _mount(source: str, target: str, type_: str | None, flags: int, data: str | None = None) -> None:
    checked(
        _libc.mount(
            os.fsencode(source),
            os.fsencode(target),
            None if type_ is None else type_.encode(),
            flags,
            None if data is None else data.encode(),
        )
    )


def _locked_flags(target: str) -> int:
    """What the mount has already: a user namespace may add to it, never take away."""
    has = os.statvfs(target).f_flag
    flags = has & (_NO_SUID | _NO_DEVICES | _NO_EXEC | _NO_ATIME | _NO_DIR_ATIME)
    return flags | (_RELATIVE_ATIME if has & 0x1000 else 0)


def _open(mount: Mount) -> int:
    """CannotProvide also where a link, which a pod may have made, leads out of its volume."""
    try:
        source = os.open(mount.source, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        raise CannotProvide(f"can't mount {mount.source}: {error.strerror}") from error
    if mount.within and not _is_below(os.readlink(f"/proc/self/fd/{source}"), os.path.realpath(mount.within)):
        raise CannotProvide(f"can't mount {mount.source}: it leads out of its volume")
    return source


def checked(result: int) -> None:
    """OSError if a call of the C library has failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")
