"""Task topology: tasks of a gang whose roles like each other go to one node, those that don't go apart.

The rule, for a gang that says so of its roles (affinity and anti-affinity, groups of roles; one alone is about its own tasks):
    told wrong   a role that no task has, or one that is twice in a group: the gang has no topology
    buckets      tasks with a role that is named, one after the other, go into the bucket whose tasks they like most; of
                 equals into the one that asks for least; into a new one where that is less than nothing, or there is none. A
                 task that has a node goes into the bucket of its node.
    their order  those with a node by its name; then by the order of roles that the gang asks for; then roles that don't stand
                 their own kind, that like others, that like their own, that don't stand others; then by name
    task order   tasks in buckets first; of larger buckets; of older ones; within one by the order of roles
    score        (tasks of the bucket on the node, less those of the gang that the session put there and that the task doesn't
                 stand, plus tasks of the bucket that still fit there) * weight * 100 / size of the gang's largest bucket; 0
                 where the task doesn't fit what is idle or on its way out
Asks for         of a bucket: a thousandth of a core, or of a device, and a MiB count the same, a pod 1.
Arguments        task-topology.weight 1.
Cost             O(tasks x buckets x roles) a gang at the start of a session; O(nodes x bucket) a task.
Source           Volcano: task-topology plug-in.
Not here         what the annotations are called: kumi.bridge.into.podgroup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.gangs import PodGroup
from kumi.engine.model import Amounts, Pod
from kumi.engine.placement.nodes import NOWHERE, ONE_POD, PODS, Ints, Scores
from kumi.engine.placement.tasks import Job, Status

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework

TOP = 100
MEBIBYTE = 2**20
MILLI = 1000


@dataclass(slots=True)
class Bucket:
    """Tasks that belong together. `tasks`: those without a node; `roles`: of all; `on_node`: node -> those that have one."""

    index: int
    tasks: dict[str, None] = field(default_factory=dict)
    roles: dict[str, int] = field(default_factory=dict)
    on_node: dict[str, int] = field(default_factory=dict)
    request: Amounts = field(default_factory=dict)


class Topology:
    """What a gang says of its roles."""

    def __init__(self, group: PodGroup) -> None:
        self.near, self.apart = _pairs(group.affinity), _pairs(group.anti_affinity)
        self._turn = {role: len(group.role_order) - at for at, role in enumerate(group.role_order)}
        self._rank: dict[str, int] = {}
        for groups, alone, together in ((group.affinity, 2, 3), (group.anti_affinity, 4, 1)):
            for roles in groups:
                for role in roles:
                    self._rank[role] = max(self._rank.get(role, 0), alone if len(roles) == 1 else together)

    def names(self, role: str) -> bool:
        """Does it say anything of that role?"""
        return role in self._rank

    def order(self, role: str) -> tuple[int, int]:
        """The smaller goes first."""
        return -self._turn.get(role, 0), -self._rank.get(role, 0)

    def liking(self, role: str, there: Mapping[str, int]) -> int:
        """How many of those it likes, less how many it doesn't stand."""
        return sum(n * (((role, o) in self.near) - ((role, o) in self.apart)) for o, n in there.items())

    def disliked(self, role: str, there: Mapping[str, int]) -> int:
        """How many of those it doesn't stand."""
        return sum(n for o, n in there.items() if (role, o) in self.apart)


def topology_of(group: PodGroup, roles: Iterable[str]) -> Topology | None:
    """What the gang says; None: nothing, or nothing that can be meant, its tasks having these roles."""
    if not (group.affinity or group.anti_affinity or group.role_order) or is_wrong(group, roles):
        return None
    return Topology(group)


def is_wrong(group: PodGroup, roles: Iterable[str]) -> bool:
    """Does it name a role that nobody has, or one twice?"""
    known = set(roles)
    said = (*group.affinity, *group.anti_affinity, group.role_order)
    return any(len(set(names)) < len(names) or not known.issuperset(names) for names in said)


