"""The decider: admission, then placement, on one state, so that quota and nodes are decided together and seen once.

Owners    one for each decision, in this order:
             Workloads                           admission's cycle; their pods go where it promised, and it alone evicts
             pod groups without a Workload       a session by the scheduler's file (placement/gang_session.py)
             pods on their own                   one by one (placement/session.py); those that name Volcano get a pod group first
           a pod of a Workload is no task of its pod group: that one asks no queue, and is nobody's victim there.
           a pod group that is another scheduler's (own_gangs.py) is not there.

The rule   apply     an object becomes a delta (kumi.bridge.into); one that can't be read is not there. A LimitRange or a
                     RuntimeClass says how workloads are read, a service or a ReplicaSet how pods that wait are: those that
                     it concerns are read again
           decide    admission's cycle, then placement, at one `now`; each decision is a step (kumi.bridge.out)
           settle    the state keeps what was acknowledged and undoes what was refused
Unwritten  what is no news to anybody waits for its turn (unwritten.py); for the state it is settled.
Cost       O(changes) a call, besides the engine's own, and those who are read again: workloads of the namespace, or all for a
           RuntimeClass; claims without a volume for a volume or a class; pods as in kumi.bridge.into.companions.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumi.api import core, kueue, volcano
from kumi.api.errors import KumiError
from kumi.api.measures import Family
from kumi.api.meta import Object, is_true
from kumi.api.wire import JsonObject
from kumi.bridge.into import AROUND, TYPES, Deltas, companions, removal, volumeclaim
from kumi.bridge.into.companions import Companions, Waiting, anybody, on_their_own
from kumi.bridge.messages import record_to_json
from kumi.bridge.out import step
from kumi.bridge.out.hold import is_another_answer
from kumi.bridge.out.reference import reference
from kumi.bridge.scheduler_names import SCHEDULERS
from kumi.controllers import line_measures, pending
from kumi.controllers.own_gangs import OwnGangs
from kumi.controllers.unwritten import Unwritten
from kumi.engine.admission import cycle
from kumi.engine.decisions import Admit, Decision, Evict, EvictPod, Finish, GangPhase, Hold, Unplaced
from kumi.engine.model import Profile
from kumi.engine.placement import session
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.runtime.decider import Batch, Step
from kumi.runtime.visibility import Pending

LATER = "later"
"""what the token of a step starts with that the state has settled already"""


class Scheduler:
    """See the module and kumi.runtime.decider.Decider. `schedulers`: the pods' scheduler names that mean Kumi; `polled`: what
    it is told of besides what is watched (kumi.bridge.into.POLLED)."""

    name = "kumi-scheduler"

    def __init__(
        self,
        profile: Profile | None = None,
        schedulers: tuple[str, ...] = SCHEDULERS,
        polled: tuple[type[Object], ...] = (),
    ) -> None:
        profile, self._polled, self._schedulers = profile or Profile(), polled, schedulers
        self._state = State(profile)
        self._companions = Companions(anybody if profile.name == "volcano" else on_their_own)
        self._deltas = Deltas(schedulers, profile.settings, self._companions)
        self._volume_claims = volumeclaim.VolumeClaims()
        self._workloads: dict[str, kueue.Workload] = {}
        self._pods: dict[str, core.Pod] = {}
        self._waiting = Waiting()
        """the pods without a node that are spread with their companions"""
        self._pod_groups: dict[str, volcano.PodGroup] = {}
        self.own_gangs = OwnGangs(schedulers)
        self._strangers: dict[str, volcano.PodGroup] = {}
        """the pod groups of others"""
        self._pending: dict[str, tuple[Decision, int]] = {}
        """token -> the decision, and the least revision that the object has once it is written"""
        self._unwritten = Unwritten()
        self._now_ms = 0
        self._attempts = line_measures.Attempts()
        self.decided: tuple[Decision, ...] = ()
        """what the last `decide` decided, in its order, whether it is written now, later or never"""

    @property
    def state(self) -> State:
        """The engine's state, to look at."""
        return self._state

    def pending(self, cluster_queue: str) -> Iterator[Pending] | None:
        """See kumi.runtime.visibility.PendingSource."""
        if cluster_queue not in self._state.catalog.cluster_queues:
            return None
        return pending.line(self._state, self._workloads, cluster_queue)

    def cluster_queue_of(self, local_queue: str) -> str | None:
        """See kumi.runtime.visibility.PendingSource."""
        found = self._state.catalog.local_queues.get(local_queue)
        return found.cluster_queue if found is not None else None

    def awaited_by(self) -> Iterator[JsonObject]:
        """See kumi.runtime.decider.Awaited."""
        for _, group in sorted(self._pod_groups.items()):
            if group.status.phase not in ("Running", "Completed"):
                yield reference(group)
        for _, pod in sorted(self._pods.items(), key=lambda known: known[1].key):
            ours = pod.spec.scheduler_name in self._schedulers and pod.status.phase in ("", "Pending")
            if ours and not pod.spec.node_name and self._group_of(pod) not in self._pod_groups:
                yield reference(pod)
        for _, workload in sorted(self._workloads.items()):
            if workload.status.admission is None and not is_true(workload.status.conditions, "Finished"):
                yield reference(workload)

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured."""
        return line_measures.families(self._state, self._attempts)

    @property
    def watches(self) -> tuple[type[Object], ...]:
        """See Decider."""
        return (*AROUND, *companions.TYPES, *volumeclaim.TYPES, *TYPES, *self._polled)

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        """See Decider."""
        if type_ in AROUND:
            self._learn(old, new)
            return
        if type_ in volumeclaim.TYPES:
            self._reach(old, new)
            return
        if type_ in companions.TYPES:
            self._accompany(old, new)
            return
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            self._forget(old)
        if new is None or self._is_a_strangers(new):
            return
        try:
            delta = self._deltas.put(new)
        except KumiError:
            if old is not None:
                self._forget(old)
            return
        self._remember(new)
        self._state.apply(delta)

    @staticmethod
    def _group_of(pod: core.Pod) -> str:
        name = pod.metadata.annotations.get(volcano.GROUP_NAME_ANNOTATION, "")
        return f"{pod.metadata.namespace}/{name}"

    def _is_a_strangers(self, obj: Object) -> bool:
        """Is it another scheduler's pod group? A pod of Kumi's makes the one that it names Kumi's."""
        if isinstance(obj, volcano.PodGroup):
            if self.own_gangs.meet(obj):
                self._strangers.pop(obj.key, None)
                return False
            self._strangers[obj.key] = obj
            return True
        if isinstance(obj, core.Pod):
            group = self._strangers.get(self.own_gangs.meet_pod(obj))
            if group is not None:
                self.apply(volcano.PodGroup, group.key, None, group)
        return False

    def _learn(self, old: Object | None, new: Object | None) -> None:
        """What is around pods is another: the workloads that it is around are read again."""
        if old is not None:
            self._deltas.learn(old, gone=True)
        if new is not None:
            try:
                self._deltas.learn(new)
            except KumiError:
                self._deltas.learn(new, gone=True)
        namespace = next((obj.metadata.namespace for obj in (new, old) if obj is not None), "")
        for key, workload in sorted(self._workloads.items()):
            if not namespace or workload.metadata.namespace == namespace:
                self.apply(kueue.Workload, key, workload, workload)

    def _accompany(self, old: Object | None, new: Object | None) -> None:
        """A service or a maker is another: pods that wait, and that it concerns, are read again."""
        changes = []
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            changes.append(self._companions.learn(old, gone=True))
        if new is not None:
            try:
                changes.append(self._companions.learn(new))
            except KumiError:
                changes.append(self._companions.learn(new, gone=True))
        for touched in changes:
            for pod in self._waiting.concerned(touched) if touched is not None else ():
                self.apply(core.Pod, pod.key, pod, pod)

    def _reach(self, old: Object | None, new: Object | None) -> None:
        """A claim, a volume or a class is another."""
        try:
            deltas = self._volume_claims.deltas(old, new)
        except KumiError:
            deltas = self._volume_claims.deltas(new, None)
        for delta in deltas:
            self._state.apply(delta)

    def decide(self, now_ms: int) -> Batch:
        """See Decider."""
        self._now_ms = now_ms
        admission = cycle.decide(self._state, now_ms)
        steps = [*self._decided(admission, now_ms)]
        placement = session.decide(self._state, now_ms)
        steps.extend(self._decided(placement, now_ms))
        self.decided = (*admission, *placement)
        steps.extend(self._later(now_ms))
        return Batch(tuple(steps), self._wake(now_ms))

    def settle(self, token: str, ok: bool, error: str) -> None:
        """See Decider."""
        decision, revision = self._pending.pop(token)
        if token.startswith(LATER):
            if not ok and isinstance(decision, Hold | Unplaced) and self._about(decision) is not None:
                self._unwritten.put_back(decision, self._now_ms)
            return
        self._state.settle(decision, ok, revision)

    def _decided(self, decisions: list[Decision], now_ms: int) -> list[Step]:
        steps = []
        for decision in decisions:
            self._attempts.count(self._state, decision)
            about = self._about(decision)
            if about is None or self._may_wait(decision, about, now_ms):
                self._state.settle(decision, about is not None)
                continue
            token = _token(decision)
            self._pending[token] = (decision, _next_revision(about))
            preemptor = self._named(decision.by) if isinstance(decision, EvictPod) else ""
            steps.append(step(token, decision, about, now_ms, preemptor))
        return steps

    def _named(self, by: str) -> str:
        """The pod, or the gang, that an eviction makes room for; "" where it is gone, or is nobody in particular."""
        if by in self._pods:
            return f"pod {self._pods[by].key}"
        return f"gang {by}" if by in self._pod_groups else ""

    def _may_wait(self, decision: Decision, about: Object, now_ms: int) -> bool:
        """Whether a decision need not be written now."""
        if isinstance(decision, Unplaced):
            if decision.reasons and all(r.code is Code.GANG_INCOMPLETE for r in decision.reasons):
                self._unwritten.put(decision, now_ms)
                return True
        elif isinstance(decision, Hold) and isinstance(about, kueue.Workload):
            if about.metadata.deletion_timestamp is not None:
                return True
            if not is_another_answer(decision, about):
                self._unwritten.put(decision, now_ms)
                return True
        if isinstance(decision, Admit | Hold | Evict | Finish):
            self._unwritten.drop_workload(decision.workload)
        elif not isinstance(decision, GangPhase):
            self._unwritten.drop_pod(decision.pod)
        return False

    def _later(self, now_ms: int) -> list[Step]:
        steps: list[Step] = []
        for decision in self._unwritten.take(now_ms):
            about = self._about(decision)
            if about is None or (isinstance(decision, Hold) and _is_written(decision, about)):
                continue
            token = f"{LATER} {_token(decision)}"
            self._pending[token] = (decision, 0)
            steps.append(step(token, decision, about, now_ms))
        return steps

    def _wake(self, now_ms: int) -> int | None:
        times = (self._state.wake_at_ms(), self._unwritten.wake_at_ms(now_ms))
        return min((t for t in times if t is not None), default=None)

    def _about(self, decision: Decision) -> Object | None:
        if isinstance(decision, Admit | Hold | Evict | Finish):
            return self._workloads.get(decision.workload)
        if isinstance(decision, GangPhase):
            return self._pod_groups.get(decision.group)
        return self._pods.get(decision.pod)

    def _remember(self, obj: Object) -> None:
        if isinstance(obj, core.Pod):
            self._pods[obj.metadata.uid] = obj
            if obj.spec.node_name or not self._companions.may_spread(obj):
                self._waiting.drop(obj.metadata.uid)
            else:
                self._waiting.put(obj)
        elif isinstance(obj, kueue.Workload):
            self._workloads[obj.key] = obj
        elif isinstance(obj, volcano.PodGroup):
            self._pod_groups[obj.key] = obj

    def _forget(self, obj: Object) -> None:
        if isinstance(obj, core.Pod):
            self._pods.pop(obj.metadata.uid, None)
            self._waiting.drop(obj.metadata.uid)
            self._unwritten.drop_pod(obj.metadata.uid)
            self.own_gangs.part_with_pod(obj)
        elif isinstance(obj, kueue.Workload):
            self._workloads.pop(obj.key, None)
            self._unwritten.drop_workload(obj.key)
        elif isinstance(obj, volcano.PodGroup):
            self.own_gangs.part(obj.key)
            self._strangers.pop(obj.key, None)
            self._pod_groups.pop(obj.key, None)
        self._state.apply(removal(obj))


def _is_written(hold: Hold, about: Object) -> bool:
    """Whether the record is there already, its time aside."""
    assert isinstance(about, kueue.Workload)
    wanted = {k: v for k, v in record_to_json(hold.record).items() if v is not None and k != "time"}
    said = {k: v for k, v in (about.status.decision or {}).items() if v is not None and k != "time"}
    return said == wanted


def _next_revision(about: Object) -> int:
    """A write that is conditional on this version makes a later one, and there is none between; 0: not known."""
    version = about.metadata.resource_version
    return int(version) + 1 if version.isdecimal() else 0


def _token(decision: Decision) -> str:
    if isinstance(decision, Admit | Hold | Evict | Finish):
        about = decision.workload
    else:
        about = decision.group if isinstance(decision, GangPhase) else decision.pod
    return f"{type(decision).__name__.lower()} {about}"
