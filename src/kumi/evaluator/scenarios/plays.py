"""Plays: what the steps of a scenario are for the engine, instant by instant.

The rule   a job          a kind that the queues know (kumi.jobs.QUEUED), a Workload, a PodGroup with its pods, a pod on its own:
                          it arrives when it is created (arriving.py), and is cancelled when it is deleted
           the cluster    kinds that the engine is told of, and claims with what is behind them: a Change
           around         LimitRanges, RuntimeClasses, priority classes: how the jobs after them are read
           others         mean nothing to the engine: Services, ConfigMaps ... But what makes pods and is no job (a Deployment)
                          is played at stack speed alone: engine speed knows no controllers
           a namespace    that nobody created is there as soon as something is in it
An instant holds one Change at most, then Cancels, then Arrivals, as in kumi.evaluator.model. What is created and deleted at one
           instant never was.
A job      doesn't change while it is there; deleted, it may come again: it is another one, with a number after its key.
Errors     ManifestError.
Not here   the same steps at the speed of the whole stack: kumi.evaluator.stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from kumi.api import core, kueue, limits, volcano
from kumi.api.errors import KumiError
from kumi.api.meta import Object, format_time
from kumi.api.node import RuntimeClass
from kumi.api.scheduling import PriorityClass
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.into import AROUND, NOUNS, Deltas, removal, volumeclaim
from kumi.engine.model import Delta, Namespace, Put
from kumi.evaluator.manifests import ManifestError, checked, key_of, name_of, namespace_of
from kumi.evaluator.model import Act, Arrive, Cancel, Change, Event, Written
from kumi.evaluator.scenarios.arriving import Arriving
from kumi.evaluator.scenarios.steps import Moment, Step, Told
from kumi.registry.objects import clone
from kumi.registry.patch import merge

POD_MAKERS = (
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "ReplicationController",
    "CronJob",
)
"""kinds whose pods a controller makes, and that are no jobs"""


class Stage:
    """What there is in a scenario at a time, and what the next instant means."""

    def __init__(self) -> None:
        self._there: dict[str, JsonObject] = {}
        """by kind and name: as last written"""
        self._jobs: dict[str, str] = {}
        """the same of what jobs are made of -> key of the job"""
        self._made_of: dict[str, dict[str, None]] = {}
        """key of a job -> what it is made of, and is still there"""
        self._namespaces: dict[str, None] = {}
        self._deltas = Deltas()
        self._volumes = volumeclaim.VolumeClaims()
        self._arriving = Arriving()

    def events(self, moments: Iterable[Moment]) -> Iterator[Event]:
        """The events of moments in the order of time, for engine speed. ManifestError also for what only stack speed plays."""
        for written in self.written(map(_for_the_engine, moments)):
            if not isinstance(written.event, Change) or written.event.deltas:
                yield written.event

    def written(self, moments: Iterable[Moment]) -> Iterator[Written]:
        """The same with what is done with which objects, also of those that mean nothing to the engine."""
        for at_ms, instant in groupby(moments, key=attrgetter("at_ms")):
            yield from self._instant(at_ms, list(instant))

    def _instant(self, at_ms: int, moments: list[Moment]) -> Iterator[Written]:
        deltas: list[Delta] = []
        bare: list[Delta] = []
        acts: list[Act] = []
        deletions: list[Act] = []
        gone: list[Cancel] = []
        told: list[Event] = []
        coming: dict[str, Step] = {}
        now = _time(at_ms, moments)
        for moment in moments:
            if isinstance(moment, Told):
                self._take(moment.event, bare, told)
                continue
            kind = key_of(moment.object)
            deltas += self._namespace(namespace_of(moment.object))
            if not self._is_job(moment.object):
                deltas += self._change(kind, moment, now)
                acts.append((moment.verb, moment.object))
            elif moment.verb == "create":
                self._expect(kind, moment, there=False, also=coming)
                coming[kind] = moment
            elif moment.verb == "update":
                raise ManifestError(
                    name_of(moment.object), ["a job can't change while it is there: delete it, create another"]
                )
            elif coming.pop(kind, None) is None:
                self._expect(kind, moment, there=True)
                gone += self._gone(at_ms, kind)
                deletions.append((moment.verb, moment.object))
        if deltas or bare or acts or (deletions and not gone):
            own = () if gone else deletions
            yield Written(Change(at_ms, (*deltas, *bare)), (*acts, *own), bare=tuple(bare))
        for number, event in enumerate(gone):
            yield Written(event, () if number else tuple(deletions))
        yield from (Written(event) for event in told if isinstance(event, Cancel))
        yield from (Written(event) for event in told if isinstance(event, Arrive))
        for job, of in self._arriving.jobs(at_ms, [step.object for step in coming.values()]):
            for obj, _ in of:
                kind = key_of(obj)
                self._there[kind], self._jobs[kind] = obj, job.key
                self._made_of.setdefault(job.key, {})[kind] = None
            yield Written(Arrive(job), tuple(("create", obj) for obj, _ in of), tuple(role for _, role in of))

    def _take(self, event: Event, deltas: list[Delta], told: list[Event]) -> None:
        if isinstance(event, Change):
            deltas.extend(event.deltas)
            return
        if isinstance(event, Arrive):
            deltas.extend(self._namespace(event.job.namespace))
        told.append(event)

    def _is_job(self, obj: JsonObject) -> bool:
        return self._arriving.takes(obj)

    def _namespace(self, name: str) -> list[Delta]:
        if not name or name in self._namespaces:
            return []
        self._namespaces[name] = None
        return [Put(Namespace(name, (("kubernetes.io/metadata.name", name),)))]

    def _gone(self, at_ms: int, kind: str) -> list[Cancel]:
        """A job goes with its PodGroup, or with the last of its pods."""
        del self._there[kind]
        job = self._jobs.pop(kind)
        made_of = self._made_of.get(job)
        if made_of is None:
            return []
        made_of.pop(kind)
        groups = f"{SCHEME.of(volcano.PodGroup).resource} "
        if not kind.startswith(groups) and any(not part.startswith(groups) for part in made_of):
            return []
        del self._made_of[job]
        return [Cancel(at_ms, job)]

    def _change(self, kind: str, step: Step, now: str) -> list[Delta]:
        old = self._there.get(kind)
        self._expect(kind, step, there=step.verb != "create")
        before = checked(old, now).view if old is not None else None
        if step.verb == "delete":
            del self._there[kind]
            self._namespaces.pop(kind.partition("namespaces ")[2], None)
            return self._told(before, None)
        new = step.object if old is None else merge.apply(clone(old), step.object)
        view = checked(new, now).view
        self._there[kind] = new
        if isinstance(view, core.Namespace):
            self._namespaces[view.metadata.name] = None
        return self._told(before, view)

    def _told(self, old: Object | None, new: Object | None) -> list[Delta]:
        view = new if new is not None else old
        assert view is not None
        if isinstance(view, AROUND):
            assert isinstance(view, limits.LimitRange | RuntimeClass)
            self._arriving.learn(view, gone=new is None)
            return []
        if isinstance(view, kueue.WorkloadPriorityClass | PriorityClass):
            self._arriving.rank(view, gone=new is None)
        if isinstance(view, volumeclaim.TYPES):
            return self._volumes.deltas(old, new)
        if type(view) not in NOUNS:
            return []
        return [removal(view) if new is None else self._deltas.put(new)]

    def _expect(self, kind: str, step: Step, *, there: bool, also: Iterable[str] = ()) -> None:
        found = kind in self._there or kind in also
        if found and not there:
            raise ManifestError(name_of(step.object), [f"is created, and is there already ({step.place})"])
        if there and not found:
            raise ManifestError(name_of(step.object), [f"can't be {step.verb}d: it isn't there ({step.place})"])


def _time(at_ms: int, moments: list[Moment]) -> str:
    """The instant as objects write it. KumiError."""
    try:
        return format_time(at_ms)
    except OverflowError:
        objects = [moment.object for moment in moments if isinstance(moment, Step)]
        who = name_of(objects[0]) if objects else "a job"
        raise KumiError(f"{who}: comes after the year 9999, of which objects have no times") from None


def _for_the_engine(moment: Moment) -> Moment:
    """The moment. ManifestError: engine speed has no controllers."""
    if isinstance(moment, Step) and (kind := moment.object.get("kind")) in POD_MAKERS:
        why = f"a {kind} makes its pods by a controller, which only stack speed has: write its pods"
        raise ManifestError(name_of(moment.object), [why])
    return moment
