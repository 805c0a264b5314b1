"""Outputs: what an experiment leaves in its folder.

    summary.json       one object per policy, parameters and seed, in the order asked for (summary.py)
    jobs.parquet       a row a job of each run (tables.py); with `csv` also jobs.csv
    comparison.json    with `compare`: who wins what (compare.py)
    explained.json     with `explain`: the decision records of one job (explain.py)
    report.html        with `report`: one self-contained page (report/)
    metrics.prom       with `metrics`: Prometheus exposition with virtual timestamps (prometheus.py)

Whole      all are written beside their places, then moved there: a disk that is full leaves what was there before, who kills the
           process each file as it was before, or whole.
Order      summary.json last: where it is, the others are.
Earlier    what an earlier experiment left there of these files, and this one doesn't write, is gone: who reads the folder reads
           one experiment. A file of such a name that is somebody else's, by its first words, stays.
Errors     KumiError with the file, and what to do. What can be told of the folder is told before anything is played (prepare).
Not here   what is in the files: the modules named above.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kumi.api.errors import KumiError
from kumi.evaluator import summary
from kumi.evaluator.play import Played
from kumi.evaluator.tables import Table

if TYPE_CHECKING:
    from kumi.evaluator.compare import Comparison

PART = ".part-"
"""what the name of a file that is being written begins with"""
SUMMARY = "summary.json"
OURS = {
    "jobs.parquet": b"PAR1",
    "jobs.csv": b'"policy","seed","job"',
    "comparison.json": b'"policies":',
    "explained.json": b'"records":',
    "report.html": b"Kumi time machine",
    "metrics.prom": b"kumi_evaluate_",
}
"""the files that there may be besides, and words by which one of an experiment is known"""
HEAD = 4096
"""so near its beginning they stand"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is written beside summary.json and jobs.parquet."""

    csv: bool = False
    report: bool = False
    metrics: bool = False


def names(wanted: Wanted, *, compares: bool = False, explains: bool = False) -> list[str]:
    """The files that there will be, summary.json last."""
    asked = {
        "jobs.csv": wanted.csv,
        "comparison.json": compares,
        "explained.json": explains,
        "report.html": wanted.report,
        "metrics.prom": wanted.metrics,
    }
    return ["jobs.parquet", *(name for name, is_asked in asked.items() if is_asked), SUMMARY]


def prepare(folder: Path, files: Sequence[str], read: Iterable[str] = ()) -> None:
    """The folder is there, and these files can be written into it. `read`: files that the experiment reads, which it must not
    write over. KumiError."""
    look = folder / f"{PART}look"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        look.write_bytes(b"")
        look.unlink()
    except OSError as error:
        raise _unwritten(folder, error) from error
    known = {Path(one).resolve(): one for one in read}
    for path in (folder / name for name in files):
        if path.is_dir():
            raise KumiError(f"{path} is to be written, and is a folder: remove it, or name another folder (--out)")
        if path.resolve() in known:
            raise KumiError(f"{path} is to be written, and is read as well: name another folder (--out)")


def write(
    folder: Path, played: Sequence[Played], wanted: Wanted, compared: Sequence[Comparison] | None = None
) -> list[Path]:
    """All of it; the files, as they were written. KumiError: there is what was there before."""
    makers = _makers(played, wanted, compared)
    parts = {name: folder / f"{PART}{name}" for name in makers}
    try:
        for name, make in makers.items():
            make(parts[name])
        for name in makers:
            if name == SUMMARY:
                _forget(folder, [one for one in OURS if one not in makers])
            os.replace(parts[name], folder / name)
    except OSError as error:
        raise _unwritten(folder, error) from error
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)
    return [folder / name for name in makers]


def _makers(
    played: Sequence[Played], wanted: Wanted, compared: Sequence[Comparison] | None
) -> dict[str, Callable[[Path], None]]:
    """By the name of the file, what writes it."""
    found: dict[str, Callable[[Path], None]] = {}
    for name in names(wanted, compares=compared is not None, explains=any(one.explained for one in played)):
        match name:
            case "jobs.parquet" | "jobs.csv":
                if played:
                    found[name] = partial(_jobs, played=played)
            case "comparison.json":
                found[name] = partial(_comparison, compared=compared or ())
            case "explained.json":
                found[name] = lambda path: _json(path, explained(played))
            case "report.html":
                found[name] = partial(_report, played=played)
            case "metrics.prom":
                found[name] = partial(_metrics, played=played)
            case _:
                found[name] = partial(_summary, played=played)
    return found


def _forget(folder: Path, files: Sequence[str]) -> None:
    """Those of them that an earlier experiment has written."""
    for path in (folder / name for name in files):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                is_ours = OURS[path.name] in file.read(HEAD)
            if is_ours:
                path.unlink()


def _unwritten(folder: Path, error: OSError) -> KumiError:
    where = f" ({error.filename})" if error.filename and Path(error.filename) != folder else ""
    return KumiError(
        f"results can't be written to {folder}{where}: {error.strerror or error}. Make room there, or name another folder (--out)"
    )


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


def _jobs(path: Path, played: Sequence[Played]) -> None:
    with Table(path, "jobs") as table:
        for one in played:
            table.add(one.facts, one.label, one.seed)


def _json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", "utf-8")


def _comparison(path: Path, compared: Sequence[Comparison]) -> None:
    from kumi.evaluator.compare import to_json

    _json(path, [to_json(one) for one in compared])


def _report(path: Path, played: Sequence[Played]) -> None:
    from kumi.evaluator.report import page, title

    path.write_bytes(page(labelled(played), title(played)))


def _metrics(path: Path, played: Sequence[Played]) -> None:
    from kumi.evaluator.prometheus import exposition

    path.write_bytes(exposition(labelled(played)))


def _summary(path: Path, played: Sequence[Played]) -> None:
    path.write_bytes(summary.to_bytes([one.summary for one in played]))
