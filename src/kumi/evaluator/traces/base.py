"""What readers of traces share: a trace's bad news, the text of its files, and the way to a Load.

A reader   is one function `read(nodes, jobs, **options) -> Load` in a file of its own, and a line of FORMATS. It looks at its
           files at once, so that bad news come before a run starts where they can; the jobs themselves are read as a stream,
           each time that the load is played.
Errors     name the file, the line (from 1), the column where there is one, what is wrong and what to do.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from kumi.api.errors import KumiError
from kumi.evaluator.model import Load

GZIP = b"\x1f\x8b"
"""what a compressed file starts with, whatever its name"""


LARGEST = 10**10
"""The largest number of a trace: 317 years in seconds, 10 PB in MiB. More is a mistake: sums of it don't fit 64 bits."""


class TraceError(KumiError):
    """A file of a trace can't be read. `line` from 1; 0: the file as a whole. `column` "": the line as a whole."""

    def __init__(self, path: Path, what: str, line: int = 0, column: str = "") -> None:
        self.path, self.line, self.column, self.what = path, line, column, what
        place = "".join((str(path), f", line {line}" if line else "", f", column {column}" if column else ""))
        super().__init__(f"{place}: {what}")

    def __reduce__(self) -> tuple[type[TraceError], tuple[Path, str, int, str]]:
        return type(self), (self.path, self.what, self.line, self.column)


@dataclass(frozen=True, slots=True)
class Format:
    """A format that the command line knows. `read(nodes, jobs, **options)`: its load, or TraceError; the file of nodes says what
    the cluster is, and is None where that of the jobs does. `nodes`: it needs one. `options`: name -> the words it may be, of
    which the first is what counts when nobody says."""

    read: Callable[..., Load]
    about: str
    nodes: bool = False
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)


NO_TEXT = "is not UTF-8 text ({}): convert it, or check that it is the right file"


@contextmanager
def opened(path: Path, errors: str = "strict") -> Iterator[IO[str]]:
    """The text of a file, unpacked if it is gzip; TraceError if it isn't there, is no text, or is cut off. `errors`: what
    Python does with bytes that are no UTF-8."""
    try:
        with path.open("rb") as head:
            packed = head.read(2) == GZIP
        with (gzip.open if packed else open)(path, "rt", encoding="utf-8-sig", errors=errors, newline="") as text:
            yield text
    except FileNotFoundError:
        raise TraceError(path, "there is no such file: check the path") from None
    except UnicodeDecodeError as error:
        raise TraceError(path, NO_TEXT.format(error.reason)) from None
    except (gzip.BadGzipFile, EOFError) as error:
        raise TraceError(path, f"can't be unpacked ({error}): fetch it again") from None
    except OSError as error:
        raise TraceError(path, f"can't be read: {error.strerror or error}") from None
