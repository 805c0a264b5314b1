"""Job objects: a job of a load as the API objects that its owner would submit.

The rule   POD        a Pod each
           GANG       a PodGroup with its minimum and what that needs, and its Pods, which name it
           WORKLOAD   one role: a batch Job, indexed, in its LocalQueue, that may start with fewer pods where the job says so;
                      several: a Workload alone, with a pod set a role (the pods of a training job's kinds have more to them)
           the time that the owner says and the deadline are kumi.dev/execution-duration and kumi.dev/deadline, a share of a GPU
           kumi.dev/gpu-share; a priority is a PriorityClass that is named after it
Law        what kumi.bridge.into reads of a pod is the shape that it was made of.
Why        a pod that is lost with its node, or makes room, is no failure of its Job's: none waits for a back-off
           (podFailurePolicy). A Job goes when it has finished: half a year of them is not kept.
Names      as life.py has them.
Errors     KumiError for what no object says: pods that depend on volumes.
Not here   who submits them again when they were stopped: stack.py; who makes the pods of a Workload alone: workload_owner.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kumi.api import gpu_sharing
from kumi.api.core import Pod
from kumi.api.errors import KumiError
from kumi.api.kueue import POD_SET_LABEL, QUEUE_LABEL
from kumi.api.meta import format_micro_time
from kumi.api.quantity import format_amount
from kumi.api.volcano import GROUP_NAME_ANNOTATION, TASK_SPEC_ANNOTATION
from kumi.api.wire import JsonObject
from kumi.bridge.into.neighbours import HARD, SOFT
from kumi.engine.gangs import PodGroup
from kumi.engine.model import Neighbours, PodShape, PodTerm, SpreadTerm
from kumi.evaluator.life import Life, Seat, group, is_single, priority_class, queue_of
from kumi.evaluator.model import Job, Role, Via
from kumi.evaluator.objects import KUEUE, VOLCANO, quantities, requirement_json, selector_json, toleration_json
from kumi.evaluator.said import text
from kumi.jobs.due import DEADLINE, EXECUTION, EXECUTION_NAME
from kumi.jobs.job import MIN_PARALLELISM, SAME_COMPLETIONS
from kumi.jobs.training import REPLICA_TYPE

IMAGE = "kumi.dev/none"
"""of containers that nothing runs"""
WORKLOAD = "Workload"
CPU, MEMORY = "cpu", "memory"


def name_of(job: Job, seat: Seat) -> str:
    """What the pod in a place of a job is called, its namespace aside."""
    own = job.key.partition("/")[2]
    return own if is_single(job) else f"{own}-{job.roles[seat[0]].name}-{seat[1]}"


def pod_object(job: Job, via: Via, seat: Seat) -> JsonObject:
    """The Pod in a place of a job that comes as pods or as a gang."""
    role = job.roles[seat[0]]
    annotations = _annotations(job, role)
    if via is Via.GANG:
        annotations |= {GROUP_NAME_ANNOTATION: job.key.partition("/")[2], TASK_SPEC_ANNOTATION: role.name}
    meta = {
        "namespace": job.namespace,
        "name": name_of(job, seat),
        "labels": dict(job.labels),
        "annotations": annotations,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod_spec(job, role)}


def group_object(life: Life, noun: PodGroup) -> JsonObject:
    """The PodGroup of a gang."""
    job = life.job
    spec: JsonObject = {
        "minMember": noun.least,
        "queue": queue_of(job),
        "minResources": quantities(noun.resources or ()),
    }
    if noun.priority_class:
        spec["priorityClassName"] = noun.priority_class
    meta = {"namespace": job.namespace, "name": job.key.partition("/")[2], "annotations": _said(job)}
    return {"apiVersion": VOLCANO, "kind": "PodGroup", "metadata": meta, "spec": spec}


def workload_object(job: Job) -> JsonObject:
    """The queued job that its Workload is made of, or the Workload."""
    return _batch_job(job, job.roles[0]) if len(job.roles) == 1 else _workload(job)


def _batch_job(job: Job, role: Role) -> JsonObject:
    meta = _queued(job)
    if job.least is not None and job.least < role.count:
        meta["annotations"] |= {MIN_PARALLELISM: str(max(1, job.least)), SAME_COMPLETIONS: "true"}
    spec = {
        "parallelism": role.count,
        "completions": role.count,
        "completionMode": "Indexed",
        "backoffLimit": 2**31 - 1,
        "ttlSecondsAfterFinished": 0,
        "podFailurePolicy": {
            "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
        },
        "template": _template(job, role),
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


def _workload(job: Job) -> JsonObject:
    """Named as a Job's would be: binds of one instant go by the names of Workloads, and so are in the order of jobs."""
    pod_sets = [{"name": role.name, "count": role.count, "template": _template(job, role)} for role in job.roles]
    queued = _queued(job)
    meta = {"namespace": job.namespace, "name": f"job-{queued['name']}", "annotations": queued["annotations"]}
    spec = {"queueName": job.queue, "priority": job.priority, "podSets": pod_sets}
    return {"apiVersion": KUEUE, "kind": WORKLOAD, "metadata": meta, "spec": spec}


