"""Traces: files in which somebody wrote down what jobs came to a cluster, as Loads. One file a format.

    FORMATS     name -> how it is read           read(format, nodes, jobs, **options) -> Load
    base        what a reader is, and its bad news
    openb       Alibaba's GPU cluster trace of 2023
    swf         the standard workload format of parallel machines

To add a format: a file with `read` and `FORMAT`, and a line in FORMATS.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from kumi.api.errors import KumiError
from kumi.evaluator.model import Load
from kumi.evaluator.traces.base import Format

FORMATS: dict[str, str] = {
    "openb": "kumi.evaluator.traces.openb",
    "swf": "kumi.evaluator.traces.swf",
    "kumi": "kumi.evaluator.traces.record",
}
"""what `kumi evaluate --format` may name -> the module that reads it, which is imported when it is asked for"""


def known(name: str) -> Format:
    """A format by its name. KumiError: there is none of it."""
    if name not in FORMATS:
        raise KumiError(f"there is no trace format {name!r}: it may be {', '.join(FORMATS)}")
    found: Format = import_module(FORMATS[name]).FORMAT
    return found


def read(name: str, nodes: Path | None, jobs: Path, **options: str) -> Load:
    """A trace's load. KumiError for a format or an option that isn't there; TraceError (base.py) for a file that can't be
    read."""
    format = known(name)
    for option, word in options.items():
        words = format.options.get(option, ())
        if word not in words:
            may = f"it may be {', '.join(words)}" if words else f"the options of {name} are {_options(format)}"
            raise KumiError(f"{name}: {option}={word} means nothing: {may}")
    if format.nodes and nodes is None:
        raise KumiError(f"{name} needs a file of nodes as well as one of jobs")
    return format.read(nodes, jobs, **options)


def _options(format: Format) -> str:
    return ", ".join(f"{name} ({' or '.join(words)})" for name, words in format.options.items()) or "none"
