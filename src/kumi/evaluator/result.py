"""A result: one run, for people in notebooks and scripts.

    result.summary              the object of summary.json (summary.py)
    result.jobs                 a Columns: result.jobs["wait_ms"] is a NumPy array, .table a pyarrow table, .to_pandas() a frame
    result.placements           the same, of pods on nodes
    result.series("running")    a list of Series, one a label: .at, .mean and .peak are arrays
    result.report(path)         the HTML report of this run; with more results those beside it
In a notebook a result shows itself as a small table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from kumi.api.errors import KumiError
from kumi.evaluator.facts import Facts
from kumi.evaluator.series import MEANS, Series, all_series
from kumi.evaluator.summary import summary
from kumi.evaluator.tables import Which, table

if TYPE_CHECKING:
    import pyarrow as pa


class Columns:
    """A table by column."""

    def __init__(self, made: pa.Table) -> None:
        self.table = made

    def __getitem__(self, name: str) -> NDArray[Any]:
        """One column; numbers without a value are NaN, words and instants without one None and NaT."""
        if name not in self.table.column_names:
            raise KeyError(f"no column {name}: there are {', '.join(self.table.column_names)}")
        column = self.table[name].combine_chunks()
        found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.column_names)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def to_pandas(self) -> Any:
        """A data frame. KumiError where pandas is not installed."""
        try:
            return self.table.to_pandas()
        except ImportError as error:
            raise KumiError(
                f"a data frame needs pandas ({error}): pip install pandas; .table is a pyarrow table without it"
            ) from error


@dataclass(frozen=True)
class Result:
    """One run of one policy with one seed."""

    facts: Facts
    policy: str
    seed: int
    run_s: float

    @property
    def label(self) -> str:
        """What its lines and columns are called: unique among the runs that are shown together, but for the seed."""
        return self.policy

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Its object of `summary.json`."""
        return summary(self.facts, policy=self.policy, seed=self.seed, run_s=self.run_s)

    @cached_property
    def jobs(self) -> Columns:
        """One row a job."""
        return self._columns("jobs")

    @cached_property
    def placements(self) -> Columns:
        """One row a pod on a node."""
        return self._columns("placements")

    @cached_property
    def all_series(self) -> list[Series]:
        """Everything over time."""
        return all_series(self.facts)

    def series(self, name: str) -> list[Series]:
        """Those of this name, one a label."""
        if name not in MEANS:
            raise KeyError(f"no series {name}: there are {', '.join(MEANS)}")
        return [line for line in self.all_series if line.name == name]

    def report(self, path: str | Path, *others: Result) -> Path:
        """Writes the HTML report of this run, and of others side by side with it; where it is. OSError."""
        from kumi.evaluator.report import page, title

        shown, place = (self, *others), Path(path)
        place.write_bytes(page(shown, title(shown)))
        return place

    def never_finished(self) -> dict[str, str]:
        """Job -> why, of those that never ran to their end."""
        return {self.facts.jobs.key(row): why for row, why in sorted(self.facts.why.items())}

    def _columns(self, which: Which) -> Columns:
        return Columns(table(self.facts, which, self.policy, self.seed))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in self._shown()
        )
        return f"<table><caption>{escape(self.label)}, seed {self.seed}</caption><tbody>{rows}</tbody></table>"

    def _shown(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for key, value in self.summary.items():
            if key in ("policy", "seed", "more", "parameters") or value in ("", []):
                continue
            if isinstance(value, dict):
                found += [(f"{key} {part}", _text(of)) for part, of in value.items()]
            else:
                found.append((key, _text(value)))
        return found


def _text(value: Any) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{key} {_text(of)}" for key, of in value.items())
        case list():
            return " ".join(_text(of) for of in value)
        case float():
            return f"{value:,.1f}"
        case int():
            return f"{value:,}"
    return str(value)
