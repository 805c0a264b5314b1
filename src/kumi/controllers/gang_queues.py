"""Volcano's queues: the two that are always there, their states, and what they hold.

The rule   made       `default` and `root` (which gives nothing back), where they are missing
           state      Open where nothing was said; once closed, Closing while it has pod groups, Closed after; else Unknown
           counts     pod groups by phase
           allocated  what its gangs hold, and those of the queues below it, as the scheduler's state knows it
           commands   CloseQueue closes the queue and those below it that are open, and marks these (volcano.sh/closed-by-parent);
                      OpenQueue opens it and those below it that were closed with it. `root` isn't closed, nor a queue opened
                      whose parent isn't open. A command is deleted with what it led to
Pace       a status is written when it differs, no more often than every PACE_MS.
Beside     another scheduler (own_gangs.py), which may write them too: a queue that has pod groups of others, or has such queues
           below it, is theirs, and so are its commands; of the other queues those with pod groups of Kumi's are told of, when
           there is another thing to say than before; an empty one only where it has no state, or says that it isn't empty.
Runs with  the scheduler, in one pump, and after it: it reads the state that the scheduler decides on.
Order      commands, then queues, by key.
Cost       O(queues) a look.
Events     OpenQueue, CloseQueue on the queue.
Source     Volcano: queue controller, bus commands.
Not here   what a queue may have: kumi.engine.placement.plugins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kumi.api.meta import Object
from kumi.api.quantity import format_amount
from kumi.api.scheme import SCHEME
from kumi.api.volcano import PodGroup, Queue
from kumi.api.volcano_command import CLOSE_QUEUE, OPEN_QUEUE, Command
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import status_patch
from kumi.bridge.out.reference import reference
from kumi.bridge.scheduler_names import SCHEDULERS
from kumi.controllers.own_gangs import OwnGangs
from kumi.engine.state import State
from kumi.runtime.decider import Batch, Step
from kumi.runtime.reconcile import Create, Delete, Note, Patch, Write

PACE_MS = 500
DEFAULT, ROOT = "default", "root"
CLOSED_BY_PARENT = "volcano.sh/closed-by-parent"
OPEN, CLOSED, CLOSING, UNKNOWN = "Open", "Closed", "Closing", "Unknown"
COUNTED = {
    "Pending": "pending",
    "Inqueue": "inqueue",
    "Running": "running",
    "Unknown": "unknown",
    "Completed": "completed",
}
"""phase of a pod group -> the field that counts it"""
MADE = {DEFAULT: {"reclaimable": True, "weight": 1}, ROOT: {"reclaimable": False, "weight": 1}}


class GangQueues:
    """See the module and kumi.runtime.decider.Decider. `own_gangs`: which pod groups are Kumi's; by default all."""

    name = "kumi-gang-queues"

    def __init__(self, state: State, own_gangs: OwnGangs | None = None) -> None:
        self._state = state
        self._own = own_gangs or OwnGangs(SCHEDULERS)
        self._queues: dict[str, Queue] = {}
        self._groups: dict[str, tuple[str, str]] = {}
        """pod group -> its queue and its phase"""
        self._phases: dict[str, Counter[str]] = {}
        self._commands: dict[str, Command] = {}
        self._said: dict[str, JsonObject] = {}
        """queue -> the status that was written and isn't seen yet"""
        self._told: dict[str, JsonObject] = {}
        """queue -> the status that was written last"""
        self._written_ms: dict[str, int] = {}
        self._asked: dict[str, None] = {}
        """tokens of queues that are being made and of commands that are being carried out"""

    @property
    def watches(self) -> tuple[type[Object], ...]:
        """See Decider."""
        return (Queue, PodGroup, Command)

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        """See Decider."""
        if type_ is PodGroup:
            self._count(key, new if isinstance(new, PodGroup) else None)
        elif type_ is Command:
            if isinstance(new, Command):
                self._commands[key] = new
            else:
                self._commands.pop(key, None)
                self._asked.pop(f"command {key}", None)
        elif isinstance(new, Queue):
            self._queues[key] = new
            self._said.pop(key, None)
        else:
            for table in (self._queues, self._said, self._told, self._written_ms):
                table.pop(key, None)
            self._asked.pop(f"make {key}", None)

    def decide(self, now_ms: int) -> Batch:
        """See Decider."""
        theirs = self._theirs()
        steps = [*self._missing(), *self._carried_out(theirs)]
        busy = {queue for step in steps for queue in _queues_of(step)}
        wakes = []
        for name, queue in sorted(self._queues.items()):
            status = self._status(queue, self._state_of(queue, self._word(queue)))
            waits = name in busy or name in self._said or queue.metadata.deletion_timestamp is not None
            if waits or not _differs(queue, status) or not self._may_tell(queue, status, theirs):
                continue
            due_ms = self._written_ms.get(name, now_ms - PACE_MS) + PACE_MS
            if due_ms > now_ms:
                wakes.append(due_ms)
                continue
            self._written_ms[name] = now_ms
            steps.append(Step(f"status {name}", (self._status_write(queue, status),)))
        return Batch(tuple(steps), min(wakes, default=None))

    def settle(self, token: str, ok: bool, error: str) -> None:
        """See Decider."""
        if ok:
            return
        self._asked.pop(token, None)
        what, _, key = token.partition(" ")
        if what == "status":
            self._said.pop(key, None)
            self._told.pop(key, None)
        elif what == "command":
            self._said.clear()

    # what comes in

    def _count(self, key: str, new: PodGroup | None) -> None:
        before = self._groups.pop(key, None)
        if before is not None:
            self._phases[before[0]][before[1]] -= 1
        if new is not None:
            queue, phase = new.spec.queue, new.status.phase or "Pending"
            self._groups[key] = (queue, phase)
            self._phases.setdefault(queue, Counter())[phase] += 1

    # other schedulers

    def _theirs(self) -> dict[str, None]:
        """The queues with pod groups of others, and those above them."""
        if self._own.has_all:
            return {}
        having = {queue for key, (queue, _) in self._groups.items() if not self._own.has(key)}
        return {name: None for name in self._queues if not having.isdisjoint((name, *self._below(name)))}

    def _may_tell(self, queue: Queue, status: JsonObject, theirs: dict[str, None]) -> bool:
        """Is this status Kumi's to write?"""
        name = queue.metadata.name
        if self._own.has_all:
            return True
        if name in theirs or self._told.get(name) == status:
            return False
        inside = any(sum(self._phases.get(one, Counter()).values()) for one in (name, *self._below(name)))
        said = queue.status
        holds = any(getattr(said, field) for field in COUNTED.values()) or any(
            a != "0" for a in said.allocated.values()
        )
        return inside or not said.state or holds

    # queues

    def _missing(self) -> Iterator[Step]:
        for name, spec in MADE.items():
            token = f"make {name}"
            if name not in self._queues and token not in self._asked:
                self._asked[token] = None
                kind = SCHEME.of(Queue)
                made = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": spec}
                yield Step(token, (Create(made),))

    def _word(self, queue: Queue) -> str:
        """The state that it was given last."""
        said = self._said.get(queue.metadata.name)
        return str(said["state"]) if said is not None else queue.status.state

    def _state_of(self, queue: Queue, word: str) -> str:
        if word in ("", OPEN):
            return OPEN
        if word in (CLOSED, CLOSING):
            return CLOSING if sum(self._phases.get(queue.metadata.name, Counter()).values()) else CLOSED
        return UNKNOWN

    def _status(self, queue: Queue, state: str) -> JsonObject:
        name = queue.metadata.name
        phases = self._phases.get(name, Counter())
        status: JsonObject = {field: phases[phase] for phase, field in COUNTED.items()}
        return {**status, "state": state, "allocated": self._allocated(name)}

    def _allocated(self, name: str) -> dict[str, str]:
        total: dict[str, int] = {}
        for one in (name, *self._below(name)):
            for resource, amount in self._state.tasks.allocated.get(one, {}).items():
                total[resource] = total.get(resource, 0) + amount
        return {resource: format_amount(resource, amount) for resource, amount in sorted(total.items()) if amount}

    def _status_write(self, queue: Queue, status: JsonObject) -> Patch:
        self._said[queue.metadata.name] = self._told[queue.metadata.name] = status
        gone = {resource: None for resource in queue.status.allocated if resource not in status["allocated"]}
        return status_patch(SCHEME.of(Queue), queue, {**status, "allocated": {**gone, **status["allocated"]}})

    def _below(self, name: str) -> list[str]:
        """The queues below this one, those nearer first; a queue that is its own ancestor is met once."""
        children: dict[str, list[str]] = {}
        for one, queue in sorted(self._queues.items()):
            if one != ROOT:
                children.setdefault(queue.spec.parent or ROOT, []).append(one)
        found: list[str] = []
        left = list(children.get(name, ()))
        while left:
            one = left.pop(0)
            if one not in found and one != name:
                found.append(one)
                left += children.get(one, ())
        return found

    # commands

    def _carried_out(self, theirs: dict[str, None]) -> Iterator[Step]:
        touched: dict[str, None] = {}
        for key, command in sorted(self._commands.items()):
            token, target = f"command {key}", command.target
            if token in self._asked or command.action not in (OPEN_QUEUE, CLOSE_QUEUE):
                continue
            queue = self._queues.get(target.name) if target is not None and target.kind == "Queue" else None
            if queue is not None and queue.metadata.name in theirs:
                continue
            told = self._change(queue, command.action) if queue is not None else []
            if any(one.metadata.name in touched for one, _ in told):
                continue
            touched.update(dict.fromkeys(one.metadata.name for one, _ in told))
            self._asked[token] = None
            writes: list[Write] = []
            for one, by_parent in told:
                word = OPEN if command.action == OPEN_QUEUE else CLOSED
                writes += self._changed(one, word, by_parent=by_parent)
            meta = command.metadata
            writes.append(Delete(SCHEME.of(Command), meta.namespace, meta.name, meta.uid))
            yield Step(token, tuple(writes), tuple(_note(one, command.action) for one, _ in told))

    def _change(self, queue: Queue, action: str) -> list[tuple[Queue, bool]]:
        """Whom it opens or closes, and whether with its parent; () where it may not."""
        name = queue.metadata.name
        if action == CLOSE_QUEUE:
            below = [self._queues[one] for one in self._below(name)]
            is_open = [(one, True) for one in below if self._state_of(one, self._word(one)) == OPEN]
            return [] if name == ROOT else [(queue, False), *is_open]
        parent = self._queues.get(queue.spec.parent or ROOT)
        if name != ROOT and parent is not None and self._state_of(parent, self._word(parent)) != OPEN:
            return []
        below = [self._queues[one] for one in self._below(name)]
        return [(queue, False), *((one, True) for one in below if _was_closed_with_parent(one))]

    def _changed(self, queue: Queue, word: str, *, by_parent: bool) -> list[Write]:
        writes: list[Write] = [self._status_write(queue, self._status(queue, self._state_of(queue, word)))]
        marked = by_parent and word == CLOSED
        if marked != _was_closed_with_parent(queue):
            body: JsonObject = {"metadata": {"annotations": {CLOSED_BY_PARENT: "true" if marked else None}}}
            writes.append(Patch(SCHEME.of(Queue), "", queue.metadata.name, body))
        return writes


def _differs(queue: Queue, status: JsonObject) -> bool:
    return {field: getattr(queue.status, field) for field in (*COUNTED.values(), "state", "allocated")} != status


def _was_closed_with_parent(queue: Queue) -> bool:
    return queue.metadata.annotations.get(CLOSED_BY_PARENT) == "true"


def _note(queue: Queue, action: str) -> Note:
    said = "opened" if action == OPEN_QUEUE else "closed"
    return Note(reference(queue), action, f"Queue {queue.metadata.name} is {said}")


def _queues_of(step: Step) -> list[str]:
    kind = SCHEME.of(Queue)
    return [write.name for write in step.writes if isinstance(write, Patch) and write.kind is kind]
