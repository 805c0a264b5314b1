"""The decider: admission, then placement, on one state, so that quota and nodes are decided together and seen once.

The rule   apply     an object becomes a delta (kumi.bridge.into); one that can't be read is not there
           decide    admission's cycle, then placement's session, at one `now`; each decision is a step (kumi.bridge.out)
           settle    the state keeps what was acknowledged and undoes what was refused
Unwritten  what is no news to anybody waits for its turn (unwritten.py); for the state it is settled.
Cost       O(changes) a call, besides the engine's own.
"""

from __future__ import annotations

from kumi.api import core, kueue
from kumi.api.errors import KumiError
from kumi.api.meta import Object
from kumi.bridge.into import TYPES, Deltas, removal
from kumi.bridge.into.pod import SCHEDULERS
from kumi.bridge.messages import record_to_json
from kumi.bridge.out import step
from kumi.bridge.out.hold import is_another_answer
from kumi.controllers.unwritten import Unwritten
from kumi.engine.admission import cycle
from kumi.engine.decisions import Admit, Bind, Decision, Evict, Hold, Unplaced
from kumi.engine.model import Profile
from kumi.engine.placement import session
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.runtime.decider import Batch, Step

LATER = "later"
"""what the token of a step starts with that the state has settled already"""


class Scheduler:
    """See the module and kumi.runtime.decider.Decider. `schedulers`: the pods' scheduler names that mean Kumi."""

    name = "kumi-scheduler"

    def __init__(self, profile: Profile | None = None, schedulers: tuple[str, ...] = SCHEDULERS) -> None:
        self._state = State(profile or Profile())
        self._deltas = Deltas(schedulers)
        self._workloads: dict[str, kueue.Workload] = {}
        self._pods: dict[str, core.Pod] = {}
        self._pending: dict[str, tuple[Decision, int]] = {}
        """token -> the decision, and the least revision that the object has once it is written"""
        self._unwritten = Unwritten()
        self._now_ms = 0

    @property
    def state(self) -> State:
        """The engine's state, to look at."""
        return self._state

    @property
    def watches(self) -> tuple[type[Object], ...]:
        """See Decider."""
        return TYPES

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        """See Decider."""
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            self._forget(old)
        if new is None:
            return
        try:
            delta = self._deltas.put(new)
        except KumiError:
            if old is not None:
                self._forget(old)
            return
        self._remember(new)
        self._state.apply(delta)

    def decide(self, now_ms: int) -> Batch:
        """See Decider."""
        self._now_ms = now_ms
        steps = [*self._decided(cycle.decide(self._state, now_ms), now_ms)]
        steps.extend(self._decided(session.decide(self._state, now_ms), now_ms))
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
            about = self._about(decision)
            if about is None or self._may_wait(decision, about, now_ms):
                self._state.settle(decision, about is not None)
                continue
            token = _token(decision)
            self._pending[token] = (decision, _next_revision(about))
            steps.append(step(token, decision, about, now_ms))
        return steps

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
        if isinstance(decision, Bind | Unplaced):
            self._unwritten.drop_pod(decision.pod)
        else:
            self._unwritten.drop_workload(decision.workload)
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
        if isinstance(decision, Admit | Hold | Evict):
            return self._workloads.get(decision.workload)
        return self._pods.get(decision.pod)

    def _remember(self, obj: Object) -> None:
        if isinstance(obj, core.Pod):
            self._pods[obj.metadata.uid] = obj
        elif isinstance(obj, kueue.Workload):
            self._workloads[obj.key] = obj

    def _forget(self, obj: Object) -> None:
        if isinstance(obj, core.Pod):
            self._pods.pop(obj.metadata.uid, None)
            self._unwritten.drop_pod(obj.metadata.uid)
        elif isinstance(obj, kueue.Workload):
            self._workloads.pop(obj.key, None)
            self._unwritten.drop_workload(obj.key)
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
    about = decision.workload if isinstance(decision, Admit | Hold | Evict) else decision.pod
    return f"{type(decision).__name__.lower()} {about}"
