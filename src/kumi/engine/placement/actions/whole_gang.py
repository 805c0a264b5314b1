"""Whole gang: room for all waiting tasks of a gang at once, by bundles of other gangs.

The rule, domain by domain (domains.py), until one has room:
    bundles are taken in their order. As soon as what is free in the domain, what is leaving it and what was taken are enough
    for all that wait, those taken are evicted, and each task that waits is promised the best node that takes it, one that has
    room now before one that is being left. Where one finds none, all is taken back, and the next bundle is taken as well
    whole bundles are taken only where there is no safe one
    a domain without bundles is passed over: there allocate has been
    the first domain in which the gang is pipelined is the one
Why        a gang that gets room task by task may evict for half of its tasks before the other half is known not to fit.
Who waits  all pending tasks that ask for something where the gang doesn't run yet; else those of its first subgroup: without
           subgroups again all.
Source     Volcano: gangpreempt and gangreclaim actions.
Not here   bundles.py; which gangs ask: gangpreempt.py, gangreclaim.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kumi.engine.model import Pod
from kumi.engine.placement.actions.bundles import Asks, Before, Bundle, bundles, total
from kumi.engine.placement.actions.domains import Domain, domains
from kumi.engine.placement.actions.victims import as_running
from kumi.engine.placement.amounts import Shared, covers, plus
from kumi.engine.placement.choose import choose
from kumi.engine.placement.conf import Arguments
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.statement import Outcome, Statement
from kumi.engine.placement.tasks import Job, Status, best_effort

MAX_DOMAINS = 8


@dataclass(frozen=True, slots=True)
class Evictor:
    """How an action makes room. `whole`: may it stop gangs?"""

    reclaims: bool
    before: Before
    max_domains: int
    whole: bool

    @classmethod
    def configured(cls, arguments: Arguments, before: Before, *, reclaims: bool) -> Evictor:
        """As the scheduler's file says."""
        most = arguments.whole("maxDomains", MAX_DOMAINS)
        whole = arguments.switch("allowWholeBundle", default=True)
        return cls(reclaims, before, most if most > 0 else MAX_DOMAINS, whole)

    def allowed(self, made: Sequence[Bundle]) -> list[Bundle]:
        """Those of the bundles that may be taken: where there are safe ones, these alone."""
        safe = [b for b in made if b.safe]
        return safe or [b for b in made if self.whole]


Candidates: TypeAlias = Callable[[], Sequence[Pod]]
"""looks for them when they are wanted"""
MakeRoom: TypeAlias = Callable[[Framework, Outcome, Evictor, Job, Candidates], bool]
"""makes room for a gang with the candidates; did it?"""


def waiting(framework: Framework, job: Job) -> list[Pod]:
    """The gang's tasks that need a node, in their order."""
    pods = (framework.tasks.pods[uid] for uid in job.by_status.get(Status.PENDING, ()))
    return framework.sorted_tasks([pod for pod in pods if not pod.gated and not best_effort(pod)])


def make_room(framework: Framework, outcome: Outcome, evictor: Evictor, job: Job, wanted: Candidates) -> bool:
    """Did the gang get all that it waits for, in one of the domains?"""
    tasks = waiting(framework, job)
    if not tasks or not (candidates := wanted()):
        return False
    asks = Asks(job, total(tasks), evictor.reclaims, evictor.before)
    for domain in domains(framework, job)[: evictor.max_domains]:
        inside = [pod for pod in candidates if framework.tasks.node[pod.uid] in domain.nodes]
        made = evictor.allowed(bundles(framework, asks, inside))
        if made and _in_domain(framework, outcome, asks, tasks, domain, made):
            return True
    return False


def _in_domain(
    framework: Framework, outcome: Outcome, asks: Asks, tasks: list[Pod], domain: Domain, made: list[Bundle]
) -> bool:
    room = free(framework, domain)
    for number, bundle in enumerate(made, 1):
        room = plus(room, bundle.frees())
        if covers(room, asks.need) and _attempt(framework, outcome, asks.job, tasks, made[:number]):
            return True
    return False


def free(framework: Framework, domain: Domain) -> Shared:
    """What is free in the domain, or will be once those have left who are leaving."""
    nodes = framework.nodes
    rows = [nodes.row_by_name[name] for name in sorted(domain.nodes)]
    found: Shared = {}
    for resource, line in sorted(nodes.line_by_resource.items()):
        amounts = nodes.allocatable[line, rows] - nodes.used[line, rows] + nodes.releasing[line, rows]
        found[resource] = int(amounts.sum())
    return found


def _attempt(framework: Framework, outcome: Outcome, job: Job, tasks: list[Pod], taken: list[Bundle]) -> bool:
    """Evicts all of these; do all tasks that wait find a place then?"""
    with framework.journal.trial() as trial:
        statement = Statement(framework, outcome)
        for bundle in taken:
            for pod in bundle.tasks:
                statement.evict(pod, job.key)
        if promise_all(framework, statement, job, tasks) and framework.job_pipelined(job):
            statement.commit()
            trial.commit()
            return True
        undone = statement.evicted
    as_running(framework, undone)
    return False


def promise_all(framework: Framework, statement: Statement, job: Job, tasks: Sequence[Pod]) -> bool:
    """Promises each task the best node for it; False as soon as one finds none."""
    queue = framework.queue_of(job)
    assert queue is not None
    for task in tasks:
        if not framework.allocatable(queue, task) or framework.pre_predicate(task) is not Fit.OK:
            return False
        rows, _ = choose(framework, task, 1)
        if not rows:
            return False
        statement.place(task, framework.nodes.name_by_row()[rows[0]], Status.PIPELINED)
    return True
