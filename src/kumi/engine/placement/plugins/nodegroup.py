"""Node group: queues use the nodes of some groups, and not those of others.

The rule, for a task of queue q and a node of group g (its label volcano.sh/nodegroup-name):
    taken        g is required or preferred by q and not ruled out; where q would rather not (anti-preferred) it is taken all
                 the same
    unlabelled   a node without a group is taken only where `strict` is off and q says nothing of groups
    silent       a queue that says nothing of groups uses no node that has one
    limit        what q's tasks hold or are promised on nodes of g, with this one, is no more than q's limit for g says
    score        100 where required, 50 more where preferred; with `enablePreferredOrder` 50 (n - i) / n for the i-th of n; -1
                 where q would rather not
Hierarchy        with enableHierarchy a queue that says nothing takes what its nearest ancestor says (no parent named: root).
Not taken        evicting doesn't help.
Arguments        strict true, enablePreferredOrder false.
Cost             O(nodes), once a queue; O(1) a task that is placed.
Source           Volcano: nodegroup plug-in, annotation volcano.sh/nodegroup-resource-limits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.gangs import Listed, NodeGroups, Queue
from kumi.engine.model import Amounts, Pod
from kumi.engine.placement.amounts import tenth
from kumi.engine.placement.hooks import Fit, Fits
from kumi.engine.placement.nodes import Ints, Mask, Scores
from kumi.engine.placement.tasks import HOLDING, Job

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework

LABEL = "volcano.sh/nodegroup-name"
ROOT = "root"
REQUIRED, PREFERRED, UNWANTED = 100.0, 50.0, -1.0
SILENT = NodeGroups()


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """See the module."""

    strict: bool = True
    in_order: bool = False
    inherits: bool = False

    @classmethod
    def configured(cls, option: Option) -> NodeGroup:
        """See hooks.Configured."""
        switch = option.arguments.switch
        return cls(
            strict=switch("strict", default=True),
            in_order=switch("enablePreferredOrder", default=False),
            inherits="enableHierarchy" in option.switches,
        )

    def open(self, session: Framework) -> _NodeGroup:
        """See hooks.Plugin."""
        opened = _NodeGroup(self, session)
        opened.count()
        return opened


@dataclass(slots=True)
class _NodeGroup:
    rule: NodeGroup
    session: Framework
    held: dict[tuple[str, str], Amounts] = field(default_factory=dict)
    """(queue, group) -> what its tasks have there, of queues that have a limit"""

    def count(self) -> None:
        """What is held now."""
        tasks = self.session.tasks
        for job in self.session.jobs():
            queue = self.session.queue_of(job)
            if queue is None or not queue.group_limits:
                continue
            for status in HOLDING:
                for uid in job.by_status.get(status, ()):
                    row = self.session.nodes.row_by_name.get(tasks.node.get(uid, ""))
                    if row is not None:
                        self._add(queue, row, tasks.requests[uid], 1)

    def predicate(self, task: Pod) -> Fits:
        """See hooks.Predicate."""
        job = self._job(task)
        nodes = self.session.nodes
        if job is None:
            return np.full(nodes.used.shape[1], Fit.ERROR, dtype=np.int8)
        queue = self.session.queue_of(job)
        if queue is None or queue.group_limits is None:
            return np.full(nodes.used.shape[1], Fit.UNRESOLVABLE, dtype=np.int8)
        takes = self._taking(queue) & ~self._over(queue, self.session.tasks.requests[task.uid])
        return np.where(takes, Fit.OK, Fit.UNRESOLVABLE).astype(np.int8)

    def steady(self, task: Pod) -> bool:
        """See hooks.Predicate."""
        job = self._job(task)
        queue = self.session.queue_of(job) if job is not None else None
        return queue is None or not queue.group_limits

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """See hooks.NodeOrder."""
        job = self._job(task)
        queue = self.session.queue_of(job) if job is not None else None
        groups = self._groups(queue) if queue is not None else SILENT
        codes, code_by_group = self.session.nodes.column(LABEL)
        by_code = np.array([0.0, *(self._score(groups, group) for group in code_by_group)])
        answer: Scores = by_code[codes[rows]]
        return answer

    def seated(self, task: Pod, row: int, times: int) -> None:
        """See hooks.Seated."""
        job = self._job(task)
        queue = self.session.queue_of(job) if job is not None else None
        if queue is not None and queue.group_limits:
            self._add(queue, row, self.session.tasks.requests[task.uid], times)

    def _job(self, task: Pod) -> Job | None:
        return self.session.tasks.jobs.get(task.member.group)

    def _groups(self, queue: Queue) -> NodeGroups:
        """What the queue says, or an ancestor for it."""
        seen: dict[str, None] = {}
        one: Queue | None = queue
        while one is not None and one.name not in seen:
            if one.groups is not None:
                return one.groups
            seen[one.name] = None
            above = (one.parent or ROOT) if self.rule.inherits and one.name != ROOT else ""
            one = self.session.tasks.queues.get(above)
        return SILENT

    def _taking(self, queue: Queue) -> Mask:
        groups = self._groups(queue)
        codes, code_by_group = self.session.nodes.column(LABEL)
        table = [groups == SILENT and not self.rule.strict, *(_takes(groups, group) for group in code_by_group)]
        answer: Mask = np.array(table, dtype=np.bool_)[codes]
        return answer

    def _over(self, queue: Queue, wanted: Listed) -> Mask:
        """The rows whose group would hold more of the queue's than it may."""
        codes, code_by_group = self.session.nodes.column(LABEL)
        table = np.zeros(len(code_by_group) + 1, dtype=np.bool_)
        for group, limit in queue.group_limits or ():
            if group in code_by_group:
                held, more = self.held.get((queue.name, group), {}), dict(wanted)
                table[code_by_group[group]] = any(
                    held.get(r, 0) + more.get(r, 0) - most >= tenth(r) for r, most in limit
                )
        answer: Mask = table[codes]
        return answer

    def _score(self, groups: NodeGroups, group: str) -> float:
        if group in groups.anti_preferred:
            return UNWANTED
        score = REQUIRED if group in groups.required else 0.0
        if group in groups.preferred:
            places = {name: at for at, name in enumerate(groups.preferred)}
            score += PREFERRED * ((len(places) - places[group]) / len(places) if self.rule.in_order else 1.0)
        return score

    def _add(self, queue: Queue, row: int, wanted: Listed, times: int) -> None:
        group = dict(self.session.nodes.node_by_name[self.session.nodes.name_by_row()[row]].labels).get(LABEL)
        if group is None:
            return
        journal = self.session.journal
        if (queue.name, group) not in self.held:
            journal.put(self.held, (queue.name, group), {})
        held = self.held[queue.name, group]
        for resource, amount in wanted:
            journal.put(held, resource, held.get(resource, 0) + amount * times)


def _takes(groups: NodeGroups, group: str) -> bool:
    if group in groups.anti_preferred:
        return True
    return (group in groups.required or group in groups.preferred) and group not in groups.anti_required
