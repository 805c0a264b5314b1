"""Failures: what is said of a run that breaks down, and of an experiment in which some did.

The rule   who is to blame is named: the plug-in in whose file the error was raised, or passed through last, else Kumi; and whose
           run it was, and the virtual time
           a policy that breaks down takes no other's results with it: the other runs go on, and what they gave counts
           what is wrong with what was given (KumiError) would be wrong in every run: the first ends all
Not here   what is wrong with a load or a policy: whoever reads it says so.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kumi.api.errors import InvariantError, KumiError
from kumi.evaluator.span import span

if TYPE_CHECKING:
    from kumi.evaluator.play import Played

NAMED_AT_MOST = 5
"""runs whose failures are told"""


class RunError(KumiError):
    """One run broke down; others need not."""


class SomeFailed(KumiError):
    """Some runs of an experiment did. `played`: what the others gave, None for those not begun."""

    def __init__(self, whys: Sequence[str], played: Sequence[Played | None]) -> None:
        told = list(dict.fromkeys(whys))
        more = len(told) - NAMED_AT_MOST
        super().__init__("\n".join([*told[:NAMED_AT_MOST], *([f"and {more} more runs failed"] if more > 0 else [])]))
        self.played = played


def broken(error: Exception, name: str, virtual_ms: int, plugins: Mapping[str, object]) -> RunError:
    """What is said of it. `name`: of the run; `virtual_ms`: since its start."""
    what = str(error) if isinstance(error, InvariantError) else f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        for plugin, made in plugins.items():
            if frame.filename == file_of(made):
                who = f"the plug-in {plugin} failed ({frame.filename}, line {frame.lineno})"
                return RunError(f"{name}: at {span(virtual_ms)} {who}: {what}")
    place = f"{'/'.join(Path(frames[-1].filename).parts[-3:])}, line {frames[-1].lineno}" if frames else "nowhere"
    beside = f", or of its plug-ins ({', '.join(sorted(plugins))})" if plugins else ""
    return RunError(f"{name}: at {span(virtual_ms)} the run failed ({place}), by a mistake of Kumi's{beside}: {what}")


def file_of(plugin: object) -> str:
    """The file in which a plug-in is written; "" for none."""
    opens = inspect.unwrap(plugin.open) if hasattr(plugin, "open") else None
    return str(getattr(opens, "__globals__", {}).get("__file__") or "")
