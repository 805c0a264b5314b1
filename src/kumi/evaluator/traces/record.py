"""A recording of a cluster (`kumi record`) as a Load: the cluster as it changed, and the jobs as they came.

The rule   the cluster   nodes, queues, flavors and all else that decisions depend on: what was there when the recording began is
                         the setting, what changed later a Change, at its time
           a job         seen.py says which there are. A Workload comes as one, with its pod sets, queue and priority; a PodGroup
                         as a gang of its minimum, with as many pods as it had at once; a Job of no queue (or another of those
                         kinds) as one, with as many pods as it has beside each other; a pod by itself
           arrives       when it was first seen; those that were there when the recording began are there at the start, the
                         older first
           runs          as long as it ran in the recording (seen.py)
           didn't end    in the recording: it runs as long as it says (execution-duration); where it says less than it ran
                         already, or nothing, until the run is over
           given up      deleted before it ran: it is deleted then, unless it runs
Left out   pods of DaemonSets and of nodes, with what they hold; decisions and admissions, which are made anew.
Checked    the whole recording, when it is read; then it is read again, as a stream, each time that it is played: as far as it
           went the first time, if it is still being written.
Not here   the lines: lines.py; who writes them: kumi.evaluator.recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from kumi.api import core, kueue, limits, volcano
from kumi.api.errors import KumiError
from kumi.api.meta import Object, ObjectMeta, is_true, parse_time
from kumi.api.node import RuntimeClass
from kumi.api.scheduling import PriorityClass
from kumi.api.wire import JsonObject
from kumi.bridge.into import NOUNS, Deltas, removal, volumeclaim
from kumi.bridge.into.adjusted import Around, adjusted
from kumi.bridge.into.shape import Shapes
from kumi.engine import model
from kumi.engine.model import Delta, Noun, Put
from kumi.evaluator.model import Arrive, Cancel, Change, Event, Job, Load, Role, Via
from kumi.evaluator.said import said
from kumi.evaluator.traces import lines
from kumi.evaluator.traces.base import Format, TraceError, opened
from kumi.evaluator.traces.lines import Line
from kumi.evaluator.traces.seen import QUEUED_TYPES, Names, Seen, Survey, is_itself, queued_of, roles, view_of


def read(nodes: Path | None, jobs: Path) -> Load:
    """The recording's load. TraceError."""
    if nodes is not None:
        raise TraceError(jobs, "has its own nodes: leave the file of nodes out")
    with opened(jobs) as text:
        start_ms = lines.started_ms(jobs, text)
        survey = Survey(start_ms)
        for line in lines.lines(jobs, text):
            survey.see(line)
    recorded = _Recorded(jobs, start_ms, survey.last_line, survey.end_ms, survey.jobs, survey.owners)
    return Load(jobs.name, recorded.setting(), recorded.events, start_ms, notes=tuple(_notes(jobs, survey)))


FORMAT = Format(read, "a recording of a cluster, as `kumi record` writes it")


