"""The arrivals of a scenario: manifests at times, jobs by chance, a trace, a Python generator.

    arrivals:
      - at: 10m                         # from the start; 0s
        every: 1h                       # again and again, so many times, or until then: names get a number
        times: 5
        until: 24h
        manifests: [jobs.yaml]          # files, or objects
        runs: {exponential: 1h}         # how long they run (lengths.py), where they don't say it themselves
        says: 1.5                       # their owners say so many times that
        deadline: 4h                    # from the arrival on
        checkpoint: 10m
        deleteAfter: 2h
      - jobs: ...                       # by chance: chances.py
      - trace: {format: swf, jobs: log.swf.gz, scaleNodes: 1%, compressTime: 2, inflate: 1.3, sample: 100, noDepartures: true,
                 prefix: b-}             # before the names of its jobs, where others have the same
      - python: generator.py            # generator.py; {file: generator.py, arguments: {name: value}}

The rule   what an entry says of lengths is written into the manifests, as annotations (said.py), where they don't say it
           a trace's nodes and queues are the cluster's too; its times count from the scenario's start
Order      entries that have something at the same instant: as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import merge
from operator import attrgetter

import numpy as np

from kumi.api.errors import KumiError
from kumi.api.volcano import GROUP_NAME_ANNOTATION
from kumi.api.wire import JsonObject
from kumi.engine.model import Node, Put
from kumi.evaluator import reshape, traces
from kumi.evaluator.model import Arrive, Cancel, Change, Event, Load
from kumi.evaluator.said import CHECKPOINT, DEADLINE_IN, RUNS, text, with_words
from kumi.evaluator.scenarios import chances, python
from kumi.evaluator.scenarios.document import Part
from kumi.evaluator.scenarios.lengths import spread
from kumi.evaluator.scenarios.manifests import listed, proven
from kumi.evaluator.scenarios.steps import Moment, Source, Step, Told, seed_of
from kumi.evaluator.sources import Shape
from kumi.evaluator.spreads import Spread
from kumi.jobs.due import EXECUTION, EXECUTION_NAME
from kumi.jobs.pod_groups import GROUP_LABEL

KINDS = ("manifests", "jobs", "trace", "python")
OF_MANIFESTS = ("at", "every", "times", "until", "runs", "says", "deadline", "checkpoint", "deleteAfter")
PREFIX = re.compile(r"([a-z0-9][a-z0-9.-]*)?")
RESHAPED = ("gpuNodes", "scaleNodes", "resample", "sample", "inflate", "compressTime", "noDepartures", "dropWaiting")


def sources(part: Part, start_ms: int, nodes: list[Node] | None) -> list[Source]:
    """What comes, entry by entry. `nodes`: of the cluster, for rates of arrivals; None: that is wrong, and nothing comes."""
    found: list[Source] = []
    for number, entry in enumerate(part.items()):
        fields = entry.fields(*KINDS, *OF_MANIFESTS)
        named = [name for name in KINDS if fields[name]]
        if len(named) != 1:
            entry.wrong(f"must have one of {', '.join(KINDS)}")
            continue
        if named[0] != "manifests":
            for name in OF_MANIFESTS:
                if fields[name]:
                    fields[name].wrong(f"is for manifests; {named[0]} says it in its own way")
        if named[0] == "manifests":
            found.append(_manifests(fields, number, start_ms))
        elif named[0] == "jobs":
            found += chances.source(fields["jobs"], number, start_ms, nodes)
        elif named[0] == "trace":
            found += _trace(fields["trace"], start_ms)
        else:
            found += python.source(fields["python"], start_ms)
    return found


@dataclass(frozen=True, slots=True)
class _Words:
    """What an entry says in its manifests' place."""

    runs: Spread | None
    says: float
    deadline_ms: int
    checkpoint_ms: int

    def of(self, obj: JsonObject, rng: np.random.Generator) -> JsonObject:
        """The manifest that says it. One that says its length itself keeps it as what its owner says."""
        words: dict[str, str] = {}
        own = (obj.get("metadata") or {}).get("annotations") or {}
        if self.runs is not None:
            runs_ms = max(1, round(float(self.runs.draw(rng, 1)[0])))
            said_ms = max(1, round(runs_ms * self.says))
            words[RUNS] = text(runs_ms)
            if not any(key.endswith(EXECUTION_NAME) for key in own):
                words[EXECUTION] = text(said_ms)
        if self.deadline_ms:
            words[DEADLINE_IN] = text(self.deadline_ms)
        if self.checkpoint_ms:
            words[CHECKPOINT] = text(self.checkpoint_ms)
        missing = {key: value for key, value in words.items() if key not in own}
        return with_words(obj, missing) if missing else obj


@dataclass(frozen=True, slots=True)
class _Entry:
    """Manifests that come once, or again and again."""

    objects: tuple[tuple[str, JsonObject], ...]
    at_ms: int
    every_ms: int
    times: int | None
    until_ms: int | None
    delete_after_ms: int
    words: _Words
    number: int

    def moments(self, seed: int) -> Iterator[Moment]:
        """See arrivals.py."""
        if not self.delete_after_ms:
            return self._created(seed)
        gone = (self._deleted(step) for step in self._created(seed))
        return merge(self._created(seed), gone, key=attrgetter("at_ms"))

    def _created(self, seed: int) -> Iterator[Step]:
        rng = np.random.default_rng(seed_of(seed, self.number))
        round_, at_ms = 0, self.at_ms
        while (self.times is None or round_ < self.times) and (self.until_ms is None or at_ms < self.until_ms):
            for place, obj in self.objects:
                named = _renamed(obj, self._names(), round_) if round_ else obj
                yield Step(at_ms, "create", self.words.of(named, rng), place)
            round_ += 1
            at_ms += self.every_ms
            if not self.every_ms:
                return

    def _deleted(self, step: Step) -> Step:
        meta = step.object.get("metadata") or {}
        whom = {key: step.object[key] for key in ("apiVersion", "kind")}
        who = {key: meta[key] for key in ("name", "namespace") if key in meta}
        return Step(step.at_ms + self.delete_after_ms, "delete", {**whom, "metadata": who}, step.place)

    def _names(self) -> frozenset[str]:
        return frozenset(str((obj.get("metadata") or {}).get("name")) for _, obj in self.objects)


