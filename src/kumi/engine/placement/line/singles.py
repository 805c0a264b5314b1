"""Singles: pods on their own as those that wait in line, by the policy's `line`.

The rule   open             alone.py, which is asked in the place of this
           strict, easy, conservative   the rule of that name, over the pods in their order (../../waiting.py)
Room       the nodes that take the shape and have room; of these the best score, the smallest name. Where something is kept for
           others (timeline.py), of the nodes that have room beside that. For a time to come: nodes that take the shape whoever is
           there.
Skipped    a pod for which a node was cleared (nominations.py) has its place already.
Gangs      what is kept for a gang (../actions/lined.py) is kept from pods on their own as well.
Evicting   only the first that finds no room may take it from pods that matter less (../preempting.py): others would pass it.
Told       each that was looked at, what keeps it: the nodes, or for whom the room that it would find is kept, pods and gangs.
Said once  a pod is told again when what keeps it is another thing; who is ahead, as it was then.
Looked at  when a node gained room, a pod came, the first of the line or one with a reservation left it, what is kept for gangs
           changed, or something that was to end by now has not.
Cost       as the rule says; O(those that came) else.
Not here   what is said of each: kumi.bridge.messages.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.decisions import Decision
from kumi.engine.model import Pod
from kumi.engine.placement.line import conservative, easy, strict
from kumi.engine.placement.line.asking import No, Places, Raised, Seen, Taken, Try
from kumi.engine.placement.line.outlook import Needs, needed
from kumi.engine.placement.line.timeline import Around, Timeline
from kumi.engine.placement.nodes import NOWHERE, Ints, Mask
from kumi.engine.placement.seats import bind, unplaced
from kumi.engine.reasons import Code, Reason
from kumi.engine.settings import Discipline

if TYPE_CHECKING:
    from kumi.engine.state import State


def decide(state: State, now_ms: int, stuck: list[Pod], wanted: dict[tuple[int, int], int]) -> list[Decision]:
    """Places pods on their own. `stuck`: gets those that may look for victims; `wanted`: what others get, by (line, row)."""
    if not _is_due(state, now_ms):
        return []
    seen_nodes = state.nodes.changed  # a pod that is bound below may be who one before it waits for
    look = _Look(state)
    seen = look.at_line(_timeline(state, now_ms, wanted))
    look.tell(seen)
    if seen.first:
        stuck.append(state.pods.by_uid[seen.first])
    waiting, journal, ends = state.pods.waiting, state.journal, state.pods.ends
    for uid in list(state.newcomers):
        journal.drop(state.newcomers, uid)
    journal.swap(state, "nodes_seen", seen_nodes)
    journal.swap(waiting, "first", seen.first)
    journal.swap(waiting, "heeded", state.answers.reserved)
    journal.swap(waiting, "reservations", seen.reservations)
    journal.swap(waiting, "wake_ms", seen.wake_ms(now_ms, ends.next_ms(now_ms) if ends is not None else None))
    return look.decided


def _is_due(state: State, now_ms: int) -> bool:
    waiting = state.pods.waiting
    if state.newcomers or state.nodes_seen != state.nodes.changed or waiting.heeded != state.answers.reserved:
        return True
    if waiting.wake_ms is not None and waiting.wake_ms <= now_ms:
        return True
    return any(not _waits(state, uid) for uid in (*waiting.reservations, *([waiting.first] if waiting.first else ())))


def _waits(state: State, uid: str) -> bool:
    return (
        uid in state.pods.by_uid
        and uid not in state.nominations.node_of
        and state.pods.waiting.has(state.pods.by_uid[uid])
    )


def _timeline(state: State, now_ms: int, wanted: dict[tuple[int, int], int]) -> Timeline:
    nodes = state.nodes

    def leaves() -> Ints:
        """What of that which is leaving was promised to others: as much as wasn't counted as used already."""
        promised = np.zeros_like(nodes.used)
        for (line, row), amount in wanted.items():
            promised[line, row] = amount
        least: Ints = np.minimum(nodes.releasing, promised)
        return least

    timeline = Timeline(Around(nodes, state.pods, state.journal, now_ms, tuple, leaves))
    for reservation, said_ms in state.answers.reserved.values():
        timeline.keep(reservation, said_ms)
    return timeline


