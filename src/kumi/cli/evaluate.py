"""`kumi evaluate`: plays a load of jobs through policies on a virtual clock.

Order      the options are checked, then what is to be explained is looked up, then runs begin: what can be told at once is.
Ctrl-C     runs are closed as they are; what was played is written, and says that it is partial; exit status 130. Once more:
           the end at once, with nothing written.
Saved      runs are saved in DIR/.checkpoints while they go on; `--resume` takes them up. The folder goes when all is done.
Start-up   what is not asked for is not imported: joblib with several runs only, rich when a run shows its progress on a terminal.
"""

from __future__ import annotations

import gc
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kumi.cli.experiment import Asked, asked, options
from kumi.cli.options import output_option

if TYPE_CHECKING:
    from kumi.evaluator.compare import Comparison
    from kumi.evaluator.play import Played, Task
    from kumi.evaluator.watch import Slips

INTERRUPTED = 130
COLLECT_AT = 200_000
"""New objects between two looks for garbage in cycles: a run makes millions that live for a while, next to none in cycles."""


@click.command("evaluate")
@options
@output_option
def command(output: str, **said: Any) -> None:
    """Play the jobs of SCENARIO.yaml, or of a trace, through policies, and say what each did to them.

    Nothing waits: months of jobs take seconds, decided by the engine that runs production.

    \b
    kumi evaluate scenario.yaml --policy fifo --policy easy --out results --report
    kumi evaluate --format openb --nodes nodes.csv --jobs tasks.csv --policy best-fit --scale-nodes 1% --out results
    """
    gc.set_threshold(COLLECT_AT, 20, 20)
    wanted = asked(said)
    from kumi.evaluator.experiments import check

    tasks = wanted.experiment.tasks()
    check(wanted.experiment)
    played, interrupted = _run(wanted, tasks)
    compared = _compared(wanted, played)
    if wanted.out is not None:
        _write(wanted, played, compared)
    if wanted.receiver is not None:
        _send(wanted, played)
    _tell(wanted, played, compared, output)
    if interrupted:
        missing = len(tasks) - len(played)
        more = f", {missing} run{' was' if missing == 1 else 's were'} not begun" if missing else ""
        hint = " (--resume goes on)" if wanted.keep is not None else ""
        click.echo(f"kumi: interrupted{more}: what was played is partial{hint}", err=True)
        sys.exit(INTERRUPTED)
    if wanted.keep is not None:
        shutil.rmtree(wanted.keep, ignore_errors=True)


def _run(wanted: Asked, tasks: Sequence[Task]) -> tuple[list[Played], bool]:
    """What was played, and whether it was interrupted."""
    from kumi.cli.progress import Shown, interruptible
    from kumi.evaluator.experiments import in_this_process, run

    for folder in (wanted.out, wanted.keep):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    shown = Shown(wanted.quiet)
    with _slips(in_this_process(tasks, wanted.workers, wanted.backend)) as slips, interruptible(shown, slips):
        played = run(tasks, shown if slips is None else slips, wanted.workers, wanted.backend)
    return [one for one in played if one is not None], shown.stopped()


@contextmanager
def _slips(here: bool) -> Iterator[Slips | None]:
    """Where runs in other processes tell how far they are; None: there are none."""
    from kumi.evaluator.watch import Slips

    if here:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="kumi-evaluate-") as folder:
        yield Slips(Path(folder))


def _compared(wanted: Asked, played: Sequence[Played]) -> tuple[Comparison, ...] | None:
    if not wanted.compare:
        return None
    from kumi.evaluator.compare import compare

    return compare([one.summary for one in played])


def _write(wanted: Asked, played: Sequence[Played], compared: Sequence[Comparison] | None) -> None:
    from kumi.evaluator.outputs import Wanted, write

    assert wanted.out is not None
    write(wanted.out, played, Wanted(wanted.csv, wanted.report, wanted.metrics), compared)


def _send(wanted: Asked, played: Sequence[Played]) -> None:
    import time

    from kumi.evaluator.outputs import labelled
    from kumi.evaluator.prometheus import lines
    from kumi.evaluator.remote_write import send

    assert wanted.receiver is not None
    sent = send(wanted.receiver, lines(labelled(played)), time.sleep)
    if not wanted.quiet:
        click.echo(f"{sent:,} samples sent to {wanted.receiver.url}", err=True)


def _tell(wanted: Asked, played: Sequence[Played], compared: Sequence[Comparison] | None, output: str) -> None:
    """On standard output."""
    explain = wanted.experiment.explain
    if output == "json":
        click.echo(json.dumps(_told(wanted, played, compared), indent=2))
        return
    from kumi.cli import figures

    if not wanted.quiet:
        figures.show(played)
    if compared is not None:
        figures.show_comparison(compared)
    if explain:
        figures.show_explained(played, explain)
    if wanted.out is not None and not wanted.quiet:
        click.echo(f"written to {wanted.out}")


def _told(wanted: Asked, played: Sequence[Played], compared: Sequence[Comparison] | None) -> dict[str, Any]:
    """The same as JSON: `runs` is summary.json; `comparison` and `explained` where they are asked for."""
    from kumi.evaluator.compare import to_json
    from kumi.evaluator.outputs import explained

    found: dict[str, Any] = {"runs": [one.summary for one in played]}
    if compared is not None:
        found["comparison"] = [to_json(one) for one in compared]
    if wanted.experiment.explain:
        found["explained"] = explained(played)
    return found
