"""Outputs: what an experiment leaves in its folder.

    summary.json       one object per policy, parameters and seed, in the order asked for (summary.py)
    jobs.parquet       a row a job of each run (tables.py); with `csv` also jobs.csv
    comparison.json    with `compare`: who wins what (compare.py)
    explained.json     with `explain`: the decision records of one job (explain.py)
    report.html        with `report`: one self-contained page (report/)
    metrics.prom       with `metrics`: Prometheus exposition with virtual timestamps (prometheus.py)

Whole      each file is written beside its place and moved there: who kills the process leaves the file before, or none.
Order      summary.json last: where it is, the others are.
Not here   what is in the files: the modules named above.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kumi.evaluator import summary
from kumi.evaluator.play import Played
from kumi.evaluator.tables import Table

if TYPE_CHECKING:
    from kumi.evaluator.compare import Comparison

PART = ".part-"
"""what the name of a file that is being written begins with"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is written beside summary.json and jobs.parquet."""

    csv: bool = False
    report: bool = False
    metrics: bool = False


def write(
    folder: Path, played: Sequence[Played], wanted: Wanted, compared: Sequence[Comparison] | None = None
) -> list[Path]:
    """All of it; the files, as they were written. OSError."""
    written = [_jobs(folder / "jobs.parquet", played)] if played else []
    if wanted.csv and played:
        written.append(_jobs(folder / "jobs.csv", played))
    if compared is not None:
        from kumi.evaluator.compare import to_json as compared_json

        written.append(_json(folder / "comparison.json", [compared_json(one) for one in compared]))
    if any(one.explained for one in played):
        written.append(_json(folder / "explained.json", explained(played)))
    if wanted.report:
        written.append(_report(folder / "report.html", played))
    if wanted.metrics:
        written.append(_metrics(folder / "metrics.prom", played))
    with replacing(folder / "summary.json") as path:
        path.write_bytes(summary.to_bytes([one.summary for one in played]))
    return [*written, folder / "summary.json"]


def labelled(played: Sequence[Played]) -> list[Played]:
    """With the parameters in the policy's name, where there are any: two runs of one name would be one line."""
    return [replace(one, policy=one.label, parameters=()) if one.parameters else one for one in played]


def explained(played: Sequence[Played]) -> list[dict[str, Any]]:
    """One object a run: whose, and the records of the job that was asked about."""
    from kumi.evaluator.explain import to_json  # the API's nouns stand behind its sentences

    return [
        {
            "policy": one.policy,
            "seed": one.seed,
            **({"parameters": dict(one.parameters)} if one.parameters else {}),
            "records": to_json(one.explained, one.start_ms),
        }
        for one in played
    ]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Where to write what is then at `path`, whole."""
    part = path.with_name(f"{PART}{path.name}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _jobs(path: Path, played: Sequence[Played]) -> Path:
    with replacing(path) as part, Table(part, "jobs") as table:
        for one in played:
            table.add(one.facts, one.label, one.seed)
    return path


def _json(path: Path, value: object) -> Path:
    with replacing(path) as part:
        part.write_text(json.dumps(value, indent=2) + "\n", "utf-8")
    return path


def _report(path: Path, played: Sequence[Played]) -> Path:
    from kumi.evaluator.report import page

    title = " against ".join(dict.fromkeys(one.label for one in played))
    with replacing(path) as part:
        part.write_bytes(page(labelled(played), title))
    return path


def _metrics(path: Path, played: Sequence[Played]) -> Path:
    from kumi.evaluator.prometheus import exposition

    with replacing(path) as part:
        part.write_bytes(exposition(labelled(played)))
    return path
