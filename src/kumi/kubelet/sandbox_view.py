"""What a sandboxed container sees: every path of the machine as one of a few kinds of place.

The rule, later ones win, and of two paths the deeper one:
    1  each entry of `/` is there, read-only; `/proc` and `/dev` are the sandbox's own
    2  `/tmp`, `/var/tmp` and `/run` are empty, writable and its own; of `/run` only what resolving names and finding
       programs needs is there
    3  the plan's hidden directories are empty, writable and its own; its shared ones are the machine's and writable; its
       shown ones the machine's and read-only; its devices are below `/dev`
    4  what is mounted (volumes, the hosts file); where a read-only place lacks the mount point, the nearest directory above
       is *covered*: a read-only file system in memory with all its entries bound again
Sources    a volume's own source must lie within the volume, whatever links a pod has put there. A path that a pod names
           (hostPath) must be one that the pod sees anyway: in no hidden place and around none; and it is writable only
           where the pod may write anyway.
Cost       one entry of the root and of a covered directory is one bind mount; at most ENTRIES_AT_MOST of them.
Not here   which directories: sandbox.py. Starting it: bubblewrap.py. Standard library only: the shim loads it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kumi.kubelet.mounts import CannotProvide, Mount

ENTRIES_AT_MOST = 2500
"""bubblewrap takes no more than 9,000 words"""

READ, WRITE, DEVICE, LINK = "--ro-bind", "--bind", "--dev-bind", "--symlink"
EMPTY, COVER, PROC, DEV = "--tmpfs", "cover", "--proc", "--dev"
_BOUND = (READ, WRITE, DEVICE)
_OWN = ("/tmp", "/var/tmp", "/run")
_KEPT = (
    "/run/systemd/resolve",
    "/run/NetworkManager",
    "/run/resolvconf",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/nvidia-persistenced",
)
_LINKS_AT_MOST = 40


class Plan(NamedTuple):
    """What the sandboxes of a machine have in common, and the devices of one. Travels as JSON."""

    program: str
    """bubblewrap's path"""
    hidden: list[str] = []
    shared: list[str] = []
    shown: list[str] = []
    devices: list[str] = []


class Place(NamedTuple):
    """What is at a path. `source`: the machine's path that is bound there, or where a link leads."""

    kind: str
    source: str = ""


