"""An experiment's figures for a terminal: metrics by policies, who wins what, and the life of one job.

Width      80 columns: so many policies beside each other as have room, then another table.
Seeds      runs with several seeds are shown as their mean and half the width of its 95 % interval.
Units      times as d, h, min or s, one unit a value; percents of capacity; counts.
Partial    a policy with a run that was over before its end has a star, and the reason stands below.
Never      of jobs that were still waiting for their first start when a run was over, the most frequent reasons stand below,
           each once, with the policies that have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, TypeAlias

import click

from kumi.evaluator.compare import Compared, Comparison, Verdict, expanded, value_of
from kumi.evaluator.play import Played
from kumi.evaluator.student import Interval, interval

WIDTH = 80
HANGING = 27
"""where what happened to a job begins, behind the time and the word"""
REASONS = 3
"""why jobs never started, so many at most"""
GAP = 3
"""between two columns"""
Column: TypeAlias = tuple[str, ...]
"""a head and its cells"""
SHOWN: dict[str, tuple[str, str]] = {
    "jobs": ("jobs", ""),
    "finished": ("finished", ""),
    "never_started": ("never started", ""),
    "wait_s.mean": ("wait, mean", "time"),
    "wait_s.p95": ("wait, 95 %", "time"),
    "jct_s.mean": ("completion, mean", "time"),
    "jct_s.p95": ("completion, 95 %", "time"),
    "makespan_s": ("makespan", "time"),
    "allocation_percent.*.mean": ("{resource}, mean", "%"),
    "allocation_percent.*.peak": ("{resource}, peak", "%"),
    "deadlines_met": ("deadlines met", ""),
    "deadlines_missed": ("deadlines missed", ""),
    "preemptions": ("preemptions", ""),
    "lost_work_s": ("lost work", "time"),
    "jain_fairness": ("Jain's fairness", ""),
    "decisions": ("decisions", ""),
    "run_s": ("took", "time"),
}
"""field of summary.json -> its row's name, and its unit"""
ALWAYS = ("jobs", "finished", "never_started", "wait_s.mean", "run_s")
"""rows that are there even if all their values are 0 or missing"""
UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"), (0.001, "ms"))


def show(played: Sequence[Played]) -> None:
    """The tables, and what has to be said about runs."""
    if not played:
        return
    by_label: dict[str, list[Played]] = {}
    for one in played:
        by_label.setdefault(one.label, []).append(one)
    names, *cells = zip(*rows({label: [one.summary for one in runs] for label, runs in by_label.items()}), strict=True)
    marked = [f"{label}{'*' if any(one.stopped for one in runs) else ''}" for label, runs in by_label.items()]
    columns = [(head, *listed) for head, listed in zip(marked, cells, strict=True)]
    for chosen in side_by_side(("", *names), columns):
        _print_table(chosen)
    for note in dict.fromkeys(note for one in played for note in one.summary["notes"]):
        click.echo(f"note: {note}")
    cut: dict[tuple[str, str], list[int]] = {}
    for one in played:
        if one.stopped:
            cut.setdefault((one.label, one.stopped), []).append(one.seed)
    for (label, why), seeds in cut.items():
        said = f"seed {seeds[0]}, is" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}, are"
        click.echo(fill(f"* {label}, {said} partial: {why}", WIDTH))
    _tell_who_waits(played)


def _tell_who_waits(played: Sequence[Played]) -> None:
    """Why jobs never started."""
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for one in played:
        jobs = one.facts.jobs
        for row, why in sorted(one.facts.why.items()):
            if not jobs.started[row] and not one.stopped:
                labels, keys = found.setdefault(why, ({}, {}))
                labels[one.label] = keys[jobs.key(row)] = None
    frequent = sorted(found.items(), key=lambda item: (-len(item[1][1]), item[0]))
    for why, (labels, keys) in frequent[:REASONS]:
        first, more = next(iter(keys)), f" and {len(keys) - 1:,} more" if len(keys) > 1 else ""
        click.echo(fill(f"never started with {', '.join(labels)}: {first}{more}: {why}", WIDTH))
    if len(frequent) > REASONS:
        click.echo(f"{len(frequent) - REASONS:,} more reasons: the column `why` of jobs.parquet has them all")


def side_by_side(first: Column, columns: Sequence[Column]) -> Iterator[list[Column]]:
    """Tables of so many columns as have room, each with the first one."""
    room = chosen_width = _width(first)
    chosen = [first]
    for column in columns:
        if len(chosen) > 1 and chosen_width + _width(column) > WIDTH:
            yield chosen
            chosen, chosen_width = [first], room
        chosen.append(column)
        chosen_width += _width(column)
    yield chosen


