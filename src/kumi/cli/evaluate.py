"""`kumi evaluate`: plays a load of jobs through policies on a virtual clock.

Order      the options are checked, then what is to be explained is looked up, then runs begin: what can be told at once is.
Ctrl-C     runs are closed as they are; what was played is written, and says that it is partial; exit status 130. Once more:
           the end at once, with nothing written. Before a run began there is nothing to write, which one line says.
Failed     a run that breaks down is told with its policy and its time; what the others gave is written; exit status 1.
Saved      runs are saved in DIR/.checkpoints while they go on; `--resume` takes them up. The folder goes when all is done.
Start-up   what is not asked for is not imported: joblib with several runs only, rich when a run shows its progress on a terminal.
"""

from __future__ import annotations

import atexit
import gc
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kumi.cli.experiment import Asked, asked, options
from kumi.cli.options import output_option

if TYPE_CHECKING:
    from kumi.evaluator.compare import Comparison
    from kumi.evaluator.experiments import Experiment
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
    try:
        _evaluate(said, output)
    except KeyboardInterrupt:
        click.echo("kumi: interrupted: no results were written", err=True)
        sys.exit(INTERRUPTED)


@dataclass(frozen=True, slots=True)
class _Ended:
    """How an experiment ended: what was played, whether somebody interrupted it, and which runs broke down, in words."""

    played: list[Played]
    interrupted: bool
    failed: str = ""


def _evaluate(said: dict[str, Any], output: str) -> None:
    gc.set_threshold(COLLECT_AT, 20, 20)
    atexit.register(gc.freeze)  # on the way out nobody looks for cycles in what goes anyway
    wanted = asked(said)
    from kumi.evaluator.experiments import check

    tasks = wanted.experiment.tasks()
    check(wanted.experiment)
    _warn(wanted.experiment)
    _prepare(wanted)
    ended = _run(wanted, tasks)
    if ended.played:
        _give(wanted, ended, output)
    if ended.failed:
        click.echo(f"kumi: {ended.failed}", err=True)
    if ended.interrupted:
        click.echo(f"kumi: interrupted{_interrupted(wanted, ended, len(tasks))}", err=True)
        sys.exit(INTERRUPTED)
    if ended.failed:
        sys.exit(1)
    if wanted.keep is not None:
        shutil.rmtree(wanted.keep, ignore_errors=True)


def _give(wanted: Asked, ended: _Ended, output: str) -> None:
    """What becomes of what was played."""
    compared = _compared(wanted, ended)
    if wanted.out is not None:
        _write(wanted, ended.played, compared)
    if wanted.receiver is not None:
        _send(wanted, ended.played)
    _tell(wanted, ended.played, compared, output)


def _interrupted(wanted: Asked, ended: _Ended, runs: int) -> str:
    """What is left of an experiment of so many runs."""
    if not ended.played:
        return " before any run began: no results were written"
    missing = 0 if ended.failed else runs - len(ended.played)
    more = f", {missing} run{' was' if missing == 1 else 's were'} not begun" if missing else ""
    hint = " (--resume goes on)" if wanted.keep is not None else ""
    return f"{more}: what was played is partial{hint}"


def _prepare(wanted: Asked) -> None:
    """The folders of what is to be written. KumiError."""
    if wanted.out is None:
        return
    from kumi.evaluator.outputs import Wanted, names, prepare

    files = names(
        Wanted(wanted.csv, wanted.report, wanted.metrics),
        compares=wanted.compare,
        explains=bool(wanted.experiment.explain),
    )
    prepare(wanted.out, files, [str(file) for file in wanted.experiment.source.files()])
    if wanted.keep is not None:
        prepare(wanted.keep, ())


def _warn(experiment: Experiment) -> None:
    """What policies say in vain."""
    from kumi.evaluator.play import policy_of

    for said in experiment.policies:
        for line in policy_of(said, experiment.source).profile.vain:
            click.echo(f"kumi: {line}", err=True)


def _run(wanted: Asked, tasks: Sequence[Task]) -> _Ended:
    """Plays all that it can."""
    from kumi.cli.progress import Shown, interruptible
    from kumi.evaluator.experiments import in_this_process, run
    from kumi.evaluator.failures import SomeFailed

    shown, failed = Shown(wanted.quiet), ""
    with _slips(in_this_process(tasks, wanted.workers, wanted.backend)) as slips, interruptible(shown, slips):
        try:
            played = run(tasks, shown if slips is None else slips, wanted.workers, wanted.backend)
        except SomeFailed as error:
            played, failed = list(error.played), str(error)
    return _Ended([one for one in played if one is not None], shown.stopped(), failed)


@contextmanager
def _slips(here: bool) -> Iterator[Slips | None]:
    """Where runs in other processes tell how far they are; None: there are none."""
    from kumi.evaluator.watch import Slips

    if here:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="kumi-evaluate-") as folder:
        yield Slips(Path(folder))


def _compared(wanted: Asked, ended: _Ended) -> tuple[Comparison, ...] | None:
    """Who is better at what; None: nobody asks, or some have no results."""
    if not wanted.compare or ended.failed:
        return None
    from kumi.evaluator.compare import compare

    return compare([one.summary for one in ended.played])


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