def _queued(job: Job) -> JsonObject:
    meta = {"namespace": job.namespace, "name": job.key.partition("/")[2], "labels": {QUEUE_LABEL: job.queue}}
    return meta | {"annotations": _said(job)}


def _template(job: Job, role: Role) -> JsonObject:
    return {
        "metadata": {"labels": dict(job.labels), "annotations": _annotations(job, role)},
        "spec": pod_spec(job, role),
    }


def _annotations(job: Job, role: Role) -> dict[str, str]:
    """Of a pod: what the API has no fields for."""
    share = role.shape.share
    return _said(job) | ({gpu_sharing.SHARE: str(share)} if share else {})


def _said(job: Job) -> dict[str, str]:
    said: dict[str, str] = {}
    if job.said_ms is not None:
        said[EXECUTION] = f"{job.said_ms}ms"
    if job.deadline_ms is not None:
        said[DEADLINE] = format_micro_time(job.deadline_ms)
    return said


# pods


def pod_spec(job: Job, role: Role) -> JsonObject:
    """The spec of a pod of that shape. KumiError for one that no spec says."""
    shape = role.shape
    if shape.volume_claims:
        raise KumiError(f"job {job.key}: pods with volumes are given as YAML at stack speed")
    spec: JsonObject = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": _containers(shape)}
    spec |= {"automountServiceAccountToken": False}
    if shape.node_selector:
        spec["nodeSelector"] = dict(shape.node_selector)
    if shape.tolerations:
        spec["tolerations"] = [toleration_json(toleration) for toleration in shape.tolerations]
    if affinity := _affinity(shape):
        spec["affinity"] = affinity
    if shape.neighbours is not None and shape.neighbours.spread:
        spec["topologySpreadConstraints"] = [_spread(term) for term in shape.neighbours.spread]
    named = priority_class(job)
    if named is not None:
        spec["priorityClassName"] = named.name
    return spec


def _containers(shape: PodShape) -> list[JsonObject]:
    """All is asked for by the first. One that says nothing of cpu or memory says 0, or scores would take it for a little."""
    asked = {name: amount for name, amount in shape.requests if not (shape.share and name == gpu_sharing.RESOURCE)}
    if shape.scored is None:
        asked = {CPU: 0, MEMORY: 0} | asked
    requests = {name: format_amount(name, amount) for name, amount in asked.items()}
    resources: JsonObject = {"requests": requests}
    devices = {name: text for name, text in requests.items() if "/" in name}
    if shape.whole_cpus:
        resources["limits"] = requests
    elif devices:
        resources["limits"] = devices
    images = (*shape.images, *(IMAGE for _ in range(shape.containers - len(shape.images))))
    made: list[JsonObject] = [{"name": f"c{number}", "image": image} for number, image in enumerate(images)]
    made[0]["resources"] = resources
    if shape.ports:
        made[0]["ports"] = [
            {"containerPort": port.port, "hostPort": port.port, "protocol": port.protocol}
            | ({} if port.ip == "0.0.0.0" else {"hostIP": port.ip})
            for port in shape.ports
        ]
    return made


def _affinity(shape: PodShape) -> JsonObject:
    nodes: JsonObject = {}
    if shape.affinity is not None:
        terms = [{"matchExpressions": [requirement_json(r) for r in term]} for term in shape.affinity]
        nodes[HARD] = {"nodeSelectorTerms": terms or [{}]}
    if shape.preferred:
        nodes[SOFT] = [
            {"weight": weight, "preference": {"matchExpressions": [requirement_json(r) for r in term]}}
            for weight, term in shape.preferred
        ]
    made: JsonObject = {"nodeAffinity": nodes} if nodes else {}
    said = shape.neighbours or Neighbours()
    for name, hard, soft in (
        ("podAffinity", said.near, said.rather_near),
        ("podAntiAffinity", said.apart, said.rather_apart),
    ):
        part: JsonObject = {}
        if hard:
            part[HARD] = [_term(term) for term in hard]
        if soft:
            part[SOFT] = [{"weight": weight, "podAffinityTerm": _term(term)} for weight, term in soft]
        if part:
            made[name] = part
    return made


