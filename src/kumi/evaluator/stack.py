"""Stack speed: a run of a load through the whole stack: API, controllers, scheduler, simulated nodes, in virtual time.

The rule, for each instant at which something happens, as at engine speed (engine.py):
    1  what happens is written, in the order of heap.py: ends, changes, cancels, arrivals
    2  the loops go on until they come to rest; the scheduler decides whenever all others rest (loops.py)
    3  pods that were stopped meanwhile and that no controller makes are submitted again; and so on, until nobody has anything
       to do
Jobs       live as life.py says: when they run, how long, what of it is kept. Their objects are job_objects.py's. A job ends by
           the success of its pods, all at once; the objects of one that has ended are deleted.
Written    what somebody wrote as objects (a scenario) is created, changed and deleted as it was written, and stays until it is
           deleted; pods and gangs that nobody's controller makes anew are submitted again as they were.
Refused    a job whose objects the API refuses is over at once.
Over       as at engine speed: loops that wake up in vain don't keep a run going.
Why        this is production's own code but for the nodes and the clock: where both speeds decide alike, what the fast one says
           is what a cluster would do.
Cost       some milliseconds a pod.
Not here   who has which pods: books.py; the loops: loops.py; the API: world.py; schedulers in other processes: external.py.
"""

from __future__ import annotations

import asyncio  # noqa: TID251  the registry's verbs are coroutines; nothing waits for real time
from collections.abc import Iterator, Sequence

from kumi.api import kueue
from kumi.api.core import Pod
from kumi.api.errors import ApiError, InvariantError, KumiError
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.scheduler_names import SCHEDULERS
from kumi.controllers.workload_status import finished
from kumi.engine.gangs import Queue
from kumi.engine.model import Delta, Noun, Profile, Put
from kumi.evaluator import job_objects
from kumi.evaluator import life as lives
from kumi.evaluator.books import Books, Submitted
from kumi.evaluator.budget import ALL_WAS_PLAYED, Budget
from kumi.evaluator.engine import IDLE_WAKES, WAVES_AT_MOST
from kumi.evaluator.heap import Heap
from kumi.evaluator.laws import Laws
from kumi.evaluator.model import Act, Arrive, Cancel, Change, Event, Job, Load, Observer, Policy, Via, What, Written
from kumi.evaluator.objects import kind_of, reported
from kumi.evaluator.span import span
from kumi.evaluator.task_mix import profile_for
from kumi.evaluator.why import why
from kumi.evaluator.workload_owner import WorkloadOwner
from kumi.evaluator.world import World
from kumi.jobs.pod_groups import GROUP_LABEL
from kumi.jobs.workload import name_of
from kumi.kubelet.simulated import SimulatedPods, as_it_says, gone, said, succeeded
from kumi.registry.objects import clone
from kumi.runtime.reconcile import NOTHING, Delete, Outcome, Watches, Write
from kumi.runtime.view import View
from kumi.runtime.writes import perform


