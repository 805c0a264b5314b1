"""Life: one job at engine speed, and the nouns that stand for it in the engine's state.

The rule   POD        a Pod each, none of a workload or a gang; the job runs when all of them do
           GANG       a PodGroup and its Pods; it runs when its minimum does
           WORKLOAD   a Workload in its LocalQueue; once it is admitted its Pods, so many as it was admitted with
           a place of a job is (number of the role, number within it); each time that the pod of a place comes anew, it is another
             pod, with a uid of its own
Names      a pod is named as its job where that is one pod, else job-role-number. Its uid says how many pods were made before
             it, then whose it is: the job's key, the place. Pods of workloads are counted apart: at stack speed controllers
             make them, and the others have the same uids there.
Times      the engine is told whole seconds, rounded down, as production has them. Of one second, pods and workloads are in the
             order in which they came (by uid, as those that a server gives are), gangs in that of their keys, as Volcano has it.
Priority   of a gang: of a PriorityClass that is named after the value, as production's gangs have theirs by name.
Minimum    of a workload of one role: with how many pods it is content (partial admission); with more roles, all.
Source     Kubernetes: pods. Volcano: pod groups, and what they need in all. Kueue: workloads.
Not here   what happens to it: engine.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kumi.engine.admission.matching import shaped
from kumi.engine.gangs import ALONE, Member, PodGroup, PriorityClass
from kumi.engine.model import Admission, Flavor, Pod, PodSet, PodShape, Workload
from kumi.engine.settings import QueueOrder
from kumi.evaluator.model import Job, Places, Via

DEFAULT_QUEUE = "default"
"""where gangs go that name no queue"""
Seat = tuple[int, int]
"""a place of a job: (number of the role, number within it)"""
ONLY: Seat = (0, 0)


@dataclass(slots=True, eq=False)
class Life:
    """A job that is in the system. `started_ms` None: it doesn't run. `kept_ms`: what of its run need not be done again."""

    job: Job
    via: Via
    number: int = 0
    """how many jobs came before it"""
    kept_ms: int = 0
    started_ms: int | None = None
    ending: int = 0
    """the number of its end (heap.py), while it runs"""
    pods: dict[str, Seat] = field(default_factory=dict)
    """uid -> which of its places, of those that are there"""
    nodes: dict[str, str] = field(default_factory=dict)
    """uid -> node, of those that have one"""
    admission: Admission | None = None
    """of a workload, while it may have pods"""

    @property
    def uid(self) -> str:
        """Of its Workload or PodGroup: in the order in which jobs come, as those that a server gives are."""
        return f"{self.number:012d}"

    @property
    def workload(self) -> str:
        """The key of its Workload, if it comes as one."""
        return self.job.key

    @property
    def least(self) -> int:
        """So many of its pods run, or it doesn't."""
        if self.via is Via.WORKLOAD:
            return sum(given.count for given in self.admission.pod_sets) if self.admission is not None else 0
        if self.via is Via.GANG and self.job.least is not None:
            return min(self.job.least, self.job.pods)
        return self.job.pods

    @property
    def left_ms(self) -> int | None:
        """How long it still has to run from its start; None: until it is deleted."""
        runs = self.job.runs_ms
        return None if runs is None else max(0, runs - self.kept_ms)

    def kept_at(self, now_ms: int) -> int:
        """What it need not do again if it stops now: the whole spans of its checkpoints."""
        span = self.job.checkpoint_ms
        if self.started_ms is None or not span:
            return self.kept_ms
        return self.kept_ms + (now_ms - self.started_ms) // span * span

    def places(self, uids: list[str]) -> Places:
        """Where these pods are, as observers are told."""
        return [(self.pods[uid][0], self.nodes[uid]) for uid in uids]


def seconds(now_ms: int) -> int:
    """The time as the API has it."""
    return now_ms // 1000 * 1000


def missing_pods(life: Life, now_ms: int, flavors: dict[str, Flavor], before: int) -> list[Pod]:
    """The pods that it should have and hasn't, noted as its own. `before`: how many such pods were made in the run so far."""
    job, there = life.job, set(life.pods.values())
    counts = _counts(life)
    member = _member(life)
    made: list[Pod] = []
    for number, role in enumerate(job.roles):
        part = member if life.via is not Via.GANG else replace(member, group=job.key, role=role.name)
        shape = _shape(life, number, role.shape, flavors)
        for index in range(counts[number]):
            if (number, index) in there:
                continue
            uid = pod_uid(life, (number, index), before + len(made))
            life.pods[uid] = (number, index)
            pod = _pod(life, uid, shape, part, now_ms)
            made.append(pod)
    return made


def is_single(job: Job) -> bool:
    """Is it one pod?"""
    return len(job.roles) == 1 and job.roles[0].count == 1


