"""How far the runs of an experiment are, on standard error while they go on.

On a terminal   a line a run with a bar: virtual time, events a second, when it is expected to end
Elsewhere       a line a run now and then (EVERY_S), so that a log of a long run shows that it goes on; nothing for short ones
Ctrl-C          the first one stops the runs, which are closed as they are; the second one ends the process at once
Start-up        rich is imported when a run has gone on for AFTER_S: short ones show nothing.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from kumi.evaluator.span import span
from kumi.evaluator.watch import Progress, Slips

if TYPE_CHECKING:
    from rich.progress import TaskID

AFTER_S = 0.5
EVERY_S = 30.0
LOOK_S = 0.25
"""between two looks at what runs in other processes tell"""


class Shown:
    """A Watch (kumi.evaluator.watch) that shows what it is told. `quiet`: nothing."""

    def __init__(self, quiet: bool = False, terminal: bool | None = None) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() if terminal is None else terminal
        self._begun_s = time.monotonic()
        self._said_s = self._begun_s
        self._bars: Any = None
        self._bar_of: dict[int, TaskID] = {}
        self._stopped = False

    def told(self, progress: Progress) -> None:
        """A run is so far."""
        now_s = time.monotonic()
        if self._quiet:
            return
        if self._terminal:
            if now_s - self._begun_s >= AFTER_S:
                self._draw(progress)
        elif now_s - self._said_s >= EVERY_S:
            self._said_s = now_s
            click.echo(f"{progress.name}: {line(progress)}", err=True)

    def stopped(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._stopped

    def stop(self) -> None:
        """Runs are to be closed as they are."""
        self._stopped = True
        if not self._quiet:
            click.echo("stopping: what was played is kept (Ctrl-C again ends at once)", err=True)

    def close(self) -> None:
        """Nothing more is shown."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def _draw(self, progress: Progress) -> None:
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
        bar = self._bar_of.get(progress.number)
        if bar is None:
            bar = self._bar_of[progress.number] = self._bars.add_task(progress.name, total=progress.expected, said="")
        done = progress.expected or progress.played
        self._bars.update(bar, completed=min(progress.played, done), said=line(progress))


def line(progress: Progress) -> str:
    """`12d 03:04:05 played, 12,345 events/s, 00:00:12 to go`."""
    said = [f"{span(progress.virtual_ms // 1000 * 1000)} played", f"{progress.events_per_s:,.0f} events/s"]
    if progress.left_ms is not None:
        said.append(f"{span(progress.left_ms // 1000 * 1000)} to go")
    return ", ".join(said)


def _bars() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.fields[said]}"))
    return Bars(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def interruptible(shown: Shown, slips: Slips | None) -> Iterator[None]:
    """Ctrl-C stops the runs; what runs in other processes tell is shown.

    A terminal sends Ctrl-C to all processes. Those that are begun inside are to hear of it from their slips alone: they inherit
    that this thread has it blocked, and the thread that looks is here to take it."""
    over = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if shown.stopped():
            raise KeyboardInterrupt
        shown.stop()
        if slips is not None:
            slips.stop()

    def look(told: Slips) -> None:
        while not over.wait(LOOK_S):
            for progress in told.read():
                shown.told(progress)

    before = signal.signal(signal.SIGINT, stop)
    looker = threading.Thread(target=look, args=(slips,), daemon=True) if slips is not None else None
    try:
        if looker is not None:
            from multiprocessing import resource_tracker

            looker.start()
            resource_tracker.ensure_running()  # which else, when the first process begins, unblocks it again
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        if looker is not None:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        over.set()
        if looker is not None:
            looker.join()
        signal.signal(signal.SIGINT, before)
        shown.close()