@dataclass(slots=True)
class _Look:
    """One look at the line, and what comes of it."""

    state: State
    decided: list[Decision] = field(default_factory=list)
    refusals: dict[Hashable, tuple[Reason, ...]] = field(default_factory=dict)
    """what the nodes said to pods of a kind"""

    def at_line(self, timeline: Timeline) -> Seen:
        """By the policy's rule."""
        settings, kept = self.state.profile.settings, self.state.pods.waiting.reservations
        held = [self._single(uid) for uid in kept if _waits(self.state, uid)]
        match settings.line:
            case Discipline.STRICT:
                return strict.run(self._singles(), timeline)
            case Discipline.EASY:
                return easy.run(self._singles(), timeline, held[0] if held else None, settings.depth)
        reservations = {single.key: (kept[single.key], single.said_ms) for single in held}
        return conservative.run(self._singles(), timeline, reservations, settings.depth)

    def tell(self, seen: Seen) -> None:
        """Those that were refused, and those that came and weren't looked at."""
        state = self.state
        for uid, (no, ahead) in seen.refused.items():
            pod = state.pods.by_uid[uid]
            if no is No.DELAYS and ahead:
                self._tell(pod, (Reason(Code.WOULD_DELAY, where=ahead),))
            else:  # it delays nobody where nothing is kept: who is on the nodes stands in its way
                self._tell(pod, self._refusals(pod))
        for uid in sorted(state.newcomers):
            if uid not in seen.refused and uid not in state.pods.node_of and uid not in state.nominations.node_of:
                self._tell(state.pods.by_uid[uid], (Reason(Code.BEHIND, where=seen.name),))

    def _tell(self, pod: Pod, reasons: tuple[Reason, ...]) -> None:
        told = self.state.refusals.get(pod.uid)
        if not told or told[0].code is not reasons[0].code or told[0].code not in _OF_THE_LINE:
            self.decided += unplaced(self.state, pod, reasons)

    def _refusals(self, pod: Pod) -> tuple[Reason, ...]:
        kind = _kind(self.state, pod)
        if kind is None or kind not in self.refusals:
            said = self.state.site.plugins.filter.refusals(self.state.nodes, pod)
            if kind is None:
                return said
            self.refusals[kind] = said
        return self.refusals[kind]

    def _singles(self) -> Iterator[Single]:
        for uid in self.state.pods.waiting.in_order():
            if uid not in self.state.nominations.node_of:
                yield self._single(uid)

    def _single(self, uid: str) -> Single:
        return Single(self.state, self.state.pods.by_uid[uid], self.decided)


_FEW = 4
"""rows that are looked at one by one: an array operation costs more"""
_OF_THE_LINE = (Code.BEHIND, Code.WOULD_DELAY)
"""reasons that name who is ahead, who is another one soon"""


def _kind(state: State, pod: Pod) -> Hashable:
    """Pods of one kind have room on the same nodes; None: of this one there is no other."""
    if pod.shape.neighbours is not None and pod.shape.neighbours.binds:
        return None
    return (pod.shape, state.nodes.residents.heeds(pod))


class Single:
    """A pod on its own, see asking.Asker. `decided`: gets its Bind."""

    __slots__ = ("_asked", "_decided", "_pod", "_standing", "_state", "key", "kind", "name", "priority", "said_ms")

    def __init__(self, state: State, pod: Pod, decided: list[Decision]) -> None:
        self._state, self._pod, self._decided = state, pod, decided
        self.key, self.name, self.priority = pod.uid, f"pod {pod.key}", pod.priority
        self.said_ms = pod.member.execution_ms
        self.kind = _kind(state, pod)
        self._standing: Mask | None = None
        self._asked = state.nodes.asked(pod.shape.requests)

    def start(self, raised: Raised | None) -> Try:
        """See Asker."""
        state, pod = self._state, self._pod
        devices: tuple[int, ...] = ()
        if raised is None:
            node = state.best.node(pod)
        else:
            with raised:
                rows = self._rows(state.site.plugins.filter.mask(state.nodes, pod))
            node = self._best(rows)
        if node is None:
            return Try.FULL if raised is None or state.best.node(pod) is None else Try.KEPT
        if raised is not None and state.nodes.devices.concern(pod.shape):
            with raised:
                devices = state.site.plugins.devices(state.nodes, pod, state.nodes.row_by_name[node])
        self._decided.append(bind(state, pod, node, devices))
        return Try.STARTED

    def taken(self) -> Taken:
        """None: the table of pods shows it at once."""
        return ()

    def fits(self) -> bool:
        """See Asker."""
        return bool(self._rows(self._whoever_is_there()).size)

    def sketch(self) -> Places | None:
        """See Asker."""
        node = self._best(self._rows(self._whoever_is_there()))
        return None if node is None else ((node, self._pod.shape, 1),)

    def helped(self, rows: Ints) -> bool:
        """See Asker."""
        nodes, mask = self._state.nodes, self._whoever_is_there()
        if rows.size > _FEW:
            return bool(nodes.places(self._pod.shape, mask, rows).any())
        if any(line == NOWHERE for line, _ in self._asked):
            return False
        return any(mask[row] and all(nodes.room(line, row) >= n for line, n in self._asked) for row in rows.tolist())

    def needs(self) -> Needs | None:
        """See Asker."""
        return needed(1, [self._asked], self._whoever_is_there())

    def _whoever_is_there(self) -> Mask:
        if self._standing is None:
            self._standing = self._state.site.plugins.filter.standing(self._state.nodes, self._pod)
        return self._standing

    def _rows(self, mask: Mask) -> Ints:
        """The rows of the mask that have room, by name."""
        nodes = self._state.nodes
        rows = nodes.by_name()
        found: Ints = rows[nodes.places(self._pod.shape, mask, rows) > 0]
        return found

    def _best(self, rows: Ints) -> str | None:
        if not rows.size:
            return None
        nodes = self._state.nodes
        scores = self._state.site.plugins.score.score(nodes, self._pod, rows, np.zeros(rows.size, dtype=np.int64))
        return nodes.name_by_row()[int(rows[np.argmax(scores)])]
