"""Lined: allocate with a line: gangs in their order, and who may pass whom by a rule of the line. The actions strict, easy,
conservative.

The rule   one line of all queues' gangs: queues in their order take turns, in each its gangs in theirs, as in allocate.py
           who may start is the line's rule (../line/strict.py, easy.py, conservative.py); a gang starts as in allocate.py:
           whole, as soon as it is ready, its places kept where others are still leaving them
           share      a gang that its queue's share keeps from its tasks waits as if it had no room, until gangs of the queue
                      have ended; one that its queue may not have were nothing running keeps nobody waiting
           more       tasks of a gang beyond its minimum are placed as room is found that is kept for nobody; they keep nobody
                      waiting
           held       a gang that the line holds back takes part in no action that evicts: only the first that finds no room may
Takes      a gang takes as long as its pod group, else the longest of its pods, says (../plugins/gang_times.py).
Depth      argument `depth` of the action: how many are looked at behind the first; 1000 where nothing is said.
Kept       reservations are kept for gangs until the next session; pods on their own heed them (../line/singles.py).
Pending    as in allocate.py.
Counted    a gang of equal tasks is tried by counting (counted.py), and placed task by task when it starts.
Cost       as the rule of the line says; a try is what counted.py costs, for other gangs what a turn costs in allocate.py.
Not here   the time of the end of what runs: ../../ends.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import nullcontext
from functools import cached_property

import numpy as np

from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.actions import allocate
from kumi.engine.placement.actions.counted import Counted, counted
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.line import conservative, easy, strict
from kumi.engine.placement.line.asking import Asker, Held, No, Places, Raised, Seen, Taken, Try
from kumi.engine.placement.line.outlook import Needs, needed
from kumi.engine.placement.line.timeline import Around, Timeline
from kumi.engine.placement.makeup import makeup
from kumi.engine.placement.nodes import Ints
from kumi.engine.placement.plugins.gang_times import execution_ms
from kumi.engine.placement.statement import Outcome, Statement
from kumi.engine.placement.tasks import Job, Status
from kumi.engine.placement.why import next_task
from kumi.engine.reasons import Code, Reason
from kumi.engine.settings import DEPTH

OF_THE_LINE = {No.DELAYS: Code.WOULD_DELAY, No.BEHIND: Code.BEHIND}


def run_strict(framework: Framework, outcome: Outcome) -> None:
    """See ../line/strict.py."""
    _run(framework, outcome, lambda line, timeline, held: strict.run(line, timeline))


def run_easy(framework: Framework, outcome: Outcome) -> None:
    """See ../line/easy.py."""
    depth = framework.conf.of_action("easy").whole("depth", DEPTH)
    _run(framework, outcome, lambda line, timeline, held: easy.run(line, timeline, _first(held), depth))


def run_conservative(framework: Framework, outcome: Outcome) -> None:
    """See ../line/conservative.py."""
    depth = framework.conf.of_action("conservative").whole("depth", DEPTH)

    def rule(line: Iterator[Asker], timeline: Timeline, held: Mapping[str, tuple[Gang, Held]]) -> Seen:
        return conservative.run(line, timeline, {key: kept for key, (_, kept) in held.items()}, depth)

    _run(framework, outcome, rule)


def _first(held: Mapping[str, tuple[Gang, Held]]) -> Gang | None:
    return next((gang for gang, _ in held.values()), None)


def _run(
    framework: Framework,
    outcome: Outcome,
    rule: Callable[[Iterator[Asker], Timeline, Mapping[str, tuple[Gang, Held]]], Seen],
) -> None:
    """One look at the line of gangs."""
    jobs = {job.key: job for job in allocate.let_in(framework)}
    timeline = Timeline(_around(framework))
    scratch = Outcome()
    reserved = framework.around.reserved
    held = {key: (Gang(framework, outcome, scratch, jobs[key]), reserved[key]) for key in reserved if key in jobs}
    seen = rule(_line(framework, outcome, scratch, jobs), timeline, held)
    for key, job in jobs.items():
        if framework.job_ready(job) or job.count(Status.PIPELINED):
            continue
        no, ahead = seen.refused.get(key, (No.BEHIND, seen.name))
        if no in OF_THE_LINE and not _is_withheld(framework, job):
            outcome.held[key] = Reason(OF_THE_LINE[no], where=ahead)
        if no is not No.ASIDE and key != seen.first:
            framework.held[key] = None
    outcome.reserved = {
        key: (kept, execution_ms(framework.tasks, jobs[key])) for key, kept in seen.reservations.items() if key in jobs
    }
    ends, now_ms = framework.around.pods.ends, framework.around.now_ms
    outcome.wake_ms = seen.wake_ms(now_ms, ends.next_ms(now_ms) if ends is not None else None)


def _is_withheld(framework: Framework, job: Job) -> bool:
    """Does its queue get no more anyway, for others or its own limit?"""
    queue = framework.tasks.queues[_queue(job)]
    if not framework.overused(queue):
        return False
    task = next_task(framework, job)
    return task is None or framework.withholds(queue, task)


def _around(framework: Framework) -> Around:
    tasks, nodes, around = framework.tasks, framework.nodes, framework.around

    def gone() -> dict[str, None]:
        jobs = tasks.jobs.values() if nodes.releasing[0].any() else ()
        return dict.fromkeys(uid for job in jobs for uid in job.by_status.get(Status.RELEASING, ()))

    def ended(pod: Pod, count: int) -> None:
        if pod.uid in tasks.status:
            tasks.end_run(pod, count)

    def emptied() -> None:
        for queue in list(tasks.allocated):
            around.journal.put(tasks.allocated, queue, {})

    return Around(nodes, around.pods, around.journal, around.now_ms, gone, nodes.pipelined.copy, ended, emptied)


def _line(framework: Framework, outcome: Outcome, scratch: Outcome, jobs: Mapping[str, Job]) -> Iterator[Gang]:
    """Gangs in the order of their turns."""
    by_queue: dict[str, list[Job]] = {}
    for job in jobs.values():
        by_queue.setdefault(_queue(job), []).append(job)
    lines = {name: framework.jobs_in_order(found) for name, found in by_queue.items()}
    queues = Heap(framework.queue_less, (framework.tasks.queues[name] for name in by_queue))
    while len(queues):
        queue = queues.pop()
        first = next(lines[queue.name], None)
        if first is not None:
            yield Gang(framework, outcome, scratch, first)
            queues.push(queue)


def _queue(job: Job) -> str:
    assert job.group is not None
    return job.group.queue


class Gang:
    """A gang that waits, see ../line/asking.Asker. `scratch`: gets what sketches meet."""

    def __init__(self, framework: Framework, outcome: Outcome, scratch: Outcome, job: Job) -> None:
        self._framework, self._outcome, self._scratch, self._job = framework, outcome, scratch, job
        self.key, self.name = job.key, f"PodGroup {job.key}"
        self.priority = framework.tasks.priority(job)
        self.said_ms = execution_ms(framework.tasks, job)
        self._waiting = makeup(framework.tasks, framework.nodes.residents, job)
        self.kind = self._kind()
        self._taken: list[tuple[str, Pod]] = []

    @cached_property
    def _counted(self) -> Counted | None:
        return counted(self._framework, self._job, self._waiting)

    def start(self, raised: Raised | None) -> Try:
        """See Asker."""
        framework, job = self._framework, self._job
        if framework.overused(framework.tasks.queues[_queue(job)]):
            return Try.ASIDE if framework.job_ready(job) else Try.FULL
        with nullcontext() if raised is None else raised:
            if framework.job_ready(job):
                self._more()
                return Try.STARTED if not job.by_status.get(Status.PENDING) else Try.ASIDE
            if self._counted is not None and (refusal := self._counted.refusal(self._outcome)) is not None:
                self._outcome.refusals[job.key] = refusal
                return Try.FULL
            tried = self._attempt()
            if tried is Try.STARTED:
                self._more()
        return tried

    def taken(self) -> Taken:
        """See Asker."""
        return self._taken

    def fits(self) -> bool:
        """See Asker."""
        if self._counted is not None and not self._framework.nodes.is_in_motion():
            return self._counted.has_room()
        return self.sketch() is not None

    def sketch(self) -> Places | None:
        """See Asker."""
        framework, job = self._framework, self._job
        if self._counted is not None and not framework.nodes.is_in_motion():
            if places := self._counted.places():
                return places
            if not self._counted.has_room():
                return None
        with framework.journal.trial():
            statement = Statement(framework, self._scratch)
            allocate.place(framework, self._scratch, statement, job, allocate.tasks_of(framework, job))
            return self._places(statement) if framework.job_ready(job) else None

    def helped(self, rows: Ints) -> bool:
        """See Asker."""
        nodes = self._framework.nodes
        welcome = np.ones(nodes.used.shape[1], dtype=np.bool_)
        return any(nodes.places(task.shape, welcome, rows).any() for task, _ in self._waiting.alike)

    def needs(self) -> Needs | None:
        """See Asker. The plug-in gang is who asks for the minimum; tasks that ask for nothing count for it without a place."""
        job, nodes = self._job, self._framework.nodes
        if self.kind is None or job.free or not self._framework.asks("gang", "job_ready"):
            return None
        assert job.group is not None
        if not self._waiting.alike or job.group.least < 1:
            return None
        every = np.ones(nodes.used.shape[1], dtype=np.bool_)
        return needed(job.group.least, [nodes.asked(task.shape.requests) for task, _ in self._waiting.alike], every)

    def _attempt(self) -> Try:
        framework, job = self._framework, self._job
        with framework.journal.trial() as trial:
            statement = Statement(framework, self._outcome)
            allocate.place(framework, self._outcome, statement, job, allocate.tasks_of(framework, job))
            if framework.job_ready(job):
                statement.commit()
                trial.commit()
                self._take(statement)
                return Try.STARTED
            if framework.job_pipelined(job):
                trial.commit()
                self._take(statement)
                return Try.PROMISED
        return Try.FULL

    def _more(self) -> None:
        """Tasks beyond the minimum, one by one, as long as each finds room."""
        while self._job.by_status.get(Status.PENDING):
            before = len(self._job.by_status[Status.PENDING])
            self._attempt()
            if len(self._job.by_status.get(Status.PENDING, ())) == before:
                return

    def _take(self, statement: Statement) -> None:
        tasks = self._framework.tasks
        self._taken += [(tasks.node[uid], tasks.pods[uid]) for uid in statement.placed if uid in tasks.node]

    def _places(self, statement: Statement) -> Places:
        """What the statement placed."""
        tasks, counts = self._framework.tasks, dict[tuple[str, PodShape], int]()
        for uid in statement.placed:
            at = (tasks.node[uid], tasks.pods[uid].shape)
            counts[at] = counts.get(at, 0) + 1
        return tuple((node, shape, count) for (node, shape), count in counts.items())

    def _kind(self) -> Hashable:
        """Gangs of one kind have room on the same nodes; None: of this one there is no other."""
        group, waiting = self._job.group, self._waiting
        assert group is not None
        if waiting.gated or waiting.kind is None or group.affinity or group.anti_affinity:
            return None
        if sum(one.pods for one in waiting.alike) != len(self._job.tasks):
            return None
        return (group.queue, group.least, group.least_of, self.priority, waiting.kind)