def _renamed(obj: JsonObject, names: frozenset[str], number: int) -> JsonObject:
    """The object of a later round: its name has the round's number, and so have the groups that it names and that come with it,
    and the group of pods that it is part of."""
    meta = dict(obj.get("metadata") or {})
    meta["name"] = f"{meta['name']}-{number + 1}"
    for words, key, always in (("annotations", GROUP_NAME_ANNOTATION, False), ("labels", GROUP_LABEL, True)):
        said = meta.get(words) or {}
        if key in said and (always or said[key] in names):
            meta[words] = {**said, key: f"{said[key]}-{number + 1}"}
    return {**obj, "metadata": meta}


def _manifests(fields: dict[str, Part], number: int, start_ms: int) -> Source:
    every_ms = fields["every"].span_ms(least=1)
    times = fields["times"].whole(1, least=1) if fields["times"] else None
    until_ms = start_ms + fields["until"].span_ms(least=1) if fields["until"] else None
    if every_ms and times is None and until_ms is None:
        fields["every"].wrong("goes on for ever: say how many times (`times`), or `until` when")
    if not every_ms and (times is not None or until_ms is not None):
        (fields["times"] or fields["until"]).wrong("needs `every`: how long after each other")
    words = _Words(
        runs=spread(fields["runs"]),
        says=fields["says"].number(1.0, above=0),
        deadline_ms=fields["deadline"].span_ms(least=1),
        checkpoint_ms=fields["checkpoint"].span_ms(least=1),
    )
    if fields["says"] and not fields["runs"]:
        fields["says"].wrong("is about `runs`, and nothing is said there")
    before = len(fields["manifests"].document.faults)
    objects = tuple(proven(fields["manifests"], listed(fields["manifests"])))
    if not objects and len(fields["manifests"].document.faults) == before:
        fields["manifests"].wrong("there is no object in it: nothing would come")
    return _Entry(
        objects=objects,
        at_ms=start_ms + fields["at"].span_ms(),
        every_ms=every_ms,
        times=times,
        until_ms=until_ms,
        delete_after_ms=fields["deleteAfter"].span_ms(least=1),
        words=words,
        number=number,
    ).moments


@dataclass(frozen=True, slots=True)
class _Trace:
    """A trace, from the scenario's start on."""

    load: Load
    shape: Shape
    start_ms: int
    prefix: str
    place: str

    def moments(self, seed: int) -> Iterator[Moment]:
        """See arrivals.py."""
        load = self.shape.of(self.load, seed)
        if load.setting:
            yield Told(Change(self.start_ms, tuple(Put(noun) for noun in load.setting)), self.place)
        later_ms = self.start_ms - load.start_ms
        for event in load.events():
            yield Told(self._named(_moved(event, later_ms) if later_ms else event), self.place)

    def _named(self, event: Event) -> Event:
        """With the prefix before the job's name."""
        if not self.prefix or isinstance(event, Change):
            return event
        if isinstance(event, Cancel):
            return replace(event, key=self._key(event.key))
        return Arrive(replace(event.job, key=self._key(event.job.key)))

    def _key(self, key: str) -> str:
        namespace, _, name = key.partition("/")
        return f"{namespace}/{self.prefix}{name}"


def _moved(event: Event, later_ms: int) -> Event:
    if not isinstance(event, Arrive):
        return replace(event, at_ms=event.at_ms + later_ms)
    job = event.job
    due = None if job.deadline_ms is None else job.deadline_ms + later_ms
    return Arrive(replace(job, arrives_ms=job.arrives_ms + later_ms, deadline_ms=due))


def _trace(part: Part, start_ms: int) -> list[Source]:
    fields = part.fields("format", "nodes", "jobs", "options", "prefix", *RESHAPED)
    format = fields["format"].word(*traces.FORMATS)
    options = {name: each.text() for name, each in fields["options"].members().items()}
    nodes = part.document.beside(fields["nodes"].text()) if fields["nodes"] else None
    if not fields["jobs"]:
        fields["jobs"].wrong("says which file has the jobs")
        return []
    prefix = fields["prefix"].text()
    if not PREFIX.fullmatch(prefix):
        fields["prefix"].wrong(f"stands before names, which have small letters, digits, - and . only, not {prefix!r}")
    try:
        shape = Shape(
            gpu_nodes=fields["gpuNodes"].flag(),
            scale_nodes=reshape.part(fields["scaleNodes"].text()) if fields["scaleNodes"] else None,
            resample=fields["resample"].flag(),
            sample=fields["sample"].whole(0) if fields["sample"] else None,
            inflate=fields["inflate"].number(1.0, above=0) if fields["inflate"] else None,
            compress_time=fields["compressTime"].number(1.0, above=0) if fields["compressTime"] else None,
            no_departures=fields["noDepartures"].flag(),
            drop_waiting=fields["dropWaiting"].flag(),
        )
        load = traces.read(format, nodes, part.document.beside(fields["jobs"].text()), **options)
        shape.of(load, 0)
    except KumiError as error:
        part.wrong(str(error))
        return []
    return [_Trace(load, shape, start_ms, prefix, part.place).moments]