def _notes(path: Path, survey: Survey) -> Iterator[str]:
    if survey.torn:
        yield f"{path.name}: line {survey.torn}, the last one, was not written to its end, and is left out"
    if survey.of_nodes:
        yield f"{path.name}: left out {len(survey.of_nodes)} pods that belong to their nodes (DaemonSets)"
    open_ = sum(seen.ran_ms is None for seen in survey.jobs.values() if seen.counts)
    if open_:
        yield f"{path.name}: {open_} jobs had not ended when the recording did"


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The lines of a recording, as often as they are asked for."""

    path: Path
    start_ms: int
    last_line: int
    end_ms: int
    seen: dict[str, Seen]
    owners: dict[str, ObjectMeta]

    def setting(self) -> tuple[Noun, ...]:
        """What was there when the recording began, jobs aside."""
        player = _Player(self)
        nouns: dict[tuple[type[Noun], str], Noun] = {}
        for line in self._lines():
            if line.type == lines.BEGUN:
                break
            for delta in player.deltas(line):
                if isinstance(delta, Put):
                    removed = _key(delta.noun)
                    nouns.pop(removed, None)
                    nouns[removed] = delta.noun
        return tuple(nouns.values())

    def events(self) -> Iterator[Event]:
        """What happened then."""
        player, stream = _Player(self), self._lines()
        waiting: list[tuple[int, Job]] = []
        for line in stream:
            if line.type == lines.BEGUN:
                break
            player.deltas(line)
            waiting += [(created, job) for created, job in player.arrivals(line)]
        for _, job in sorted(waiting, key=lambda one: (one[0], one[1].key)):
            yield Arrive(replace(job, arrives_ms=self.start_ms))
        for at_ms, instant in groupby(stream, key=attrgetter("at_ms")):
            yield from self._instant(player, at_ms, list(instant))

    def _instant(self, player: _Player, at_ms: int, instant: list[Line]) -> Iterator[Event]:
        deltas = [delta for line in instant for delta in player.deltas(line)]
        coming = {job.key: job for line in instant for _, job in player.arrivals(line)}
        gone = [key for line in instant for key in player.departures(line)]
        if deltas:
            yield Change(at_ms, tuple(deltas))
        yield from (Cancel(at_ms, key, only_waiting=True) for key in gone if key not in coming)
        yield from (Arrive(job) for key, job in coming.items() if key not in gone)

    def _lines(self) -> Iterator[Line]:
        with opened(self.path) as text:
            lines.started_ms(self.path, text)
            for line in lines.lines(self.path, text):
                if line.number > self.last_line or line.type == lines.TORN:
                    return
                yield line


@dataclass(slots=True)
class _Player:
    """Reads lines in their order; each is asked for its deltas first."""

    recorded: _Recorded
    reading: Deltas = field(default_factory=Deltas)
    around: Around = field(default_factory=Around)
    shapes: Shapes = field(default_factory=Shapes)
    volumes: volumeclaim.VolumeClaims = field(default_factory=volumeclaim.VolumeClaims)
    names: Names = field(default_factory=Names)
    keys: dict[str, str] = field(default_factory=dict)
    """name of a job -> its key, once it has arrived"""
    taken: dict[str, None] = field(default_factory=dict)
    nouns: dict[tuple[type[Noun], str], Noun] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)
    last: tuple[int, Object | None] = (0, None)
    """the number of a line, and its object as it is read"""

    def deltas(self, line: Line) -> list[Delta]:
        """What the line changes in the cluster. What can't be read isn't there, as it wasn't for who decided."""
        view = self._view(line)
        gone = line.type == "DELETED"
        if isinstance(view, limits.LimitRange | RuntimeClass):
            try:
                self._learn(view, gone=gone)
            except KumiError:
                self._learn(view, gone=True)
        elif isinstance(view, volumeclaim.TYPES):
            try:
                return self.volumes.deltas(view if gone else None, None if gone else view)
            except KumiError:
                return self.volumes.deltas(view, None)
        elif view is not None and type(view) in NOUNS and not isinstance(view, volcano.PodGroup):
            return self._noun(view, gone=gone)
        return []

    def _learn(self, view: limits.LimitRange | RuntimeClass, *, gone: bool) -> None:
        self.reading.learn(view, gone=gone)
        (self.around.drop if gone else self.around.put)(view)

    def _noun(self, view: Object, *, gone: bool) -> list[Delta]:
        if isinstance(view, PriorityClass):
            self.classes[view.metadata.name] = view.value
        if gone:
            removed = removal(view)
            self.nouns.pop((removed.type, removed.key), None)
            return [removed]
        try:
            put = self.reading.put(view)
        except KumiError:
            return []
        key = _key(put.noun)
        if self.nouns.get(key) == put.noun:
            return []
        self.nouns[key] = put.noun
        return [put]

    def arrivals(self, line: Line) -> Iterator[tuple[int, Job]]:
        """The job that comes with this line, if one does: (when it was made, the job)."""
        view = self._view(line)
        name = self.names.of(view) if view is not None else ""
        if view is None or not name or line.type == "DELETED" or name in self.keys or not is_itself(view, name):
            return
        seen = self.recorded.seen.get(name)
        over = isinstance(view, kueue.Workload) and is_true(view.status.conditions, "Finished")
        job = self._job(view, seen) if seen is not None and seen.counts and not over else None
        if job is None or seen is None:
            return
        self.keys[name] = key = self._key(view.key)
        words = said(self._metas(view))
        yield (
            parse_time(view.metadata.creation_timestamp) or line.at_ms,
            replace(
                job,
                key=key,
                arrives_ms=line.at_ms,
                runs_ms=self._runs_ms(seen, words.said_ms),
                said_ms=words.said_ms,
                deadline_ms=words.deadline_ms,
                checkpoint_ms=words.checkpoint_ms,
            ),
        )

    def _metas(self, view: Object) -> list[ObjectMeta]:
        """Who may say how long a job takes: it itself, the job that a Workload is made of, the templates of its pods."""
        owner = view.metadata.controller
        metas = [view.metadata]
        if owner is not None and owner.uid in self.recorded.owners:
            metas.append(self.recorded.owners[owner.uid])
        templates: list[JsonObject] = []
        if isinstance(view, kueue.Workload):
            templates = [pod_set.template for pod_set in view.spec.pod_sets]
        elif isinstance(view, QUEUED_TYPES):
            templates = [pods.template for pods in queued_of(view).pod_sets(view)]
        for template in templates:
            annotations = (template.get("metadata") or {}).get("annotations") or {}
            metas.append(ObjectMeta(creation_timestamp=view.metadata.creation_timestamp, annotations=annotations))
        return metas

    def departures(self, line: Line) -> Iterator[str]:
        """The key of the job that was given up with this line, if one was. Asked after `arrivals`."""
        view = self._view(line)
        if view is None or line.type != "DELETED":
            return
        name = self.names.of(view)
        seen = self.recorded.seen.get(name)
        if seen is not None and is_itself(view, name) and name in self.keys and not seen.begun and seen.ran_ms is None:
            yield self.keys[name]

    def _runs_ms(self, seen: Seen, said_ms: int | None) -> int | None:
        if seen.ran_ms is not None:
            return seen.ran_ms
        goes_on = bool(seen.running) or seen.goes_on
        ran_ms = self.recorded.end_ms - seen.started_ms if goes_on and seen.started_ms is not None else 0
        return said_ms if said_ms is not None and said_ms >= ran_ms else None

    def _job(self, view: Object, seen: Seen) -> Job | None:
        """The job that the object is, its times and its key aside; None for a pod of another, and what can't be read."""
        try:
            match view:
                case kueue.Workload():
                    return _of_workload(self.reading.put(view).noun)
                case volcano.PodGroup():
                    rank = self.classes.get(view.spec.priority_class_name, 0)
                    return _of_group(view, seen, rank)
                case _ if isinstance(view, QUEUED_TYPES):
                    return self._of_kind(view, seen)
                case core.Pod() if seen.most:
                    return _of_pod(view, seen)
        except KumiError:
            return None
        return None

    def _of_kind(self, view: Object, seen: Seen) -> Job | None:
        """What is in no queue, as soon as it may have pods."""
        queued, namespace = queued_of(view), view.metadata.namespace
        standing = queued.standing(view)
        if standing.suspended or standing.finished:
            return None
        made = []
        for pods in queued.pod_sets(view):
            template = adjusted(pods.template, self.around.limits(namespace), self.around.classes)
            made.append(Role(pods.name, pods.count, self.shapes.of_template(template, namespace)))
        labels = [(pods.template.get("metadata") or {}).get("labels") or {} for pods in queued.pod_sets(view)]
        common = {key: value for key, value in labels[0].items() if all(one.get(key) == value for one in labels)}
        return Job(view.key, 0, tuple(made), None, priority=seen.priority, labels=tuple(sorted(common.items())))

    def _key(self, key: str) -> str:
        made, number = key, 1
        while made in self.taken:
            number += 1
            made = f"{key}-{number}"
        self.taken[made] = None
        return made

    def _view(self, line: Line) -> Object | None:
        if line.number != self.last[0]:
            self.last = line.number, view_of(line.said["object"]) if line.type in lines.CHANGES else None
        return self.last[1]