def _term(term: PodTerm) -> JsonObject:
    made: JsonObject = {"topologyKey": term.topology}
    if term.selector is not None:
        made["labelSelector"] = selector_json(term.selector)
    if term.namespaces:
        made["namespaces"] = list(term.namespaces)
    if term.namespace_selector is not None:
        made["namespaceSelector"] = selector_json(term.namespace_selector)
    return made


def _spread(term: SpreadTerm) -> JsonObject:
    made: JsonObject = {
        "topologyKey": term.topology,
        "maxSkew": term.skew,
        "whenUnsatisfiable": "DoNotSchedule" if term.hard else "ScheduleAnyway",
        "nodeAffinityPolicy": "Honor" if term.by_affinity else "Ignore",
        "nodeTaintsPolicy": "Honor" if term.by_taints else "Ignore",
    }
    if term.domains > 1:
        made["minDomains"] = term.domains
    if term.selector is not None:
        made["labelSelector"] = selector_json(term.selector)
    return made


def role_of(job: Job, pod: Pod) -> int:
    """The number of the role of a pod that a queued job's controller made."""
    labels = pod.metadata.labels
    type_ = labels.get(REPLICA_TYPE) or labels.get(POD_SET_LABEL, "")
    return next((number for number, role in enumerate(job.roles) if role.name == type_), 0)


# objects that somebody wrote


@dataclass(frozen=True)
class Submission:
    """The objects of one job: what a controller makes pods of, or a PodGroup, if there is one, and pods by their places. `stays`:
    somebody wrote them, and they are there until somebody deletes them."""

    made_of: JsonObject | None = None
    group: JsonObject | None = None
    pods: dict[Seat, JsonObject] = field(default_factory=dict)
    stays: bool = False

    @property
    def is_alone(self) -> bool:
        """Is it a Workload of which no job's controller makes pods?"""
        return self.made_of is not None and self.made_of.get("kind") == WORKLOAD


NOTHING = Submission()


def of_life(life: Life, now_ms: int) -> Submission:
    """The objects of a job of a trace, which go when it has ended. KumiError for roles that no kind has."""
    job = life.job
    if life.via is Via.WORKLOAD:
        return Submission(workload_object(job))
    seats = [(number, index) for number, role in enumerate(job.roles) for index in range(role.count)]
    pods = {seat: pod_object(job, life.via, seat) for seat in seats}
    return Submission(None, group_object(life, group(life, now_ms)) if life.via is Via.GANG else None, pods)


def written(job: Job, manifests: Sequence[JsonObject], roles: Sequence[str]) -> Submission:
    """What a job was written as. `roles`: of each manifest, the role that it has as a pod of the job."""
    kinds = {(str(m.get("apiVersion")).rpartition("/")[0], str(m.get("kind"))) for m in manifests}
    if not kinds <= {("", "Pod"), ("scheduling.volcano.sh", "PodGroup")}:
        (made_of,) = manifests
        return Submission(_in_one_round(job, made_of) if made_of.get("kind") == "Job" else made_of, stays=True)
    gang = next((m for m in manifests if m.get("kind") == "PodGroup"), None)
    by_role = {role.name: list[JsonObject]() for role in job.roles}
    for manifest, role in zip(manifests, roles, strict=True):
        if manifest is not gang:
            by_role[role].append(manifest)
    seats = {(number, index): pod for number, pods in enumerate(by_role.values()) for index, pod in enumerate(pods)}
    return Submission(None, gang, seats, stays=True)


def _in_one_round(job: Job, manifest: JsonObject) -> JsonObject:
    """A Job with more completions than pods at a time, as one whose pods take as long as all its rounds; others as they are."""
    spec = manifest.get("spec") or {}
    at_a_time = spec.get("parallelism")
    if (spec.get("completions") or 1) <= (1 if at_a_time is None else at_a_time):
        return manifest
    said = {} if job.said_ms is None else {EXECUTION: text(job.said_ms)}
    meta = manifest.get("metadata") or {}
    own = {key: value for key, value in (meta.get("annotations") or {}).items() if not key.endswith(EXECUTION_NAME)}
    rounds = {**manifest, "metadata": {**meta, "annotations": {**own, **said}}}
    return {**rounds, "spec": {**spec, "completions": job.pods}}
