"""Books: which job has which pods, and whether it runs, kept by what is written to the API of a run at stack speed.

The rule   a pod belongs to the job that submitted it, or whose Job or PyTorchJob is its controller
           a pod with a node holds it; a job runs as soon as so many of its pods run as it needs (life.py)
           a pod that is deleted, or fails, is no longer its job's: preempted where the scheduler says so, else lost. A job that
           runs and has too few left is stopped: the pods that it still has are to go (`doomed`), and all come anew (`anew`)
           a workload is stopped when the scheduler decides to evict it; its controllers do the rest
Told       observers hear of decisions when they are decided, and of what follows when it is written, as at engine speed: pods
           that leave before pods that are placed, all of one decision together. Pods and workloads of jobs are named as there.
Not here   the writing: stack.py. The rules of a job's life: life.py, engine.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kumi.api.core import Pod
from kumi.api.meta import find_condition
from kumi.bridge.into.pod import INDEX_KEYS
from kumi.controllers.scheduler import Scheduler
from kumi.engine.decisions import Admit, Bind, Decision, Evict, EvictPod, Finish, GangPhase, Hold
from kumi.evaluator.feed import News
from kumi.evaluator.heap import Heap
from kumi.evaluator.job_objects import NOTHING, Submission, role_of
from kumi.evaluator.life import Life, Seat, pod_uid
from kumi.evaluator.model import Observer, Via, What
from kumi.kubelet.pod_state import FINAL
from kumi.runtime.decider import Decider

BY_SCHEDULER = "PreemptionByScheduler"
NODE_FAILURES = "NodeFailures"


@dataclass(slots=True, eq=False)
class Submitted(Life):
    """A job whose objects are in the API. `owner`: the uid of what its pods are made of, `of_workload`: the key of its
    Workload."""

    owner: str = ""
    of_workload: str = ""
    objects: Submission = NOTHING
    seats: dict[int, dict[int, str]] = field(default_factory=dict)
    """the other way round: role -> place of it -> uid"""
    running: dict[str, None] = field(default_factory=dict)
    """uids of pods that run"""

    @property
    def workload(self) -> str:
        """See Life."""
        return self.of_workload


class Books:
    """See the module; kumi.evaluator.loops.Watcher. `now_ms` says what the time is."""

    def __init__(self, observers: Sequence[Observer], heap: Heap[Submitted], now_ms: Callable[[], int]) -> None:
        self.lives: dict[str, Submitted] = {}
        self.anew: dict[str, Submitted] = {}
        """stopped: those of their pods that no controller makes are submitted again once the scheduler has nothing to say"""
        self.doomed: dict[str, list[Pod]] = {}
        """key of a job -> pods of it that are to go"""
        self.decisions = 0
        """how many steps of the scheduler there were"""
        self._observers, self._heap, self._now_ms = tuple(observers), heap, now_ms
        self._of_pod: dict[str, Submitted] = {}
        self._pods: dict[str, Pod] = {}
        """uid -> the pod as last seen, of pods of jobs"""
        self._made = {True: 0, False: 0}
        """how many pods were made, of workloads (True) and others"""
        self._names: dict[str, str] = {}
        """uid -> as observers know it"""
        self._of_owner: dict[str, Submitted] = {}
        """uid of a Job -> whose it is"""
        self._of_workload: dict[str, Submitted] = {}
        """key of a Workload -> whose it is"""
        self._bound: dict[str, list[str]] = {}
        """key of a job -> uids of pods that were bound, and of which nobody was told yet"""

    # what the run says

    def arrived(self, life: Submitted) -> None:
        """It is submitted now."""
        self.lives[life.job.key] = life
        self.happened(life, What.ARRIVED, 0)

    def submitted(self, life: Submitted, uid: str, seat: Seat) -> None:
        """That pod was made for that place of it."""
        self._of_pod[uid] = life
        self._sits(life, uid, seat)
        self._names[uid] = self.next_uid(life, seat)
        self._made[life.via is Via.WORKLOAD] += 1

    def next_uid(self, life: Submitted, seat: Seat) -> str:
        """Of a pod for that place, if it is made now: as at engine speed."""
        return pod_uid(life, seat, self._made[life.via is Via.WORKLOAD])

    def owned(self, life: Submitted, uid: str, workload: str) -> None:
        """The Job with that uid was made for it, and makes the Workload with that key."""
        self._of_owner[uid] = self._of_workload[workload] = life
        life.owner, life.of_workload = uid, workload

    def queued(self, life: Submitted, workload: str) -> None:
        """Its pods are in a queue, as the Workload with that key."""
        self._of_workload.pop(life.of_workload, None)
        self._of_workload[workload] = life
        life.of_workload = workload

    def ended(self, life: Submitted, what: What) -> list[Pod]:
        """It is no longer there, and has no pods; those that it had."""
        job, now_ms = life.job, self._now_ms()
        pods = [self._pods[uid] for uid in life.pods if uid in self._pods]
        done = life.kept_ms + (now_ms - life.started_ms) if life.started_ms is not None else life.kept_ms
        self._call_off(life)
        self.happened(life, what, done if what is What.FINISHED else life.kept_at(now_ms))
        life.started_ms = None
        self._go(life, list(life.pods))
        self.anew.pop(job.key, None)
        self.doomed.pop(job.key, None)
        self._of_owner.pop(life.owner, None)
        self._of_workload.pop(life.of_workload, None)
        del self.lives[job.key]
        return pods

    def happened(self, life: Submitted, what: What, kept_ms: int) -> None:
        """Tells the observers."""
        for observer in self._observers:
            observer.happened(self._now_ms(), what, life.job, kept_ms)

    def is_followed(self, pod: Pod) -> bool:
        """Whether the pod is a job's, which says when it ends."""
        owner = pod.metadata.controller
        return pod.metadata.uid in self._of_pod or (owner is not None and owner.uid in self._of_owner)

    def owns(self, workload: str) -> bool:
        """Whether the Workload of that key is a job's by itself: no controller makes its pods."""
        life = self._of_workload.get(workload)
        return life is not None and life.objects.is_alone

    # what is written and decided

    def seen(self, news: News) -> None:
        """See Watcher."""
        if news.type is not Pod:
            return
        pod = news.new if news.new is not None else news.old
        assert isinstance(pod, Pod)
        uid = pod.metadata.uid
        is_gone = news.new is None or pod.metadata.deletion_timestamp is not None or pod.status.phase == "Failed"
        life = self._of_pod.get(uid)
        if life is None and news.old is None and not is_gone:
            life = self._adopted(pod)
        if life is None:
            return
        self._pods[uid] = pod
        if is_gone:
            mark = find_condition(pod.status.conditions, "DisruptionTarget")
            by_scheduler = mark is not None and mark.reason == BY_SCHEDULER
            self._take(life, uid, What.PREEMPTED if by_scheduler else What.LOST)
            return
        if pod.spec.node_name and uid not in life.nodes:
            life.nodes[uid] = pod.spec.node_name
            self._bound.setdefault(life.job.key, []).append(uid)
            self.bound(pod)
        if pod.status.phase == "Running" and uid not in life.running:
            life.running[uid] = None
            self._begins(life)

    def decided(self, decider: Decider) -> None:
        """See Watcher."""
        if not isinstance(decider, Scheduler):
            return
        self.decisions += len(decider.decided)
        seated, free = dict[str, None](), dict[tuple[str, int], list[int]]()
        for decision in decider.decided:
            if isinstance(decision, Bind):
                self._takes_seat(decision.pod, seated, free)
                seated[decision.pod] = None
            self.tell(self._named(decision))
            if isinstance(decision, Admit) and (life := self._of_workload.get(decision.workload)) is not None:
                life.admission = decision.admission
            elif isinstance(decision, Evict) and (life := self._of_workload.get(decision.workload)) is not None:
                self._evicted(life, What.LOST if decision.why == NODE_FAILURES else What.PREEMPTED)
                free.clear()

    def done(self, decider: Decider) -> None:
        """See Watcher."""
        self.tell_placed()

    def bound(self, pod: Pod) -> None:
        """The pod of a job has a node now. Its Bind was told before."""

    def name_of(self, uid: str) -> str:
        """The uid of a job's pod, as observers know it."""
        return self._names.get(uid, uid)

    def tell(self, decision: Decision) -> None:
        """Observers hear of a decision, which is about jobs as they know them."""
        for observer in self._observers:
            observer.decided(self._now_ms(), decision)

    def tell_placed(self) -> None:
        """Observers hear of pods that were bound since they last did."""
        bound, self._bound = self._bound, {}
        for key, uids in bound.items():
            life = self.lives.get(key)
            there = [uid for uid in uids if life is not None and uid in life.nodes]
            if life is not None and there:
                places = life.places(there)
                for observer in self._observers:
                    observer.placed(self._now_ms(), life.job, places)

    # what follows

    def _adopted(self, pod: Pod) -> Submitted | None:
        """Whose a pod is that a controller made, which is noted."""
        owner = pod.metadata.controller
        life = self._of_owner.get(owner.uid) if owner is not None else None
        if life is None or pod.status.phase in FINAL:
            return None
        role = role_of(life.job, pod)
        taken, index = life.seats.get(role, {}), _index(pod)
        place = len(taken) if index is None else index
        while place in taken:
            place += 1
        self.submitted(life, pod.metadata.uid, (role, place))
        return life

    def _sits(self, life: Submitted, uid: str, seat: Seat) -> None:
        life.pods[uid] = seat
        life.seats.setdefault(seat[0], {})[seat[1]] = uid

    def _takes_seat(self, uid: str, seated: Mapping[str, None], free: dict[tuple[str, int], list[int]]) -> None:
        """The pod of a workload that doesn't tell its pods apart has the first of their places that waits for a node: at engine
        speed places are filled in order. `seated`: who got one by this decision; `free`: gets, by job and role, the places whose
        pods still wait, the first one last."""
        life, pod = self._of_pod.get(uid), self._pods.get(uid)
        if life is None or life.via is not Via.WORKLOAD or pod is None or _index(pod) is not None:
            return
        seat = life.pods[uid]
        there = life.seats[seat[0]]
        left = free.get((life.job.key, seat[0]))
        if left is None:
            left = [place for place, other in there.items() if other not in life.nodes and other not in seated]
            left = free[life.job.key, seat[0]] = sorted(left, reverse=True)
        if not left:
            return
        place = left.pop()
        first = there[place]
        self._sits(life, first, seat)
        self._sits(life, uid, (seat[0], place))
        self._names[uid], self._names[first] = self._names[first], self._names[uid]

    def _begins(self, life: Submitted) -> None:
        """One more of its pods runs."""
        if life.started_ms is not None or len(life.running) < max(1, life.least):
            return
        self.tell_placed()
        now_ms = self._now_ms()
        life.started_ms = now_ms
        self.happened(life, What.STARTED, life.kept_ms)
        left_ms = life.left_ms
        if left_ms is not None:
            life.ending = self._heap.end(now_ms + left_ms, life)

    def _take(self, life: Submitted, uid: str, what: What) -> None:
        """It has this pod no longer, for that cause."""
        stays = len(life.nodes) - (uid in life.nodes)
        if life.started_ms is not None and stays < max(1, life.least):
            left = [self._pods[other] for other in life.pods if other != uid and other in self._pods]
            self.doomed.setdefault(life.job.key, []).extend(left)
            self._stop(life, what)
        else:
            self._go(life, [uid])
        self.anew[life.job.key] = life

    def _evicted(self, life: Submitted, what: What) -> None:
        """The scheduler evicts its workload."""
        if life.started_ms is not None:
            self._stop(life, what)
        else:
            self._go(life, list(life.pods))
        life.admission = None
        if not life.owner:
            self.anew[life.job.key] = life

    def _stop(self, life: Submitted, what: What) -> None:
        self._call_off(life)
        life.kept_ms = life.kept_at(self._now_ms())
        self.happened(life, what, life.kept_ms)
        life.started_ms = None
        self._go(life, list(life.pods))

    def _go(self, life: Submitted, uids: list[str]) -> None:
        """These pods of it are gone. Who was bound and had to go by one and the same decision was never placed."""
        untold, gone = dict.fromkeys(self._bound.get(life.job.key, [])), dict.fromkeys(uids)
        self._bound[life.job.key] = [uid for uid in untold if uid not in gone]
        placed = [uid for uid in uids if uid in life.nodes and uid not in untold]
        if placed:
            places = life.places(placed)
            for observer in self._observers:
                observer.left(self._now_ms(), life.job, places)
        for uid in uids:
            role, place = life.pods.pop(uid)
            del life.seats[role][place]
            for table in (life.nodes, life.running, self._of_pod, self._pods, self._names):
                table.pop(uid, None)

    def _call_off(self, life: Submitted) -> None:
        if life.ending:
            self._heap.call_off(life.ending)
            life.ending = 0

    # names

    def _named(self, decision: Decision) -> Decision:
        """The decision, about jobs as observers know them."""
        if isinstance(decision, GangPhase):
            return decision
        if isinstance(decision, Admit | Hold | Evict | Finish):
            told: Decision = replace(decision, workload=self._workload(decision.workload))
            if isinstance(told, Evict | Finish):
                told = replace(told, by=self._workload(told.by))
            return told
        told = replace(decision, pod=self.name_of(decision.pod))
        return replace(told, by=self.name_of(told.by)) if isinstance(told, EvictPod) else told

    def _workload(self, key: str) -> str:
        life = self._of_workload.get(key)
        return key if life is None else life.job.key


def _index(pod: Pod) -> int | None:
    for key in INDEX_KEYS:
        text = pod.metadata.labels.get(key, "")
        if text.isascii() and text.isdecimal():
            return int(text)
    return None
