"""Engine speed: a run of a load under a policy, of the engine's state and decisions only.

The rule, for each instant at which something happens:
    1  what happens is applied, in the order of heap.py: ends, changes, cancels, arrivals
    2  the engine decides, and what it decides is done at once and acknowledged, until it says nothing more: bound pods run,
       pods of an admitted workload come, evicted ones go
    3  jobs that were stopped meanwhile come anew, with new pods; the engine decides again, until it comes to rest
       (pods that an admitted workload has lost come before it decides: their controller makes them)
An instant is also when the engine asks for it (State.wake_at_ms).
Runs       a job runs when so many of its pods do as it needs (life.py), and ends when it has run its time. A run that is cut
           short goes on from the last whole span of its checkpoints, else from zero.
Stopped    a job that runs and is left with fewer pods than it needs: the others go as well, and all come anew. One that doesn't
           run yet, or has enough left, gets anew only what it lost.
           Pods are lost with a node that goes, is not ready, or drives them away (taint NoExecute that they don't endure).
           A workload waits in its queue again, once the engine has evicted it. That of pods which are in a queue by themselves
           goes with them, and another one comes with the next.
Deleted    a job that runs until it is deleted has then finished; any other is cancelled. One without pods is refused.
Over       when no event is left, nobody will end, and the engine has no time at which it would say anything else; or when the
           budget is used up.
Why        jobs that were stopped come after those for which they were: room that was made for somebody is his.
Units      int ms of virtual time.
Errors     KumiError for a load that is wrong (events out of order, a key twice); InvariantError where a law of laws.py is
           broken, or the engine doesn't come to rest.
Cost       O(log n) an event, and what the engine takes.
Not here   the same at the speed of the whole stack: stack.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kumi.api.errors import InvariantError, KumiError
from kumi.engine.decisions import Admit, Bind, Decision, Evict, EvictPod, Hold
from kumi.engine.gangs import PodGroup, Queue
from kumi.engine.model import Delta, Node, Pod, Put, Remove, Workload
from kumi.engine.placement import session
from kumi.engine.reasons import Code
from kumi.engine.selectors import untolerated
from kumi.engine.settings import Discipline
from kumi.engine.state import State
from kumi.evaluator import life as lives
from kumi.evaluator import saving
from kumi.evaluator.budget import ALL_WAS_PLAYED, Budget
from kumi.evaluator.heap import Heap
from kumi.evaluator.laws import Laws
from kumi.evaluator.life import Life, seconds
from kumi.evaluator.model import Arrive, Cancel, Change, Job, Load, Observer, Policy, Via, What
from kumi.evaluator.task_mix import profile_for

WAVES_AT_MOST = 10_000
"""so often the engine may be asked at one instant: more is a bug, of its or of a plug-in"""
IDLE_WAKES = 64
"""so many wake-ups in a row at which nothing is decided, with nothing else to come, and nothing ever will be"""


class Run:
    """See the module. `observers` hear of everything, after the laws have checked it.

    Shapes of the public fields: `now_ms` the instant that is played, `played` how many ends and events of the load were,
    `stopped` why it was over before its end ("": it wasn't)."""

    def __init__(
        self, load: Load, policy: Policy, seed: int, observers: Sequence[Observer] = (), budget: Budget | None = None
    ) -> None:
        self.load, self.policy, self.seed = load, policy, seed
        self.now_ms, self.played, self.stopped = load.start_ms, 0, ALL_WAS_PLAYED
        self.state = State(profile_for(policy, load, seed))
        self.laws = Laws(policy.profile.places, policy.as_gangs)
        self.observers: tuple[Observer, ...] = tuple(observers)
        self._told: tuple[Observer, ...] = (self.laws, *self.observers)
        self._budget = budget or Budget()
        self._since_s = self._budget.now_s()
        self._heap: Heap[Life] = Heap(load.events())
        self._lives: dict[str, Life] = {}
        self._arrived = 0
        """how many jobs came"""
        self._made = {True: 0, False: 0}
        """how many pods were made, of workloads (True) and others"""
        self._of_pod: dict[str, Life] = {}
        self._anew: dict[str, Life] = {}
        """stopped at this instant: their pods come anew once the engine has nothing more to say"""
        self._queued = False
        """was there ever a workload?"""
        self._idle_wakes = 0
        self._over = False
        self._set_up()

    # driving it

    def advance(self, events: int) -> bool:
        """Plays about so many events: whole instants, until at least so many are played. False when the run is over."""
        goal = self.played + max(1, events)
        while not self._over and self.played < goal:
            now_ms = self._next_ms()
            if now_ms is None:
                self.close()
            else:
                self._instant(now_ms)
        return not self._over

    def waiting(self) -> list[tuple[str, str]]:
        """Jobs that are here and have not run to their end, in the order in which they came: (key, why, as a sentence)."""
        if not self._lives:
            return []
        from kumi.evaluator.why import why  # the API's nouns stand behind its sentences: a tenth of what a start costs

        return [(key, why(self.state, life)) for key, life in self._lives.items()]

    def close(self) -> None:
        """It is over; observers are told once."""
        if not self._over:
            self._over = True
            waiting = self.waiting()
            for observer in self._told:
                observer.closed(self.now_ms, waiting)

    # interrupting it

    def save(self, path: Path) -> None:
        """Writes the run there, between two calls of `advance`, so that `resume` can go on from it."""
        saving.write(path, self, self.state.profile, saving.fingerprint(self.load, self.policy, self.seed))

    @classmethod
    def resume(cls, path: Path, load: Load, policy: Policy, seed: int, budget: Budget | None = None) -> Run:
        """The run that was saved there, with its observers, of the same load, policy and seed. KumiError (saving.py)."""
        run = saving.read(path, profile_for(policy, load, seed), saving.fingerprint(load, policy, seed))
        assert isinstance(run, Run)
        run.load, run.policy = load, policy
        if not run._heap.go_on(load.events()):
            raise KumiError(f"{path}: the events that the saved run has played are not those of load {load.name}")
        run._budget = budget or Budget()
        run._since_s = run._budget.now_s()
        return run

    def __getstate__(self) -> dict[str, object]:
        """All but what `resume` is given again."""
        return {k: v for k, v in self.__dict__.items() if k not in ("load", "policy", "_budget", "_since_s")}

    def _set_up(self) -> None:
        own = tuple(type(noun) for noun in self.policy.nouns)
        kept = [noun for noun in self.load.setting if not isinstance(noun, own)]
        for noun in (*kept, *self.policy.nouns):
            self._change(Put(noun))
        self._rest()

    def _next_ms(self) -> int | None:
        coming, wake = self._heap.next_ms(), self.state.wake_at_ms()
        if wake is not None and wake > self.now_ms and (coming is None or wake < coming):
            if coming is None and self._idle_wakes >= IDLE_WAKES:
                return None
            coming = wake
        if coming is None:
            return None
        if not self._budget.is_limited:
            return coming
        self.stopped = self._budget.spent_of_virtual(coming - self.load.start_ms)
        if self.stopped:
            self.now_ms = self.load.start_ms + (self._budget.virtual_ms or 0)
        self.stopped = self.stopped or self._budget.spent_of_real(self._since_s)
        return None if self.stopped else coming

    def _instant(self, now_ms: int) -> None:
        self.now_ms = now_ms
        taken = self._heap.take(now_ms)
        self.played += len(taken)
        for what in taken:
            if isinstance(what, Life):
                what.ending = 0
                self._end(what, What.FINISHED)
            elif isinstance(what, Arrive):
                self._arrive(what.job)
            elif isinstance(what, Cancel):
                self._cancel(what)
            elif isinstance(what, Change):
                for delta in what.deltas:
                    self._change(delta)
        said = self._rest()
        self._idle_wakes = 0 if taken or said else self._idle_wakes + 1

    # what happens

    def _arrive(self, job: Job) -> None:
        if job.key in self._lives:
            raise self.load.same_name(job.key)
        via = Via.GANG if job.via is Via.POD and self.policy.as_gangs else job.via
        life = Life(job, via, self._arrived)
        self._arrived += 1
        self._lives[job.key] = life
        self._happened(life, What.ARRIVED, 0)
        if not job.pods:
            self._end(life, What.REFUSED)
        elif via is Via.WORKLOAD:
            self._queued = True
            self._queue(life)
        else:
            if via is Via.GANG:
                self._gang(life)
            self._come(life)

    def _queue(self, life: Life) -> None:
        """Its Workload."""
        self.state.apply(Put(lives.workload(life, self.now_ms, self.state.profile.settings.order)))

    def _withdraw(self, life: Life) -> None:
        """Its Workload goes."""
        self.state.apply(Remove(Workload, life.job.key))
        life.admission = None

    def _gang(self, life: Life) -> None:
        """Its PodGroup, and what that names where it isn't there."""
        tasks, queue, named = self.state.tasks, lives.queue_of(life.job), lives.priority_class(life.job)
        if queue not in tasks.queues:
            is_first = queue == lives.DEFAULT_QUEUE  # a cluster has it from the start
            self._change(Put(Queue(queue, created_ms=seconds(self.load.start_ms if is_first else self.now_ms))))
        if named is not None and tasks.classes.get(named.name) != named:
            self._change(Put(named))
        self.state.apply(Put(lives.group(life, self.now_ms)))

    def _come(self, life: Life) -> None:
        """The pods that it should have and hasn't."""
        queued = life.via is Via.WORKLOAD
        made = lives.missing_pods(life, self.now_ms, self.state.catalog.flavors, self._made[queued])
        self._made[queued] += len(made)
        for pod in made:
            self._of_pod[pod.uid] = life
            self.state.apply(Put(pod))

    def _cancel(self, event: Cancel) -> None:
        life = self._lives.get(event.key)
        if life is None or (event.only_waiting and life.started_ms is not None):
            return
        ran = life.started_ms is not None and life.job.runs_ms is None
        self._end(life, What.FINISHED if ran else What.CANCELLED)

    def _end(self, life: Life, what: What) -> None:
        """It is no longer there."""
        job, now_ms = life.job, self.now_ms
        done = life.kept_ms + (now_ms - life.started_ms) if life.started_ms is not None else life.kept_ms
        self._call_off(life)
        self._happened(life, what, done if what is What.FINISHED else life.kept_at(now_ms))
        life.started_ms = None
        self._go(life, list(life.pods))
        if life.via is Via.GANG:
            self.state.apply(Remove(PodGroup, job.key))
        elif life.via is Via.WORKLOAD:
            self.state.apply(Remove(Workload, job.key))
        self._anew.pop(job.key, None)
        del self._lives[job.key]

    def _go(self, life: Life, uids: list[str]) -> None:
        """These pods of it are gone."""
        placed = [uid for uid in uids if uid in life.nodes]
        if placed:
            places = life.places(placed)
            for observer in self._told:
                observer.left(self.now_ms, life.job, places)
        for uid in uids:
            life.nodes.pop(uid, None)
            del life.pods[uid]
            del self._of_pod[uid]
            self.state.apply(Remove(Pod, uid))

    def _change(self, delta: Delta) -> None:
        self.state.apply(delta)
        for observer in self._told:
            observer.changed(self.now_ms, delta)
        if isinstance(delta, Remove) and delta.type is Node:
            self._lose(delta.key, None)
        elif isinstance(delta, Put) and isinstance(delta.noun, Node):
            self._lose(delta.noun.name, delta.noun)
        elif isinstance(delta, Put) and isinstance(delta.noun, Workload):
            self._queued = True

    def _lose(self, name: str, node: Node | None) -> None:
        """Pods that can't stay on that node, which is so now (None: gone); by name, as controllers go through them."""
        lost: dict[str, list[str]] = {}
        known = self.state.pods.by_uid
        for uid in sorted(self.state.pods.on_node.get(name, ()), key=lambda uid: (known[uid].key, uid)):
            life = self._of_pod.get(uid)
            if life is not None and not (node is not None and node.ready and _endures(known[uid], node)):
                lost.setdefault(life.job.key, []).append(uid)
        for key, uids in lost.items():
            self._take(self._lives[key], uids, What.LOST)

    def _take(self, life: Life, uids: list[str], what: What) -> None:
        """It has these pods no longer, for that cause."""
        gone = set(uids)
        stays = sum(1 for uid in life.nodes if uid not in gone)
        if life.started_ms is not None and stays < max(1, life.least):
            self._stop(life, what)
        else:
            self._go(life, uids)
        self._anew[life.job.key] = life
        if life.job.renews:
            self._go(life, list(life.pods))
            self._withdraw(life)

    def _stop(self, life: Life, what: What) -> None:
        """It runs no longer, and none of its pods is left."""
        self._call_off(life)
        life.kept_ms = life.kept_at(self.now_ms)
        self._happened(life, what, life.kept_ms)
        life.started_ms = None
        self._go(life, list(life.pods))

    def _call_off(self, life: Life) -> None:
        """Its end, if one is still to come."""
        if life.ending:
            self._heap.call_off(life.ending)
            life.ending = 0

    def _happened(self, life: Life, what: What, kept_ms: int) -> None:
        for observer in self._told:
            observer.happened(self.now_ms, what, life.job, kept_ms)

    # what is decided

    def _rest(self) -> bool:
        """The engine decides until it says nothing more. Did it say anything?"""
        any_said = False
        for _ in range(WAVES_AT_MOST):
            if self._anew and self._queued:
                self._come_at_once()
            decided = [] if self._is_at_rest() else self._decide()
            if decided:
                any_said = True
                self._obey(decided)
            elif self._anew:
                self._come_anew()
            else:
                self.laws.rested(self.now_ms, self.state)
                return any_said
        waits = next(iter(self._anew), "nobody")
        raise InvariantError(f"at {self.now_ms} ms the engine does not come to rest; {waits} was stopped last")

    def _is_at_rest(self) -> bool:
        """Is there nothing but pods on their own, and nothing new to say of any? Then nobody is asked."""
        state, waiting = self.state, self.state.pods.waiting
        if self._queued or state.tasks.jobs or state.gangs or state.newcomers or state.nominations.node_of:
            return False
        if not waiting.line:
            return not (waiting.first or waiting.reservations)
        return state.nodes_seen == state.nodes.changed and state.profile.settings.line is Discipline.OPEN

    def _decide(self) -> list[Decision]:
        if not self._queued:
            return session.decide(self.state, self.now_ms)
        from kumi.engine.admission import cycle  # a tenth of what a start costs, for runs that have no queue

        return cycle.decide(self.state, self.now_ms) + session.decide(self.state, self.now_ms)

    def _come_at_once(self) -> None:
        """Pods that admitted workloads have lost: whoever makes them waits for nobody's decision."""
        lost = [life for life in self._anew.values() if life.admission is not None and not life.job.renews]
        for life in lost:
            del self._anew[life.job.key]
            self._come(life)

    def _come_anew(self) -> None:
        back, self._anew = self._anew, {}
        for life in back.values():
            if life.job.renews:
                life.number, self._arrived = self._arrived, self._arrived + 1
                self._queue(life)
            elif life.via is not Via.WORKLOAD:
                self._come(life)

    def _obey(self, decided: list[Decision]) -> None:
        """All of it is done, and acknowledged."""
        for decision in decided:
            for observer in self._told:
                observer.decided(self.now_ms, decision)
        self._evict_pods([d for d in decided if isinstance(d, EvictPod)])
        bound: dict[str, list[Bind]] = {}
        for decision in decided:
            if isinstance(decision, Bind):
                self.state.settle(decision, True)
                life = self._of_pod.get(decision.pod)
                if life is not None:
                    life.nodes[decision.pod] = decision.node
                    bound.setdefault(life.job.key, []).append(decision)
            elif isinstance(decision, Admit):
                self.state.settle(decision, True)
                self._admitted(decision)
            elif isinstance(decision, Evict):
                self.state.settle(decision, True)
                self._evicted(decision)
            elif not isinstance(decision, EvictPod):
                self.state.settle(decision, True)
                if isinstance(decision, Hold):
                    self._held(decision)
        for key, binds in bound.items():
            self._bound(self._lives[key], binds)

    def _evict_pods(self, decided: list[EvictPod]) -> None:
        victims: dict[str, list[str]] = {}
        for decision in decided:
            self.state.settle(decision, True)
            life = self._of_pod.get(decision.pod)
            if life is not None:
                victims.setdefault(life.job.key, []).append(decision.pod)
        for key, uids in victims.items():
            self._take(self._lives[key], uids, What.PREEMPTED)

    def _bound(self, life: Life, binds: list[Bind]) -> None:
        places = life.places([bind.pod for bind in binds])
        for observer in self._told:
            observer.placed(self.now_ms, life.job, places)
        if life.via is Via.GANG or self.state.pods.ends is not None:
            for bind in binds:
                self._say_it_runs(bind)
        if life.started_ms is None and len(life.nodes) >= life.least:
            self._start(life)

    def _say_it_runs(self, bind: Bind) -> None:
        """Whoever decides by what runs, and since when, is told."""
        pod = self.state.pods.by_uid[bind.pod]
        since_ms = seconds(self.now_ms)
        self.state.apply(Put(replace(pod, node=bind.node, devices=bind.devices, phase="Running", started_ms=since_ms)))

    def _start(self, life: Life) -> None:
        life.started_ms = self.now_ms
        self._happened(life, What.STARTED, life.kept_ms)
        left_ms = life.left_ms
        if left_ms is not None:
            life.ending = self._heap.end(self.now_ms + left_ms, life)
        if life.via is Via.WORKLOAD and self.state.profile.settings.pods_ready is not None:
            self._put_workload(life, pods_ready=True)

    # workloads

    def _admitted(self, decision: Admit) -> None:
        life = self._lives.get(decision.workload)
        if life is None:
            return
        self._put_workload(
            life,
            admission=decision.admission,
            admitted=not decision.checks,
            reserved_ms=seconds(self.now_ms),
            queued_ms=self._turn_ms(life),
            waiting=False,
        )
        if decision.checks:
            return
        life.admission = decision.admission
        if self.state.profile.places:
            self._come(life)
        else:
            self._start(life)

    def _evicted(self, decision: Evict) -> None:
        life = self._lives.get(decision.workload)
        if life is None:
            return
        if life.started_ms is not None:
            self._stop(life, What.LOST if decision.why == "NodeFailures" else What.PREEMPTED)
        else:
            self._go(life, list(life.pods))
        life.admission = None
        if life.job.renews:
            self._withdraw(life)
            self._anew[life.job.key] = life
            return
        taken_back = decision.cause == "InCohortReclaimWhileBorrowing"
        by_eviction = taken_back and not self.state.profile.settings.priority_in_cohort
        queued_ms = self._turn_ms(life, seconds(self.now_ms) + 1 if by_eviction else 0)
        self._put_workload(life, admission=None, admitted=False, reserved_ms=0, queued_ms=queued_ms, pods_ready=False)

    def _turn_ms(self, life: Life, queued_ms: int = 0) -> int:
        created_ms = self.state.workloads[life.job.key].created_ms
        return lives.turn_ms(life.job, self.state.profile.settings.order, created_ms, queued_ms)

    def _held(self, decision: Hold) -> None:
        life = self._lives.get(decision.workload)
        waiting = decision.record.reason.code is Code.PREEMPTING
        if life is not None and self.state.workloads[decision.workload].waiting != waiting:
            self._put_workload(life, waiting=waiting)

    def _put_workload(self, life: Life, **fields: object) -> None:
        known = self.state.workloads[life.job.key]
        self.state.apply(Put(replace(known, **fields)))  # type: ignore[arg-type]


def _endures(pod: Pod, node: Node) -> bool:
    driving = [taint for taint in node.taints if taint.effect == "NoExecute"]
    return not driving or untolerated(driving, pod.shape.tolerations) is None
