"""What trees of processes have used: sums that lose nothing, however processes come and go."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.kubelet import process_trees
from kumi.kubelet.process_trees import Stat, is_whole, read, stat_of, tree, trees

PAGE = os.sysconf("SC_PAGE_SIZE")


@given(st.lists(st.integers(0, 30), max_size=30))
def test_below_a_guardian_is_who_has_it_among_those_before(parents: list[int]) -> None:
    stats = {pid: Stat(min(parent, pid - 1), 0, 0, 0, 0) for pid, parent in enumerate(parents, 2)}

    def is_below(pid: int) -> bool:
        while pid in stats:
            pid = stats[pid].parent
            if pid == 3:
                return True
        return False

    found = trees(stats, [3, 999])
    if 3 in stats:
        assert sorted(found[3]) == [pid for pid in stats if is_below(pid)]
    assert 999 not in found


@given(own=st.integers(0, 100), children=st.integers(0, 100), above=st.integers(0, 100))
def test_the_time_of_a_process_that_ends_is_not_lost(own: int, children: int, above: int) -> None:
    guardian, parent, child = Stat(1, 7, above, 0, 9), Stat(10, 5, above, 0, 2), Stat(11, own, children, 0, 3)
    before = tree(guardian, [parent, child])
    after = tree(guardian, [parent._replace(children=above + own + children)])
    last = tree(guardian._replace(children=above + 5 + above + own + children), [])
    assert before.cpu_ns == after.cpu_ns == last.cpu_ns
    assert [before.memory_bytes, after.memory_bytes, last.memory_bytes] == [5 * PAGE, 2 * PAGE, 0]


def test_what_the_guardian_uses_itself_is_not_the_containers() -> None:
    assert tree(Stat(1, 100, 0, 0, 100), []) == (0, 0)


@pytest.mark.parametrize(
    ("changed", "whole"),
    [
        (lambda stat: stat._replace(own=99, pages=99), True),
        (lambda stat: stat._replace(children=3), False),
        (lambda stat: stat._replace(started=3), False),
        (lambda stat: None, False),
    ],
)
def test_a_reading_is_torn_where_a_process_went_or_waited_for_one(
    changed: Callable[[Stat], Stat | None], whole: bool
) -> None:
    stat = Stat(1, 1, 2, 2, 2)
    assert is_whole({5: stat, 6: stat}, {5: changed(stat)}) is whole


def test_a_torn_reading_is_read_again_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def whole(*_: object) -> bool:
        asked.append(1)
        return len(asked) == 2

    monkeypatch.setattr(process_trees, "is_whole", whole)
    assert os.getpid() in read([os.getpid()])
    assert len(asked) == 2
    asked.clear()
    monkeypatch.setattr(process_trees, "is_whole", lambda *_: asked.append(1))
    assert os.getpid() in read([os.getpid()])
    assert len(asked) == process_trees.ATTEMPTS


def test_without_guardians_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_trees, "stat_of", None)
    assert read([]) == {}


@pytest.mark.process
def test_a_real_child_is_counted_while_it_runs_and_when_it_has_ended() -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass\nprint(flush=True)\ninput()"
    before = read([os.getpid()])[os.getpid()]
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        during = read([os.getpid()])[os.getpid()]
        child.communicate(b"\n")
    after = read([os.getpid()])[os.getpid()]
    assert during.cpu_ns - before.cpu_ns >= 150_000_000
    assert after.cpu_ns >= during.cpu_ns
    assert during.memory_bytes - before.memory_bytes > 1 << 20


def test_nobody_has_no_stat() -> None:
    assert stat_of(2**22 + 1) is None
    assert read([2**22 + 1]) == {}
    mine = stat_of(os.getpid())
    assert mine is not None
    assert mine.parent == os.getppid()
