"""Choose: the nodes for a run of equal tasks.

The rule, one task after the other:
    candidates   the nodes that every predicate takes and that have room once what is leaving has left
    group        those of them with room now; where there is none, all: the task is then promised its place, and doesn't hold it
    node         the best score in the group, the smallest name among equals; a single one isn't scored
A run of k equal tasks gets what k single ones would get, in one pass, where placing one changes no other node
(framework.is_steady); a node takes no more of them than it says (framework.most).
Why          scores of the nodes are computed once; placing a task changes the score of its own node only. Whichever node gets a
             task is among the k best of the beginning: were it not, one of these is still untouched, and better.
             So k scores are looked at, and those of tasks that would come second, third ... on a node a column at a time.
Otherwise    a run goes step by step: nodes are asked again after each task, and only what did not change isn't counted again.
Batch        where nodes are scored by comparing them (batch scores), those that are left are compared again when one fills; where
             that says something else, the pass ends, and a new one begins.
Cost         O(resources x nodes) a run, O(log k) a task.
Source       Volcano: allocate action. The pass over a run is Kumi's own; the single steps are its reference (tests).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.nodes import Ints, Mask, Scores
from kumi.engine.placement.tasks import Status

Chosen: TypeAlias = tuple[list[int], Status]
"""rows, one a task, and what the tasks are there"""

_AHEAD = 3
"""so many columns are counted at once"""
NOTHING: Chosen = ([], Status.PENDING)


def choose(framework: Framework, task: Pod, run: int) -> Chosen:
    """Rows for the first tasks of a run of `run` equal ones: at least one where there is room for one, at most `run`."""
    nodes = framework.nodes
    mask = framework.predicate(task) == Fit.OK
    now = nodes.places(task.shape, mask)
    future = nodes.places_later(task.shape, mask) if nodes.is_in_motion() else now
    if not future.any():
        return NOTHING
    now = np.minimum(now, future)
    if (most := framework.most(task)) is not None:
        future, now = np.minimum(future, most), np.minimum(now, most)
    row = nominated(framework, task, now)
    if row is not None:
        return [row], Status.ALLOCATED
    room, status = (now, Status.ALLOCATED) if now.any() else (future, Status.PIPELINED)
    if run == 1 or framework.moves_scores(task):
        return spread(framework, task, room, 1), status
    if framework.is_steady(task):
        return spread(framework, task, room, run), status
    if status is Status.PIPELINED:
        return spread(framework, task, room, 1), status
    return _step(framework, task, mask, run), status


def _step(framework: Framework, task: Pod, mask: Mask, run: int) -> list[int]:
    """The rows for a run of tasks each of which changes what nodes say to the next: they are asked again after each, and of the
    scores that nodes have by themselves only that of the row which got one is counted anew."""
    nodes = framework.nodes
    room = _room(framework, task, nodes.by_name())
    rows = nodes.by_name()[room > 0]
    room, names = room[room > 0], nodes.name_by_row()
    placed = np.zeros(rows.size, dtype=np.int64)
    scores = framework.node_scores(task, rows, placed)
    chosen: list[int] = []
    with framework.journal.trial():
        while True:
            at = np.flatnonzero(mask[rows] & (room > placed))
            if not at.size:
                return chosen
            batch = framework.batch_scores(task, rows[at])
            best = int(at[int(np.argmax(scores[at] if batch is None else scores[at] + batch))])
            chosen.append(int(rows[best]))
            if len(chosen) == run:
                return chosen
            placed[best] += 1
            scores[best] = framework.node_scores(task, rows[best : best + 1], placed[best : best + 1])[0]
            framework.seated(task, names[int(rows[best])], 1)
            mask = framework.predicate(task) == Fit.OK


def _room(framework: Framework, task: Pod, rows: Ints) -> Ints:
    """How many such tasks each of the rows takes now, and once what is on its way out has left, were they welcome."""
    nodes = framework.nodes
    welcome = np.ones(nodes.used.shape[1], dtype=np.bool_)
    room = np.minimum(nodes.places(task.shape, welcome), nodes.places_later(task.shape, welcome))
    most = framework.most(task)
    return (room if most is None else np.minimum(room, most))[rows]


def nominated(framework: Framework, task: Pod, room: Ints) -> int | None:
    """The row of the node that was cleared for the task, if it has room."""
    if not task.member.nominated:
        return None
    row = framework.nodes.row_by_name.get(task.member.nominated)
    return row if row is not None and room[row] else None


def spread(framework: Framework, task: Pod, room: Ints, run: int) -> list[int]:
    """The rows that tasks of a run get one after the other; room: how many each row takes."""
    by_name = framework.nodes.by_name()
    rows = by_name[room[by_name] > 0]
    if rows.size == 1:
        return [int(rows[0])] * min(run, int(room[rows[0]]))
    scores = framework.node_scores(task, rows, np.zeros(rows.size, dtype=np.int64))
    batch = framework.batch_scores(task, rows)
    total = scores if batch is None else scores + batch
    if run == 1:
        return [int(rows[int(np.argmax(total))])]
    best = _best(total, run)
    heads = _Heads(rows[best], total[best], rows, best, batch)
    return _merge(framework, task, heads, room, run)


def _best(scores: Scores, run: int) -> Ints:
    """The places of the `run` best scores, the earlier of equals; in the order of the array."""
    if scores.size <= run:
        return np.arange(scores.size)
    least = np.partition(scores, scores.size - run)[scores.size - run]
    better = np.flatnonzero(scores > least)
    equal = np.flatnonzero(scores == least)[: run - better.size]
    return np.sort(np.concatenate([better, equal]))


@dataclass(frozen=True, slots=True)
class _Heads:
    """The rows that may be chosen and their scores now; all rows in question, where among them those are, and what all of them
    get by being compared."""

    rows: Ints
    scores: Scores
    all_rows: Ints
    at: Ints
    batch: Scores | None

    def compared(self) -> Scores:
        """What those that may be chosen get by being compared."""
        return np.zeros(self.rows.size) if self.batch is None else self.batch[self.at]

    def are_same(self, framework: Framework, task: Pod, left: Mask) -> bool:
        """Do those that are left get what they had, compared with each other alone?"""
        if self.batch is None:
            return True
        again = framework.batch_scores(task, self.all_rows[left])
        return bool((self.batch[left] == (0.0 if again is None else again)).all())


def _merge(framework: Framework, task: Pod, first: _Heads, room: Ints, run: int) -> list[int]:
    """The best of the columns' heads, again and again. Column c: the scores after c tasks of the run on each row."""
    rows, compared = first.rows, first.compared()
    if first.batch is None and rows.size >= run and (room[rows] == 1).all():
        best: list[int] = rows[np.argsort(-first.scores, kind="stable")[:run]].tolist()
        return best
    left = np.ones(first.all_rows.size, dtype=np.bool_)
    columns = [first.scores]
    heads = [(-score, at, 0) for at, score in enumerate(first.scores.tolist())]
    heapq.heapify(heads)
    chosen: list[int] = []
    while heads and len(chosen) < run:
        _, at, column = heads[0]
        chosen.append(int(rows[at]))
        column += 1
        if column >= room[rows[at]]:
            heapq.heappop(heads)
            left[first.at[at]] = False
            if len(chosen) < run and not first.are_same(framework, task, left):
                break
            continue
        if len(chosen) == run:
            break
        if column == len(columns):
            columns += _columns(framework, task, rows, column, compared)
        heapq.heapreplace(heads, (-float(columns[column][at]), at, column))
    return chosen


def _columns(framework: Framework, task: Pod, rows: Ints, first: int, compared: Scores) -> list[Scores]:
    """The next columns, at once: asking costs more than what is asked for where rows are few."""
    placed = np.repeat(np.arange(first, first + _AHEAD, dtype=np.int64), rows.size)
    scores = framework.node_scores(task, np.tile(rows, _AHEAD), placed)
    return [column + compared for column in scores.reshape(_AHEAD, rows.size)]