def _width(column: Column) -> int:
    return max(len(text) for text in column) + GAP


def _print_table(columns: Sequence[Column]) -> None:
    widths = [max(len(text) for text in column) for column in columns]
    lines = [
        (" " * GAP)
        .join(
            text.rjust(width) if number else text.ljust(width)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        .rstrip()
        for row in zip(*columns, strict=True)
    ]
    click.echo("\n".join(("", lines[0], "─" * (sum(widths) + GAP * (len(widths) - 1)), *lines[1:])))


def rows(by_label: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[str, ...]]:
    """name, and a cell a policy; rows that say nothing are left out."""
    everyone = [summary for summaries in by_label.values() for summary in summaries]
    for pattern, metric in expanded(list(SHOWN), everyone):
        name, unit = SHOWN[pattern]
        found = {label: _known(summaries, metric) for label, summaries in by_label.items()}
        if pattern not in ALWAYS and not any(value for values in found.values() for value in values):
            continue
        resource = metric.partition(".")[2].rpartition(".")[0]
        cells = [cell(interval(values), unit) if values else "-" for values in found.values()]
        yield name.format(resource=resource), *cells


def _known(summaries: Sequence[Mapping[str, Any]], metric: str) -> list[float]:
    return [value for summary in summaries if (value := value_of(summary, metric)) is not None]


def cell(found: Interval, unit: str) -> str:
    """`1.25 h`, `93.1 ± 0.4 %`, `8,152`."""
    size, name = (1.0, unit)
    if unit == "time":
        largest = max(abs(found.mean), 0.001)
        size, name = next(((float(s), n) for s, n in UNITS if largest >= s), (1.0, "s")) if found.mean else (1.0, "s")
    said = _number(found.mean / size)
    if found.half:
        said += f" ± {_number(found.half / size)}"
    return f"{said} {name}".rstrip()


def _number(value: float) -> str:
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def show_comparison(compared: Sequence[Comparison]) -> None:
    """Who is better at what; what is the same, or may be chance, in a line each."""
    if not any(one.metrics for one in compared):
        click.echo("\nnothing to compare: no seed was played to its end by every policy")
    for one in compared:
        click.echo(f"\n{_title(one)}")
        by_verdict: dict[Verdict, list[Compared]] = {}
        for metric in one.metrics:
            by_verdict.setdefault(metric.verdict, []).append(metric)
        for metric in by_verdict.get(Verdict.WINNER, ()):
            unit = _unit(metric.metric)
            behind = [f"{other} by {cell(_size(lead), unit)}" for other, lead in metric.leads.items()]
            click.echo(f"  {metric.metric}: {metric.best} is better than {', '.join(behind)}")
        for verdict in (Verdict.NO_DIFFERENCE, Verdict.SAME):
            if found := by_verdict.get(verdict):
                click.echo(_filled(f"{verdict.value}: {', '.join(metric.metric for metric in found)}"))
        if found := by_verdict.get(Verdict.NO_NOISE_KNOWN):
            click.echo(_filled(f"no noise is known ({_advice(one)}), so that nobody wins; the best value has"))
            for metric in found:
                value = metric.values[metric.best]
                best = ", ".join(policy for policy, other in metric.values.items() if other.mean == value.mean)
                click.echo(f"    {metric.metric}: {best}, {cell(value, _unit(metric.metric))}")


def _filled(text: str) -> str:
    return fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)


def _title(compared: Comparison) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in compared.parameters.items())
    seeds = f"{len(compared.seeds)} seed{'' if len(compared.seeds) == 1 else 's'}"
    return f"{' against '.join(compared.policies)}, {seeds}{f', {parameters}' if parameters else ''}"


def _advice(compared: Comparison) -> str:
    return "one seed alone: --seeds 10" if len(compared.seeds) == 1 else "the seeds change nothing"


def _unit(metric: str) -> str:
    head, _, rest = metric.partition(".")
    pattern = f"{head}.*.{rest.rpartition('.')[2]}" if head == "allocation_percent" else metric
    return SHOWN[pattern][1] if pattern in SHOWN else "time" if head.endswith("_s") else ""


def _size(lead: Interval) -> Interval:
    return Interval(abs(lead.mean), lead.half, lead.runs)


def show_explained(played: Sequence[Played], job: str) -> None:
    """The life of the job in each run."""
    from kumi.evaluator.explain import lines

    width = max(WIDTH, get_terminal_size().columns)
    for one in played:
        click.echo(f"\n{job} with {one.label}, seed {one.seed}")
        if not one.explained:
            click.echo("  is not among the jobs of this run")
        for text in lines(one.explained, one.start_ms):
            click.echo(fill(text, width, initial_indent="  ", subsequent_indent=" " * HANGING, break_long_words=False))
