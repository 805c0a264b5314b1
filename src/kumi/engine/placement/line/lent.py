"""Lent: the single devices of a node that pods share, at their fullest over a stretch of time.

The rule   fullest(d)   the most that is used of device d at any time from now on until then: as pods end that have some of it,
                        and as those come for whom room is kept, each on the device that the rule of ../devices.py gives it then
           whole(n)     the most whole devices of which nobody knows which, at any such time; whole ones that are kept for
                        somebody are such
           in all       sum of fullest + whole: what counts as used of the resource, so that as much is free as on the devices
Why        who finds a device that is free all the while takes it from nobody; the sum of the amounts alone doesn't say so.
Units      thousandths of a device.
Cost       O(devices x what changes on the node).
Source     Kumi's own.
Not here   amounts of all resources: timeline.py; which device a pod gets: ../devices.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kumi.engine.journal import Journal
from kumi.engine.placement.devices import GPU, WHOLE, asked
from kumi.engine.placement.line.changes import Step
from kumi.engine.placement.nodes import Ints, Nodes


class Fullest(NamedTuple):
    """Of a row: what is used of each device, and of all of them, at the most."""

    row: int
    used: Ints
    total: int


def fullest(nodes: Nodes, journal: Journal, row: int, steps: Iterable[Step]) -> Fullest:
    """Of the row from now on, after each of the steps, in their order. The state is left as it was."""
    devices, line = nodes.devices, nodes.line_by_resource[GPU]
    with journal.trial():
        most, unknown = devices.fullness(row)
        for _, at_once in groupby(steps, key=lambda step: step.at_ms):
            for step in at_once:
                for pod in step.pods:
                    if (seat := devices.seats.get(pod.uid)) is not None and seat.row == row:
                        devices.unseat_pod(pod)
                journal.add(nodes.used, (line, row), asked(step.shape) * step.more)
                if step.more > 0:
                    devices.fill(step.shape, np.array([row]), np.array([step.more]))
            used, whole = devices.fullness(row)
            most, unknown = np.maximum(most, used), max(unknown, whole)
    return Fullest(row, most, int(most.sum()) + unknown * WHOLE)
