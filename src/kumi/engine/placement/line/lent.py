"""Lent: the single devices of nodes that pods share: who for whom room is kept has which, and how full they get.

The rule   kept         room is kept on single devices, those of the rule of ../devices.py when it was found: they are used from
                        its beginning to its end
           fullest(d)   the most that is used of device d at any time from now on until then: as pods end that have some of it,
                        and as those begin, and end, for whom room is kept
           whole(n)     the most whole devices of which nobody knows which, at any such time
           in all       sum of fullest + whole: what counts as used of the resource, so that as much is free as on the devices
Why        who finds a device that is free all the while takes it from nobody; the sum of the amounts alone doesn't say so. And
           were it not known on which devices room is kept, what others are given could leave all of it, and none on any one.
Unknown    where a node has other devices by now, those of the rule at the beginning count. On a node with whole devices of which
           nobody knows which (of pods from before anybody shared one) more counts as used than is: who waits for such a node
           may start later than it was said once.
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
from kumi.engine.model import PodShape
from kumi.engine.placement.devices import GPU, WHOLE, asked
from kumi.engine.placement.line.asking import Places, Reservation
from kumi.engine.placement.line.changes import Change, Step, steps_of
from kumi.engine.placement.nodes import Ints, Nodes


class Fullest(NamedTuple):
    """Of a row: what is used of each device, and of all of them, at the most."""

    row: int
    used: Ints
    total: int


class Lent:
    """See the module; made in one look, for it. What begins and ends here does so in trials that are taken back."""

    def __init__(self, nodes: Nodes, journal: Journal) -> None:
        self._nodes, self._journal = nodes, journal
        self._kept: dict[str, dict[tuple[int, int], tuple[int, ...]]] = {}
        """key -> (id of a shape of its places, row) -> the devices that are kept there"""
        self._begun: dict[tuple[str, int, int], tuple[int, ...]] = {}
        """(key, number of the change, row) -> the devices of those that have begun"""

    def lay(self, places: Places) -> tuple[tuple[int, ...], ...]:
        """The devices for pods at these places, as the tables are now, of each of the places; the largest choose first. The state
        is left as it was."""
        nodes, found = self._nodes, dict[int, tuple[int, ...]]()
        with self._journal.trial():
            for n, (node, shape, more) in sorted(enumerate(places), key=lambda one: (-_each(one[1][1]), one[0])):
                row = nodes.row_by_name[node]
                nodes.use_rows(np.array([row]), shape.requests, np.array([more]))
                found[n] = nodes.devices.fill(shape, np.array([row]), np.array([more]))[0]
        return tuple(found[n] for n in range(len(places)))

    def keep(self, reservation: Reservation) -> None:
        """Its devices are kept for it when it begins."""
        rows = self._nodes.row_by_name
        kept: dict[tuple[int, int], tuple[int, ...]] = {}
        for (node, shape, _), devices in zip(reservation.places, reservation.devices, strict=True):
            at = (id(shape), rows[node])
            kept[at] = (*kept.get(at, ()), *devices)
        self._kept[reservation.key] = kept

    def drop(self, key: str) -> None:
        """None are kept for that one."""
        self._kept.pop(key, None)

    def follow(self, change: Change) -> None:
        """The devices are as after the change, which may be in what nodes use already."""
        self._nodes.stir(change.rows)
        for pod in change.pods:
            self._nodes.devices.unseat_pod(pod)
        if not change.pods:
            for row, step in steps_of(change):
                self._change(row, step)

    def fullest(self, row: int, steps: Iterable[Step]) -> Fullest:
        """Of the row from now on, after each of the steps, in their order. The state is left as it was."""
        nodes, line = self._nodes, self._nodes.line_by_resource[GPU]
        with self._journal.trial():
            most, unknown = nodes.devices.fullness(row)
            for _, at_once in groupby(steps, key=lambda step: step.at_ms):
                for step in at_once:
                    nodes.stir(row)
                    self._journal.add(nodes.used, (line, row), asked(step.shape) * step.more)
                    for pod in step.pods:
                        if (seat := nodes.devices.seats.get(pod.uid)) is not None and seat.row == row:
                            nodes.devices.unseat_pod(pod)
                    if not step.pods and nodes.devices.concern(step.shape):
                        self._change(row, step)
                used, whole = nodes.devices.fullness(row)
                most, unknown = np.maximum(most, used), max(unknown, whole)
        return Fullest(row, most, int(most.sum()) + unknown * WHOLE)

    def _change(self, row: int, step: Step) -> None:
        """What is kept begins on the row, or ends, if it ever began."""
        devices, at = self._nodes.devices, (step.key, step.number, row)
        if step.begins:
            given = self._kept.get(step.key, {}).get((id(step.shape), row), ())
            if given and max(given) < devices.there(row):
                devices.give(row, given, step.shape.share or WHOLE)
            else:
                (given,) = devices.fill(step.shape, np.array([row]), np.array([step.more]))
            self._journal.put(self._begun, at, given)
        else:
            devices.give(row, self._begun.get(at, ()), -(step.shape.share or WHOLE))
            self._journal.drop(self._begun, at)


def _each(shape: PodShape) -> int:
    return shape.share or asked(shape)