class View:
    """The places by path. `/` is one, so that every path is in some place."""

    def __init__(self, plan: Plan) -> None:
        self._places: dict[str, Place] = {"/": Place(COVER)}
        self._hidden = [os.path.realpath(path) for path in plan.hidden]
        self._list("/", "/")
        self._places |= {"/proc": Place(PROC), "/dev": Place(DEV)}
        own = [path for path in _OWN if os.path.isdir(path) and not os.path.islink(path)]
        self._places |= {path: Place(EMPTY) for path in (*own, *self._hidden)}
        self._places |= {path: Place(READ, path) for path in _KEPT if os.path.isdir(path)}
        for kind, paths in ((WRITE, plan.shared), (READ, plan.shown), (DEVICE, plan.devices)):
            for path in paths:
                if os.path.exists(path):
                    self._show(path, kind)

    def access(self, path: str) -> str:
        """What a pod may do at a real path of the machine: READ (also where it may only read a part), WRITE, DEVICE, or ""
        where it sees nothing of it, or not all."""
        if any(_is_below(hidden, path) for hidden in self._hidden):
            return ""
        top, place = self._nearest(path)
        rest = os.path.relpath(path, top)
        if place.kind not in _BOUND or os.path.normpath(os.path.join(place.source, rest)) != path:
            return ""
        below = {p.kind for other, p in self._places.items() if other != path and _is_below(other, path)}
        return READ if READ in below else place.kind

    def mount(self, mount: Mount, source: int) -> str:
        """Puts what `source` is open on at the mount's target: the target with its links followed. CannotProvide."""
        real = os.readlink(f"/proc/self/fd/{source}")
        read_only = mount.read_only
        if mount.within and not _is_below(real, os.path.realpath(mount.within)):
            raise CannotProvide(f"can't mount {mount.source}: it leads out of its volume")
        if mount.named:
            access = self.access(real)
            if not access:
                raise CannotProvide(f"can't mount {mount.source}: the sandbox hides it from pods")
            read_only = read_only or access == READ
        target = self.resolve(mount.target)
        self._make_room(target, mount.target, stat.S_ISDIR(os.fstat(source).st_mode))
        for inner in [path for path in self._places if path != target and _is_below(path, target)]:
            del self._places[inner]
        below_dev = _is_below(real, "/dev") and not _is_below(real, "/dev/shm")
        self._places[target] = Place(READ if read_only else DEVICE if below_dev else WRITE, real)
        return target

    def resolve(self, path: str) -> str:
        """The path without links, as they are in this view. CannotProvide: they lead in a circle."""
        done, todo, links = "/", _parts(os.path.normpath(path)), 0
        while todo:
            here = os.path.normpath(os.path.join(done, todo.pop(0)))
            link = self._link_at(here)
            if link is None:
                done = here
                continue
            links += 1
            if links > _LINKS_AT_MOST:
                raise CannotProvide(f"can't mount at {path}: too many links")
            todo = _parts(link) + todo
            done = "/" if link.startswith("/") else os.path.dirname(here)
        return done

    def words(self) -> list[str]:
        """The view as bubblewrap is told it. CannotProvide: it is too much."""
        found: list[str] = []
        places = sorted(self._places.items(), key=lambda item: _parts(item[0]))
        if len(places) > ENTRIES_AT_MOST:
            raise CannotProvide(f"what is to be mounted over has more than {ENTRIES_AT_MOST} entries")
        for path, place in places:
            if place.kind == COVER:
                found += [] if path == "/" else [EMPTY, path]
            elif place.kind in (EMPTY, PROC, DEV):
                found += [place.kind, path]
            else:
                found += [place.kind, place.source, path]
        for path, place in reversed(places):
            found += ["--remount-ro", path] if place.kind == COVER else []
        return found

    def _list(self, directory: str, source: str) -> None:
        """Every entry of a directory of the machine, read-only, where nothing else is planned."""
        for entry in sorted(os.scandir(source), key=lambda e: e.name):
            path, real = os.path.join(directory, entry.name), os.path.join(source, entry.name)
            place = Place(LINK, os.readlink(real)) if entry.is_symlink() else Place(READ, real)
            self._places.setdefault(path, place)

    def _show(self, path: str, kind: str) -> None:
        """A path of the machine, at its own place; so are the links on the way to it that would be hidden."""
        done, todo = "/", _parts(os.path.normpath(path))
        for _ in range(1000):
            if not todo:
                break
            here = os.path.normpath(os.path.join(done, todo.pop(0)))
            if not os.path.islink(here):
                done = here
                continue
            link = os.readlink(here)
            if self._nearest(here)[1].kind == EMPTY:
                self._places[here] = Place(LINK, link)
            todo = _parts(link) + todo
            done = "/" if link.startswith("/") else os.path.dirname(here)
        if kind == READ and self.access(done) == READ:
            return
        if _is_below(done, "/dev"):
            kind = DEVICE
        self._places[done] = Place(kind, done)

    def _nearest(self, path: str) -> tuple[str, Place]:
        """The place that a path is in."""
        while path not in self._places:
            path = os.path.dirname(path)
        return path, self._places[path]

    def _link_at(self, path: str) -> str | None:
        top, place = self._nearest(path)
        if place.kind == LINK:
            return place.source if top == path else None
        if place.kind not in _BOUND or top == path:
            return None
        source = os.path.join(place.source, os.path.relpath(path, top))
        return os.readlink(source) if os.path.islink(source) else None

    def _make_room(self, target: str, wanted: str, is_directory: bool) -> None:
        """There is, or can be made, something of the right kind to mount over."""
        top, place = self._nearest(target)
        if place.kind not in _BOUND:
            if target == top and not is_directory:
                raise CannotProvide(f"can't mount a file at {wanted}: there is a directory")
            return
        source = place.source if top == target else os.path.join(place.source, os.path.relpath(target, top))
        if os.path.exists(source):
            if os.path.isdir(source) != is_directory:
                words = ("a directory", "a file") if is_directory else ("a file", "a directory")
                raise CannotProvide(f"can't mount {words[0]} at {wanted}: there is {words[1]}")
        elif place.kind == READ:
            self._cover(target, source, wanted)

    def _cover(self, target: str, source: str, wanted: str) -> None:
        directory, real = os.path.dirname(target), os.path.dirname(source)
        while not os.path.lexists(real):
            directory, real = os.path.dirname(directory), os.path.dirname(real)
        try:
            self._list(directory, real)
        except OSError as error:
            raise CannotProvide(f"can't mount at {wanted}: {error.strerror}") from error
        self._places[directory] = Place(COVER)


def arrange(plan: Plan, mounts: Iterable[Mount]) -> tuple[list[str], list[tuple[str, int]]]:
    """(The view in bubblewrap's words, [(where a mount must be found, what it is open on)]). CannotProvide.

    Parents are mounted before children; the descriptors are the caller's to close."""
    view = View(plan)
    placed: list[tuple[str, int]] = []
    try:
        for mount in sorted(mounts, key=lambda m: _parts(os.path.normpath(m.target))):
            placed.append(("", _opened(mount.source)))
            placed[-1] = (view.mount(mount, placed[-1][1]), placed[-1][1])
        return view.words(), placed
    except BaseException:
        close(placed)
        raise


def close(placed: Sequence[tuple[str, int]]) -> None:
    """Lets go of what `arrange` has opened."""
    for _, descriptor in placed:
        os.close(descriptor)


def _opened(source: str) -> int:
    try:
        return os.open(source, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        raise CannotProvide(f"can't mount {source}: {error.strerror}") from error


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")