@dataclass(frozen=True, slots=True)
class TaskTopology:
    """See the module."""

    weight: int = 1

    @classmethod
    def configured(cls, option: Option) -> TaskTopology:
        """See hooks.Configured."""
        return cls(option.arguments.whole("task-topology.weight", 1))

    def open(self, session: Framework) -> _TaskTopology:
        """See hooks.Plugin."""
        opened = _TaskTopology(self, session)
        for job in session.jobs():
            opened.plan(job)
        return opened


@dataclass(slots=True)
class _Plan:
    """Of one gang."""

    topology: Topology
    buckets: list[Bucket] = field(default_factory=list)
    bucket_of: dict[str, Bucket] = field(default_factory=dict)
    largest: int = 0
    placed: dict[str, dict[str, int]] = field(default_factory=dict)
    """node -> role -> tasks that the session put there"""


@dataclass(slots=True)
class _TaskTopology:
    rule: TaskTopology
    session: Framework
    plans: dict[str, _Plan] = field(default_factory=dict)

    def plan(self, job: Job) -> None:
        """Its buckets, if it wants some and somebody waits."""
        tasks = [self.session.tasks.pods[uid] for uid in job.tasks]
        assert job.group is not None
        topology = topology_of(job.group, [t.member.annotated_role for t in tasks])
        if topology is None or not job.count(Status.PENDING):
            return
        plan = _Plan(topology)
        of_node: dict[str, Bucket] = {}
        for task in self._ordered(topology, tasks):
            node = self.session.tasks.node.get(task.uid, "")
            bucket = of_node.get(node) if node else self._liked(plan, task)
            if bucket is None:
                bucket = Bucket(len(plan.buckets))
                plan.buckets.append(bucket)
                if node:
                    of_node[node] = bucket
            self._join(plan, bucket, task, node)
        self.plans[job.key] = plan

    def task_order(self, one: Pod, other: Pod) -> int:
        """See hooks.TaskOrder."""
        mine, others = self.plans.get(one.member.group), self.plans.get(other.member.group)
        if mine is None or others is None:
            return 0
        a, b = mine.bucket_of.get(one.uid), others.bucket_of.get(other.uid)
        if (a is None) != (b is None):
            return 1 if a is None else -1
        if a is None or b is None or mine is not others:
            return 0
        if a is b:
            left, right = (mine.topology.order(t.member.annotated_role) for t in (one, other))
            return (left > right) - (left < right)
        return -1 if (-len(a.tasks), a.index) < (-len(b.tasks), b.index) else 1

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """See hooks.NodeOrder."""
        plan = self.plans.get(task.member.group)
        bucket = plan.bucket_of.get(task.uid) if plan is not None else None
        if plan is None or bucket is None:
            return np.zeros(rows.size, dtype=np.float64)
        row_by_name = self.session.nodes.row_by_name
        there = np.zeros(self.session.nodes.used.shape[1], dtype=np.int64)
        for node, count in bucket.on_node.items():
            if node in row_by_name:
                there[row_by_name[node]] += count
        for node, roles in plan.placed.items():
            there[row_by_name[node]] -= plan.topology.disliked(task.member.annotated_role, roles)
        fitting = self._fitting(task, bucket, rows)
        scores = np.where(fitting > 0, fitting + there[rows], 0).astype(np.float64)
        return scores * self.rule.weight * TOP / plan.largest

    def moves_scores(self, task: Pod) -> bool:
        """See hooks.NodeOrder."""
        return task.member.group in self.plans

    def seated(self, task: Pod, row: int, times: int) -> None:
        """See hooks.Seated."""
        plan = self.plans.get(task.member.group)
        if plan is None:
            return
        journal, node = self.session.journal, self.session.nodes.name_by_row()[row]
        role = task.member.annotated_role
        if role:
            if node not in plan.placed:
                journal.put(plan.placed, node, {})
            journal.put(plan.placed[node], role, plan.placed[node].get(role, 0) + times)
        bucket = plan.bucket_of.get(task.uid)
        if bucket is None:
            return
        journal.put(bucket.on_node, node, bucket.on_node.get(node, 0) + times)
        if times > 0:
            journal.drop(bucket.tasks, task.uid)
        else:
            journal.put(bucket.tasks, task.uid, None)
        for resource, amount in self.session.tasks.requests[task.uid]:
            journal.put(bucket.request, resource, bucket.request.get(resource, 0) - amount * times)

    def _ordered(self, topology: Topology, tasks: Sequence[Pod]) -> list[Pod]:
        node_of = self.session.tasks.node
        named = [t for t in tasks if topology.names(t.member.annotated_role)]
        bound = sorted((t for t in named if node_of.get(t.uid)), key=lambda t: (node_of[t.uid], t.name, t.uid))
        rest = [t for t in named if not node_of.get(t.uid)]
        return bound + sorted(rest, key=lambda t: (topology.order(t.member.annotated_role), t.name, t.uid))

    def _liked(self, plan: _Plan, task: Pod) -> Bucket | None:
        """The bucket that the task likes most; None: none that it doesn't dislike."""
        best: tuple[tuple[int, float, int], Bucket] | None = None
        for bucket in plan.buckets:
            liking = plan.topology.liking(task.member.annotated_role, bucket.roles)
            rank = (-liking, _asked(bucket.request), bucket.index)
            if liking >= 0 and (best is None or rank < best[0]):
                best = rank, bucket
        return best[1] if best is not None else None

    def _join(self, plan: _Plan, bucket: Bucket, task: Pod, node: str) -> None:
        role = task.member.annotated_role
        plan.bucket_of[task.uid] = bucket
        bucket.roles[role] = bucket.roles.get(role, 0) + 1
        if node:
            bucket.on_node[node] = bucket.on_node.get(node, 0) + 1
        else:
            bucket.tasks[task.uid] = None
            for resource, amount in self.session.tasks.requests[task.uid]:
                bucket.request[resource] = bucket.request.get(resource, 0) + amount
        plan.largest = max(plan.largest, len(bucket.tasks) + sum(bucket.on_node.values()))

    def _fitting(self, task: Pod, bucket: Bucket, rows: Ints) -> Ints:
        """How many tasks of the bucket fit each row, the task among them; others are left out, the last first. 0: the task itself
        does not fit."""
        tasks = self.session.tasks
        wanted = dict(tasks.requests[task.uid])
        fits = self._within(wanted, rows).astype(np.int64)
        remaining, count = dict(bucket.request), len(bucket.tasks)
        answer = np.where(self._within(remaining, rows) & (fits > 0), count, 0)
        for uid in reversed([uid for uid in bucket.tasks if uid != task.uid]):
            count -= 1
            for resource, amount in tasks.requests[uid]:
                remaining[resource] = remaining.get(resource, 0) - amount
            answer = np.where((answer == 0) & (fits > 0) & self._within(remaining, rows), count, answer)
        return np.where(answer == 0, fits, answer)

    def _within(self, wanted: Amounts, rows: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Has the row that much idle, or on its way out?"""
        nodes = self.session.nodes
        enough = np.ones(rows.size, dtype=np.bool_)
        for resource, amount in wanted.items():
            line = nodes.line_by_resource.get(resource, NOWHERE)
            if line == NOWHERE:
                enough &= amount <= 0
                continue
            enough &= nodes.allocatable[line, rows] - nodes.used[line, rows] + nodes.releasing[line, rows] >= amount
        return enough


def _pairs(groups: tuple[tuple[str, ...], ...]) -> set[tuple[str, str]]:
    """Which two roles are meant, both ways; a role alone with itself."""
    pairs = {(one, other) for roles in groups for one in roles for other in roles if one != other}
    return pairs | {(roles[0], roles[0]) for roles in groups if len(roles) == 1}


def _asked(request: Amounts) -> float:
    """How much it asks for, all in all."""
    total = 0.0
    for resource, amount in request.items():
        if resource == PODS:
            total += amount / ONE_POD
        elif resource == "memory":
            total += amount / MEBIBYTE
        else:
            total += amount if resource == "cpu" or "/" in resource else amount * MILLI
    return total