def _of_workload(noun: Noun) -> Job | None:
    assert isinstance(noun, model.Workload)
    if not noun.pod_sets:
        return None
    first = noun.pod_sets[0]
    return Job(
        key=noun.key,
        arrives_ms=0,
        roles=tuple(Role(p.name, p.count, p.shape) for p in noun.pod_sets),
        runs_ms=None,
        via=Via.WORKLOAD,
        queue=noun.queue.partition("/")[2],
        least=first.least if len(noun.pod_sets) == 1 else None,
        priority=noun.priority,
        labels=first.labels,
        kind=noun.job.partition(" ")[0] or "Workload",
    )


def _of_group(view: volcano.PodGroup, seen: Seen, rank: int) -> Job | None:
    made = tuple(Role(name, count, shape) for name, count, shape in roles(seen.most.items()))
    if not made:
        return None
    least = view.spec.min_member or None
    return Job(view.key, 0, made, None, Via.GANG, view.spec.queue, least, priority=rank)


def _of_pod(view: core.Pod, seen: Seen) -> Job:
    shape = next(shape for _, shape in seen.most)
    labels = tuple(sorted(view.metadata.labels.items()))
    return Job(view.key, 0, (Role("main", 1, shape),), None, priority=view.spec.priority or 0, labels=labels)


def _key(noun: Noun) -> tuple[type[Noun], str]:
    """What tells a noun from others of its class."""
    return type(noun), str(getattr(noun, "key", "") or getattr(noun, "name", "") or getattr(noun, "node", ""))
