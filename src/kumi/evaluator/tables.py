"""Tables: the jobs, the placements and the series of runs as Parquet and as CSV.

jobs (one row a job of a run)
    policy, seed          of the run
    job, namespace        `namespace/name`, and its first part
    tenant, queue         whose it is, and where it was submitted
    outcome               finished, cancelled, refused, running, waiting
    why                   why it never ran to its end, as a sentence; null where it did or its owner cancelled it
    priority, pods        of it
    cpu_cores, memory_bytes, gpus     what all of its pods ask for (gpus: nvidia.com/gpu); `other`: of further resources,
                                      name=amount
    arrival, first_start, last_start, end, deadline     instants of the run's clock (UTC, ms); null where there is none
    work_ms, said_ms      how long it runs, and how long its owner says; null: until it is deleted, nobody says
    wait_ms, queued_ms, ran_ms, jct_ms, tardiness_ms, slowdown, bounded_slowdown     as metrics.py has them; null where there
                                                                                     is none
    preemptions, node_losses, lost_ms, wasted_ms        runs cut short, and the work that went with them
    deadline_met          null: it has no deadline, or was cancelled before it
    node                  where the pod of it that was placed last is; null: none was. All of them: placements
placements (one row a pod on a node):  policy, seed, job, node, devices (numbers of GPUs there, 0,1; null: nobody
                                       says), at, to (null: it is still there), cpu_cores, memory_bytes, gpus
series (one row a bucket):  policy, seed, series, label, at, mean, peak (series.py)

Streaming  a run is written as it is added, in row groups of ROWS; a table of all runs is never held. The columns are the same
           whatever the load is. Equal runs give equal bytes (with one release of pyarrow).
Library    pyarrow, imported when a table is made: 50 ms; 8,000 jobs are written in 50 to 80 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kumi.engine.placement.devices import GPU
from kumi.evaluator import metrics
from kumi.evaluator.facts import ENDS, NONE, Facts, Ints
from kumi.evaluator.series import Series, all_series, unit

if TYPE_CHECKING:
    import pyarrow as pa

Which: TypeAlias = Literal["jobs", "placements", "series"]
ROWS = 131_072
"""of a row group, at most"""
OUTCOMES = ("running", "waiting", *(what.value for what in ENDS))
AMOUNTS = (("cpu_cores", "cpu"), ("memory_bytes", "memory"), ("gpus", GPU))


class Table:
    """A file that runs are added to; closed by `with`. The ending of `path` says the format: .parquet or .csv."""

    def __init__(self, path: Path, which: Which) -> None:
        if path.suffix not in (".parquet", ".csv"):
            raise ValueError(f"{path.name}: a table is a .parquet or a .csv file")
        self._path, self._which = path, which
        self._writer: Any = None

    def __enter__(self) -> Table:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(self, facts: Facts, policy: str, seed: int) -> None:
        """The rows of one run."""
        made = table(facts, self._which, policy, seed)
        if self._path.suffix == ".csv":
            made = _plain(made)
        if self._writer is None:
            self._writer = self._open(made.schema)
        for start in range(0, made.num_rows, ROWS):
            self._writer.write_table(made.slice(start, ROWS))

    def _open(self, schema: pa.Schema) -> Any:
        if self._path.suffix == ".csv":
            from pyarrow import csv

            return csv.CSVWriter(self._path, schema)
        from pyarrow import parquet

        return parquet.ParquetWriter(self._path, schema, compression="zstd")


def table(facts: Facts, which: Which, policy: str, seed: int) -> pa.Table:
    """One of the tables, of one run."""
    import pyarrow as pa

    columns = {"jobs": _jobs, "placements": _placements, "series": _series}[which](facts)
    rows = len(next(iter(columns.values())))
    named = pa.DictionaryArray.from_arrays(np.zeros(rows, dtype=np.int32), [policy])
    return pa.table({"policy": named, "seed": np.full(rows, seed, dtype=np.int64), **columns})


def outcome(facts: Facts) -> NDArray[np.int32]:
    """Of each job, its number in OUTCOMES."""
    found = facts.jobs.over.astype(np.int32) + 1
    waits = facts.jobs.over == 0
    waits[facts.runs.job[facts.runs.to == NONE]] = False
    found[(facts.jobs.over == 0) & ~waits] = 0
    return found


def last_node(facts: Facts) -> NDArray[np.int32]:
    """Where the pod that was placed last is; NONE: none was."""
    found = np.full(len(facts.jobs), NONE, dtype=np.int32)
    found[facts.spans.job] = facts.spans.node
    return found


def _jobs(facts: Facts) -> dict[str, Any]:
    jobs = facts.jobs
    met = np.where(metrics.deadline_missed(facts), 0, np.where(metrics.deadline_met(facts), 1, NONE))
    slow, bounded = metrics.slowdown(facts), metrics.bounded_slowdown(facts)
    pods = np.array([kind.pods for kind in facts.kinds], dtype=np.int64)
    return {
        "job": _keys(facts),
        "namespace": _namespaces(facts),
        "tenant": _named(jobs.tenant, facts.tenants),
        "queue": _named(jobs.queue, facts.queues),
        "outcome": _named(outcome(facts), OUTCOMES),
        "why": _whys(facts),
        "priority": jobs.priority,
        "pods": pods[jobs.kind] if len(pods) else np.empty(0, dtype=np.int64),
        **_asked(facts, jobs.kind),
        "other": _other(facts),
        **{
            name: _instants(column)
            for name, column in (
                ("arrival", jobs.arrival),
                ("first_start", jobs.first_start),
                ("last_start", jobs.last_start),
                ("end", jobs.end),
                ("deadline", jobs.deadline),
            )
        },
        "work_ms": _known(jobs.work),
        "said_ms": _known(jobs.said),
        "wait_ms": _known(metrics.wait_ms(facts)),
        "queued_ms": metrics.queued_ms(facts),
        "ran_ms": metrics.ran_ms(facts),
        "jct_ms": _known(metrics.jct_ms(facts)),
        "tardiness_ms": _known(metrics.tardiness_ms(facts)),
        "slowdown": _masked(slow, np.isnan(slow)),
        "bounded_slowdown": _masked(bounded, np.isnan(bounded)),
        "preemptions": jobs.preempted,
        "node_losses": jobs.evicted,
        "lost_ms": jobs.lost,
        "wasted_ms": jobs.wasted,
        "deadline_met": _masked(met == 1, met == NONE),
        "node": _named(last_node(facts), facts.nodes),
    }


def _placements(facts: Facts) -> dict[str, Any]:
    spans = facts.spans
    pod = {
        name: facts.of_shapes(resource)[spans.shape] / unit(resource) for name, resource in AMOUNTS if len(facts.shapes)
    }
    return {
        "job": _keys(facts).take(spans.job),
        "node": _named(spans.node, facts.nodes),
        "devices": _named(spans.devices, [",".join(map(str, one)) for one in facts.device_sets]),
        "at": _instants(spans.at),
        "to": _instants(spans.to),
        **(pod or {name: np.empty(0) for name, _ in AMOUNTS}),
    }


def _series(facts: Facts) -> dict[str, Any]:
    lines = all_series(facts)
    peaks = np.concatenate([line.peak if line.peak is not None else np.full(len(line.at), np.nan) for line in lines])
    mean = np.concatenate([line.mean for line in lines])
    return {
        "series": _each(lines, [line.name for line in lines]),
        "label": _each(lines, [line.label for line in lines]),
        "at": _instants(np.concatenate([line.at for line in lines])),
        "mean": _masked(mean, np.isnan(mean)),
        "peak": _masked(peaks, np.isnan(peaks)),
    }


# columns


def _keys(facts: Facts) -> pa.Array:
    import pyarrow as pa

    ends, text = pa.py_buffer(facts.jobs.key_ends), pa.py_buffer(facts.jobs.key_bytes)
    return pa.Array.from_buffers(pa.large_string(), len(facts.jobs), [None, ends, text])


def _namespaces(facts: Facts) -> pa.Array:
    text, ends, numbers = facts.jobs.key_bytes, facts.jobs.key_ends.tolist(), dict[bytes, int]()
    found = [numbers.setdefault(text[begin:end].partition(b"/")[0], len(numbers)) for begin, end in pairwise(ends)]
    return _named(np.array(found, dtype=np.int32), [name.decode() for name in numbers])


def _named(numbers: NDArray[np.int32], names: Sequence[str]) -> pa.Array:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=numbers == NONE), pa.array(names, type=pa.string()))


def _each(lines: Sequence[Series], words: Sequence[str]) -> pa.Array:
    names = sorted(set(words))
    numbers = [names.index(word) for word in words]
    return _named(np.repeat(np.array(numbers, dtype=np.int32), [len(line.at) for line in lines]), names)


def _whys(facts: Facts) -> pa.Array:
    numbers = np.full(len(facts.jobs), NONE, dtype=np.int32)
    sentences = sorted(set(facts.why.values()))
    at = {sentence: number for number, sentence in enumerate(sentences)}
    for row, why in facts.why.items():
        numbers[row] = at[why]
    return _named(numbers, sentences)


def _asked(facts: Facts, kind: NDArray[np.int32]) -> dict[str, Any]:
    if not len(facts.kinds):
        return {name: np.empty(0) for name, _ in AMOUNTS}
    return {name: facts.of_kinds(resource)[kind] / unit(resource) for name, resource in AMOUNTS}


def _other(facts: Facts) -> pa.Array:
    known = {resource for _, resource in AMOUNTS}
    rest = sorted({name for shape in facts.shapes for name, _ in shape.requests} - known)
    asked = {resource: facts.of_kinds(resource) for resource in rest}
    said = [
        ",".join(f"{r}={int(asked[r][number]) / unit(r):g}" for r in rest if asked[r][number])
        for number in range(len(facts.kinds))
    ]
    return _each_kind(facts.jobs.kind, said)


def _each_kind(kind: NDArray[np.int32], words: Sequence[str]) -> pa.Array:
    names = sorted(set(words))
    numbers = np.array([names.index(word) for word in words], dtype=np.int32)
    return _named(numbers[kind] if len(numbers) else kind, names)


def _instants(column: Ints) -> pa.Array:
    import pyarrow as pa

    times = column.astype("datetime64[ms]")  # no cast by pyarrow, which would import its functions: a tenth of a second
    return pa.array(times, mask=column == NONE, type=pa.timestamp("ms", tz="UTC"))


def _known(column: Ints) -> pa.Array:
    return _masked(column, column == NONE)


def _masked(column: NDArray[Any], none: NDArray[np.bool_]) -> pa.Array:
    import pyarrow as pa

    return pa.array(column, mask=none)


def _plain(made: pa.Table) -> pa.Table:
    """Words instead of numbers of words, which CSV knows nothing of."""
    import pyarrow as pa

    fields: Iterable[pa.Field] = made.schema
    plain = [f.with_type(f.type.value_type) if pa.types.is_dictionary(f.type) else f for f in fields]
    return made.cast(pa.schema(plain))
