"""Surroundings: all that a session of placement looks at, besides the scheduler's file.

Source        Volcano: the scheduler's snapshot.
Not here      how it is kept: ../state.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kumi.engine.journal import Journal
from kumi.engine.placement.line.asking import Held
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.tasks import Job, Tasks
from kumi.engine.pods import Pods


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`tasks`: gangs and their pods; `pods`: every pod, those of no gang as well. `now_ms`: since the epoch."""

    tasks: Tasks
    nodes: Nodes
    pods: Pods
    journal: Journal
    now_ms: int
    cleared_ms: int | None = None
    """when tasks last had to go whoever waited (the shuffle action evicted some); None: not yet"""
    reserved: Mapping[str, Held] = field(default_factory=dict)
    """what the last session kept for gangs"""
    promised: Mapping[str, str] = field(default_factory=dict)
    """tasks that the last session promised a place, and the node, by uid"""
    ahead: Callable[[Job], None] | None = None
    """called with each gang before its turn: places the pods on their own that go before it (ahead.py)"""