class StackRun:
    """See the module. `observers` hear of everything, after the laws have checked it.

    Shapes of the public fields: `played` how many ends and events of the load were, `stopped` why it was over before its end.
    KumiError: the policy leaves it to others where pods go (`placement: none`), and there are none."""

    others_place = False

    def __init__(
        self, load: Load, policy: Policy, seed: int, observers: Sequence[Observer] = (), budget: Budget | None = None
    ) -> None:
        if not (policy.profile.places or self.others_place):
            raise KumiError(
                f"the policy {policy.name} says `placement: none`: at stack speed pods run on nodes, and nobody places them. "
                "Engine speed decides about quota alone, an external scheduler places"
            )
        self._asyncio = asyncio.new_event_loop()
        self.load, self.policy, self.seed = load, policy, seed
        self.played, self.stopped = 0, ALL_WAS_PLAYED
        self.laws = Laws(as_gangs=policy.as_gangs)
        self.observers: tuple[Observer, ...] = tuple(observers)
        self._told: tuple[Observer, ...] = (self.laws, *self.observers)
        self._budget = budget or Budget()
        self._since_s = self._budget.now_s()
        self._written: dict[int, Written] = {}
        """id of an event that is to come -> the objects that somebody wrote for it"""
        stream = load.written() if load.written is not None else None
        self._setting = next(stream) if stream is not None and load.setting else None
        """as somebody wrote it"""
        self._heap: Heap[Submitted] = Heap(load.events() if stream is None else self._as_written(stream))
        self._books = self._made_books()
        self._idle_wakes = self._arrived = 0
        self._over = False
        self.world = self._made_world(profile_for(policy, load, self.seed))
        self._asyncio.run_until_complete(self._set_up())

    def _as_written(self, written: Iterator[Written]) -> Iterator[Event]:
        """The events, whose objects are noted."""
        for one in written:
            self._written[id(one.event)] = one
            yield one.event

    def _made_books(self) -> Books:
        return Books(self._told, self._heap, lambda: self.now_ms)

    def _made_world(self, profile: Profile, schedulers: tuple[str, ...] = SCHEDULERS) -> World:
        """`schedulers`: the pods' scheduler names that mean Kumi."""
        loops = (_Owner(self._books), WorkloadOwner(self._books.owns), SimulatedPods(self._ends))
        start_ms = self.load.start_ms
        return World(self._books, profile, self.seed, start_ms, controllers=loops, schedulers=schedulers)

    def _ends(self, pod: Pod, started_ms: int) -> int | None:
        return None if self._books.is_followed(pod) else as_it_says(pod, started_ms)

    # driving it

    @property
    def now_ms(self) -> int:
        """The instant that is played."""
        return self.world.now_ms

    def advance(self, events: int) -> bool:
        """Plays about so many events: whole instants, until at least so many are played. False when the run is over."""
        return self._asyncio.run_until_complete(self._advance(events))

    def waiting(self) -> list[tuple[str, str]]:
        """Jobs that are here and have not run to their end, in the order in which they came: (key, why, as a sentence)."""
        state = self.world.scheduler.state
        return [(key, why(state, life)) for key, life in self._books.lives.items()]

    def close(self) -> None:
        """It is over; observers are told once."""
        if self._over:
            return
        self._over = True
        self._asyncio.close()
        waiting = self.waiting()
        for observer in self._told:
            observer.closed(self.now_ms, waiting)

    async def _set_up(self) -> None:
        await self.world.begin()
        own = tuple(type(noun) for noun in self.policy.nouns)
        kept = [noun for noun in self.load.setting if not isinstance(noun, own)]
        if self._setting is not None:
            others = {_group_kind(*kind_of(type(noun))) for noun in self.policy.nouns}
            await self._act([act for act in self._setting.acts if _written_kind(act) not in others])
        for noun in (*kept, *self.policy.nouns):
            is_there = self._setting is not None and noun in kept and Put(noun) not in self._setting.bare
            await (self._told_of(Put(noun)) if is_there else self._change(Put(noun)))
        await self._rest()

    async def _advance(self, events: int) -> bool:
        goal = self.played + max(1, events)
        while not self._over and self.played < goal:
            now_ms = self._next_ms()
            if now_ms is None:
                return False
            await self._instant(now_ms)
        return not self._over

    def _next_ms(self) -> int | None:
        coming, wake = self._heap.next_ms(), self.world.next_ms
        if wake is not None and (coming is None or wake < coming):
            if coming is None and self._idle_wakes >= IDLE_WAKES:
                return None
            coming = max(wake, self.now_ms)
        if coming is None:
            return None
        self.stopped = self._budget.spent_of_virtual(coming - self.load.start_ms)
        self.stopped = self.stopped or self._budget.spent_of_real(self._since_s)
        return None if self.stopped else coming

    async def _instant(self, now_ms: int) -> None:
        self.world.now_ms = now_ms
        taken = self._heap.take(now_ms)
        self.played += len(taken)
        for what in taken:
            if isinstance(what, Submitted):
                what.ending = 0
                await self._end(what, What.FINISHED)
            else:
                await self._happens(what)
        before = self._books.decisions
        await self._rest()
        self._idle_wakes = 0 if taken or self._books.decisions > before else self._idle_wakes + 1

    # what happens

    async def _happens(self, event: Event) -> None:
        written = self._written.pop(id(event), None)
        match event:
            case Arrive():
                await self._arrive(event.job, written if written is not None else Written(event))
            case Cancel():
                await self._cancel(event, written.acts if written is not None else ())
            case Change():
                await self._act(written.acts if written is not None else ())
                bare = event.deltas if written is None else written.bare
                for delta in event.deltas:
                    await (self._change(delta) if delta in bare else self._told_of(delta))
                await self.world.prepare()  # a node that fails and is back at the same instant has lost its pods

    async def _act(self, acts: Sequence[Act]) -> None:
        """Does what somebody wrote, as kubectl would. KumiError: it is refused."""
        for verb, manifest in acts:
            try:
                await self._do(verb, clone(manifest))
            except ApiError as error:
                meta = manifest.get("metadata") or {}
                what = f"{verb} {manifest.get('kind')} {meta.get('name', '')}"
                at = span(self.now_ms - self.load.start_ms)
                raise KumiError(f"at {at} of {self.load.name}: {what} is refused: {error}") from error

    async def _do(self, verb: str, manifest: JsonObject) -> None:
        if verb == "delete":
            await self.world.delete(manifest)
        elif verb == "update":
            await self.world.merge(manifest)
        else:
            await self.world.create(reported(manifest))

    async def _change(self, delta: Delta) -> None:
        if isinstance(delta, Put):
            await self.world.put(delta.noun)
        else:
            await self.world.remove(delta.type, delta.key)
        await self._told_of(delta)

    async def _told_of(self, delta: Delta) -> None:
        for observer in self._told:
            observer.changed(self.now_ms, delta)

    async def _arrive(self, job: Job, written: Written) -> None:
        if job.key in self._books.lives:
            raise self.load.same_name(job.key)
        via = Via.GANG if job.via is Via.POD and self.policy.as_gangs else job.via
        life = Submitted(job, via, self._arrived)
        if written.acts and via is job.via:
            life.objects = job_objects.written(job, [manifest for _, manifest in written.acts], written.roles)
        else:
            life.objects = job_objects.of_life(life, self.now_ms)
        self._arrived += 1
        self._books.arrived(life)
        try:
            await self._submit(life)
        except ApiError:
            await self._end(life, What.REFUSED)
        if via is Via.WORKLOAD:
            await self.world.prepare()  # Workloads come in the order of their jobs, whoever makes them

    async def _submit(self, life: Submitted) -> None:
        """All its objects. ApiError: one is refused."""
        job = life.job
        await self._prepare(life)
        if life.objects.made_of is not None:
            made = await self._create(clone(life.objects.made_of))
            uid, name = str(made["metadata"]["uid"]), str(made["metadata"]["name"])
            workload = name if life.objects.is_alone else name_of(self.world.kind_of(made), name, uid)
            self._books.owned(life, uid, f"{job.namespace}/{workload}")
            return
        if life.objects.group is not None:
            await self.world.create(clone(life.objects.group), life.uid)
        await self._come(life)

    async def _prepare(self, life: Submitted) -> None:
        """What the objects of a job of a trace name, where it isn't there."""
        if life.objects.stays:
            return
        named: list[Noun | None] = [lives.priority_class(life.job)]
        if life.via is Via.GANG:
            named.append(Queue(lives.queue_of(life.job), created_ms=lives.seconds(self.now_ms)))
        for noun in named:
            if noun is not None and not self.world.knows(noun):
                await self._change(Put(noun))

    async def _come(self, life: Submitted) -> None:
        """The pods that it should have and hasn't. ApiError."""
        there = set(life.pods.values())
        for seat, pod in life.objects.pods.items():
            if seat not in there:
                uid = "" if life.via is Via.WORKLOAD else self._books.next_uid(life, seat)
                made = await self._create(clone(pod), uid)
                self._books.submitted(life, str(made["metadata"]["uid"]), seat)
                if life.via is Via.WORKLOAD:
                    self._books.queued(life, self._workload_of(made))

    def _workload_of(self, pod: JsonObject) -> str:
        """The key of the Workload of a pod that is in a queue by itself, or with others."""
        meta = pod["metadata"]
        group = (meta.get("labels") or {}).get(GROUP_LABEL)
        return f"{meta['namespace']}/{group or name_of(SCHEME.of(Pod), str(meta['name']), str(meta['uid']))}"

    async def _create(self, manifest: JsonObject, uid: str = "") -> JsonObject:
        """What has pods, or is one. ApiError."""
        return await self.world.create(manifest, uid)

    async def _cancel(self, event: Cancel, acts: Sequence[Act]) -> None:
        life = self._books.lives.get(event.key)
        if life is not None and not (event.only_waiting and life.started_ms is not None):
            ran = life.started_ms is not None and life.job.runs_ms is None
            await self._end(life, What.FINISHED if ran else What.CANCELLED)
        await self._act(acts)

    async def _end(self, life: Submitted, what: What) -> None:
        """It is no longer there: its pods have succeeded, or are deleted; and nor are its objects."""
        self._books.tell_placed()
        pods = self._books.ended(life, what)
        if what is What.FINISHED:
            for pod in pods:
                await perform(self.world.client, said(pod, succeeded(pod, self.now_ms)))
            if life.objects.stays and life.objects.is_alone:
                await self._tell_finished(life.of_workload)
            if life.objects.stays or (life.objects.made_of is not None and not life.objects.is_alone):
                return
        for pod in pods if life.objects.made_of is None else ():
            await perform(self.world.client, deletion(pod))
        for whole in (life.objects.made_of, life.objects.group):
            if whole is not None:
                await self.world.delete(clone(whole))

    async def _tell_finished(self, workload: str) -> None:
        """A Workload that no controller looks after has finished."""
        namespace, _, name = workload.partition("/")
        view = self.world.view.get(kueue.Workload, namespace, name)
        if view is not None:
            await perform(self.world.client, finished(view, "Succeeded", "All its pods have succeeded", self.now_ms))

    async def _rest(self) -> None:
        """Everything that follows at this instant."""
        for _ in range(WAVES_AT_MOST):
            await self.world.rest()
            self._books.tell_placed()
            if not await self._come_anew():
                self.laws.rested(self.now_ms, self.world.scheduler.state)
                return
        raise InvariantError(f"at {self.now_ms} ms the stack does not come to rest")

    async def _come_anew(self) -> bool:
        """Submits again what was stopped. Was there anything?"""
        back, self._books.anew = self._books.anew, {}
        again = [life for life in back.values() if not life.owner]
        for life in again:
            try:
                await self._come(life)
            except ApiError:
                await self._end(life, What.REFUSED)
        return bool(again)


class _Owner:
    """Deletes what is left of jobs that were stopped; kumi.runtime.reconcile.Controller, by the job's key."""

    name = "kumi-evaluator-owner"

    def __init__(self, books: Books) -> None:
        self._books = books

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({Pod: self._stopped})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See Controller."""
        writes: list[Write] = []
        for pod in self._books.doomed.pop(key, ()):
            writes += gone(pod, now_ms) if pod.metadata.controller is not None else (deletion(pod),)
        return Outcome(tuple(writes)) if writes else NOTHING

    def _stopped(self, _: Object) -> tuple[str, ...]:
        return tuple(self._books.doomed)


def deletion(pod: Pod) -> Delete:
    """The write that ends a pod at once."""
    meta = pod.metadata
    return Delete(SCHEME.of(Pod), meta.namespace, meta.name, meta.uid, grace_seconds=0)


def _written_kind(act: Act) -> tuple[str, str]:
    return _group_kind(str(act[1].get("apiVersion")), str(act[1].get("kind")))


def _group_kind(version: str, kind: str) -> tuple[str, str]:
    return version.rpartition("/")[0], kind
