"""Seats: what placement says of one pod, assumed as it is said: it goes there, or it waits and why.

Said once     Unplaced is decided when the reasons differ from those before.
Cost          O(1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kumi.engine.decisions import Bind, Unplaced
from kumi.engine.model import Pod
from kumi.engine.reasons import Reason

if TYPE_CHECKING:
    from kumi.engine.state import State


def bind(state: State, pod: Pod, node: str, devices: tuple[int, ...] = ()) -> Bind:
    """The pod goes there: assumed. `devices`: where they were chosen before; else the policy's choice."""
    row = state.nodes.row_by_name[node]
    made = Bind(pod.uid, node, devices or state.site.plugins.devices(state.nodes, pod, row))
    state.assume(made)
    return made


def unplaced(state: State, pod: Pod, reasons: tuple[Reason, ...]) -> list[Unplaced]:
    """The pod waits for these reasons; nothing where it was told them already."""
    if state.refusals.get(pod.uid) == reasons:
        return []
    state.journal.put(state.refusals, pod.uid, reasons)
    return [Unplaced(pod.uid, reasons)]
