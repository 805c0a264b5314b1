"""Process trees: what the processes below each of some guardians have used of the processors, and how much memory they have.

The rule, for a guardian G and the processes D below it:
    cpu       children(G) + sum(own(d) + children(d) for d in D)
    memory    sum(resident set of d for d in D)
    own: a process's time in user and in kernel mode; children: that of its children that have ended and been waited for
Why        the time of a process that ends goes to whoever waits for it, so the sum never falls, however often programs come
           and go: a guardian adopts every orphan below it (shim.py). What it uses itself is not the container's.
Torn       processes end while they are read. Those of the trees are read a second time; where one is gone, or has waited for a
           child since, its time may have been seen twice or not at all, and all are read again, ATTEMPTS times at most.
Lost       the time of children whose parent wants no word of their end (SIGCHLD ignored): then the sum does fall.
Memory     pages that several processes of a tree share count for each of them.
Cost       one file of /proc for each process of the machine, some tens of microseconds; nothing where there is no guardian.
Source     proc(5).
Not here   what that is in a second: meter.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

ATTEMPTS = 3
_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Tree(NamedTuple):
    """What is below a guardian: processor time since it began, and memory now."""

    cpu_ns: int
    memory_bytes: int


class Stat(NamedTuple):
    """A process, as one reading of /proc has it. Times in ticks, memory in pages."""

    parent: int
    own: int
    children: int
    started: int
    pages: int


def read(guardians: Sequence[int]) -> dict[int, Tree]:
    """By guardian; one that is gone is left out."""
    if not guardians:
        return {}
    for _ in range(ATTEMPTS):
        first = {int(name): found for name in os.listdir("/proc") if name.isdigit() and (found := stat_of(int(name)))}
        below = trees(first, guardians)
        again = {pid: stat_of(pid) for guardian, pids in below.items() for pid in (guardian, *pids)}
        second = {pid: found for pid, found in again.items() if found is not None}
        if is_whole(first, again):
            break
    return {
        guardian: tree(second[guardian], [second[pid] for pid in pids if pid in second])
        for guardian, pids in below.items()
        if guardian in second
    }


def trees(stats: Mapping[int, Stat], guardians: Sequence[int]) -> dict[int, list[int]]:
    """The processes below each of the guardians that are there."""
    children: dict[int, list[int]] = {}
    for pid, found in stats.items():
        children.setdefault(found.parent, []).append(pid)
    below = {}
    for guardian in guardians:
        if guardian in stats:
            seen = below[guardian] = list(children.get(guardian, ()))
            for pid in seen:
                seen += children.get(pid, ())
    return below


def is_whole(first: Mapping[int, Stat], again: Mapping[int, Stat | None]) -> bool:
    """Were these processes there all the time, and did none of them wait for a child meanwhile?"""
    return all(
        found is not None and (found.started, found.children) == (first[pid].started, first[pid].children)
        for pid, found in again.items()
    )


def tree(guardian: Stat, below: Sequence[Stat]) -> Tree:
    """The rule."""
    ticks = guardian.children + sum(found.own + found.children for found in below)
    return Tree(ticks * _TICK_NS, sum(found.pages for found in below) * _PAGE)


def stat_of(pid: int) -> Stat | None:
    """A process; None: there is none of that id."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if len(words) < 22:
        return None
    user, system, children_user, children_system = map(int, words[11:15])
    return Stat(int(words[1]), user + system, children_user + children_system, int(words[19]), int(words[21]))