def pod_uid(life: Life, seat: Seat, before: int) -> str:
    """Of the pod in that place; `before`: how many pods were made in the run so far, of workloads or of others, as it is."""
    number = f"w{before:011d}" if life.via is Via.WORKLOAD else f"{before:012d}"
    return f"{number}#{life.job.key}" if is_single(life.job) else f"{number}#{life.job.key}/{seat[0]}/{seat[1]}"


def _pod(life: Life, uid: str, shape: PodShape, member: Member, now_ms: int) -> Pod:
    job, seat = life.job, life.pods[uid]
    ending = "" if is_single(job) else f"-{job.roles[seat[0]].name}-{seat[1]}"
    of_workload = life.via is Via.WORKLOAD
    return Pod(
        uid=uid,
        key=f"{job.key}{ending}",
        shape=shape,
        created_ms=seconds(now_ms),
        priority=job.priority,
        workload=job.key if of_workload else "",
        pod_set=job.roles[seat[0]].name if of_workload else "",
        index=seat[1] if of_workload else None,
        member=member,
        labels=job.labels,
    )


def _counts(life: Life) -> list[int]:
    if life.via is not Via.WORKLOAD:
        return [role.count for role in life.job.roles]
    assert life.admission is not None
    given = {one.name: one.count for one in life.admission.pod_sets}
    return [given.get(role.name, 0) for role in life.job.roles]


def _shape(life: Life, number: int, shape: PodShape, flavors: dict[str, Flavor]) -> PodShape:
    """As its pods are made: those of a workload have the labels and tolerations of its flavors."""
    if life.admission is None:
        return shape
    name = life.job.roles[number].name
    named = dict.fromkeys(f for one in life.admission.pod_sets if one.name == name for _, f in one.flavors)
    found = [flavors[flavor] for flavor in named if flavor in flavors]
    return shaped(shape, found) if any(f.node_labels or f.tolerations for f in found) else shape


def _member(life: Life) -> Member:
    job = life.job
    if life.via is Via.GANG:
        return Member(priority=job.priority, deadline_ms=job.deadline_ms, execution_ms=job.said_ms)
    if job.deadline_ms is None and job.said_ms is None:
        return ALONE
    return Member(deadline_ms=job.deadline_ms, execution_ms=job.said_ms)


# gangs


def queue_of(job: Job) -> str:
    """The Queue of a gang."""
    return job.queue or DEFAULT_QUEUE


def priority_class(job: Job) -> PriorityClass | None:
    """What its gang's class is; None: it needs none."""
    return PriorityClass(f"priority{job.priority}", job.priority) if job.priority else None


def group(life: Life, now_ms: int) -> PodGroup:
    """The gang's PodGroup as it comes."""
    job = life.job
    named = priority_class(job)
    return PodGroup(
        key=job.key,
        queue=queue_of(job),
        created_ms=seconds(now_ms),
        uid=life.uid,
        least=life.least,
        resources=_needs(life),
        priority_class=named.name if named is not None else "",
        deadline_ms=job.deadline_ms,
        execution_ms=job.said_ms,
    )


def _needs(life: Life) -> tuple[tuple[str, int], ...]:
    """What its first `least` pods ask for together."""
    left, needs = life.least, dict[str, int]()
    for role in life.job.roles:
        many = min(left, role.count)
        left -= many
        for resource, amount in role.shape.requests:
            needs[resource] = needs.get(resource, 0) + many * amount
    return tuple(sorted((resource, amount) for resource, amount in needs.items() if amount))


# workloads


def workload(life: Life, now_ms: int, order: QueueOrder) -> Workload:
    """The job's Workload as it comes."""
    job = life.job
    least = job.least if len(job.roles) == 1 else None
    return Workload(
        key=job.key,
        uid=life.uid,
        namespace=job.namespace,
        queue=f"{job.namespace}/{job.queue}",
        priority=job.priority,
        created_ms=seconds(now_ms),
        pod_sets=tuple(
            PodSet(
                role.name,
                role.count,
                role.shape,
                least=least if least is not None and least < role.count else None,
                namespace=job.namespace,
                labels=job.labels,
            )
            for role in job.roles
        ),
        job=f"{job.kind} {job.key}",
        queued_ms=turn_ms(job, order, seconds(now_ms)),
    )


def turn_ms(job: Job, order: QueueOrder, created_ms: int, queued_ms: int = 0) -> int:
    """A workload's time in the order of its queue where that isn't its creation; 0: it is. `queued_ms`: when it was put back in
    its queue, where that is what counts; 0: it isn't."""
    if order in (QueueOrder.TIME, QueueOrder.FAIR):
        return queued_ms
    return order.turn_ms(job.deadline_ms, job.said_ms, queued_ms or created_ms)
