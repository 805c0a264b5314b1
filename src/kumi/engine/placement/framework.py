"""Framework: what all plug-ins say together, in one session.

The rule, with tiers in order and plug-ins in order within a tier, of those that have the hook and whose switch is on:
    orders          the first answer that is not 0; then as orders.py has it, queues by creation and name
    predicate       a node takes a task when every plug-in says OK; its answer is the first that isn't
    scores          summed
    victims         of a tier: what its plug-ins have in common (agreeing.py). The first tier with somebody decides alone
    votes           a reject is a no; a permit is a yes at the end of its tier; no vote at all is a yes
    starving        the first tier that has the hook decides
Victims' order  within a gang the reverse of the tasks' order; within a queue of the gangs', then of the tasks'; between queues
                what a plug-in says, else the reverse of the queues'.
Source        Volcano: session plug-in functions.
Not here      what each hook is: hooks.py; what is done with the answers: actions/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cmp_to_key
from typing import Any, TypeVar

import numpy as np

from kumi.engine.gangs import Listed, Queue
from kumi.engine.journal import Journal
from kumi.engine.model import Amounts, Pod
from kumi.engine.placement import orders
from kumi.engine.placement.agreeing import Tiers
from kumi.engine.placement.conf import Conf, Option
from kumi.engine.placement.customs import VOLCANO, Customs
from kumi.engine.placement.heap import Heap, Line
from kumi.engine.placement.hooks import SWITCH, Configured, Fit, Fits, Vote, hooks_of
from kumi.engine.placement.nodes import HAS_AT_MOST, PODS, Ints, Nodes, Scores
from kumi.engine.placement.surroundings import Surroundings
from kumi.engine.placement.tasks import Job, Tasks
from kumi.engine.reasons import Code, Reason

T = TypeVar("T")


class Framework:
    """One session on the tables of the state. `plugins`: the classes by name; a name that isn't there has no say. `customs`:
    how what they say is read."""

    def __init__(
        self,
        around: Surroundings,
        conf: Conf,
        plugins: Mapping[str, Configured],
        customs: Customs = VOLCANO,
    ) -> None:
        self.customs = customs
        self._shared: dict[str, Any] = {}
        self._waited = tuple(around.tasks.waiting)
        self.held: dict[str, None] = {}
        """gangs that the line holds back: nobody goes for them (actions/lined.py)"""
        self.around = around
        self.conf = conf
        self._tiers: list[list[tuple[Option, Any]]] = []
        for tier in conf.tiers:
            opened = []
            for option in tier:
                if option.name in plugins:
                    opened.append((option, plugins[option.name].configured(option).open(self)))
            self._tiers.append(opened)
        self.follows = any(option.name == _FOLLOWER for tier in self._tiers for option, _ in tier)
        """whether rules that look at the pods of nodes see what the session places"""
        self._at_open = None if self.follows else around.nodes.used.copy()
        self._hooks = self._had()
        self._taking = {name: customs.taking(self._hooks[name]) for name in ("reclaimable", "evictable")}
        """the tiers of these hooks that have a say when a queue takes back"""
        self._flat: dict[str, list[Any]] = {n: [h for tier in tiers for h in tier] for n, tiers in self._hooks.items()}
        self._job_compares, self._job_keys = self._ordered("job_key", "job_order")
        self._task_compares, self._task_keys = self._ordered("task_key", "task_order")
        self._turns: dict[str, tuple[int, tuple[Any, ...]]] = {}
        """gang -> the stamp of its sums, and its place by the keys"""
        self._steady = self._asked("steady", "predicate", "batch_order")
        self._moved = self._asked("moves_scores", "node_order", "load_order")
        names = {id(plugin): option.name for tier in self._tiers for option, plugin in tier}
        said = [(names[id(hook.__self__)], hook) for hook in self._flat["predicate"]]
        self._telling = [hook for _, hook in said if hasattr(hook.__self__, "refusals")]
        self._silent = [(name, hook) for name, hook in said if not hasattr(hook.__self__, "refusals")]
        """who tells why it refuses nodes, and who refuses them without a word"""
        self._most = self._asked("most", "predicate")
        self._outranks = self._asked("outranks", "evictable")

    def _had(self) -> dict[str, Tiers]:
        """hook -> the plug-ins' methods of that name, by tier."""
        had: dict[str, Tiers] = {hook: [[] for _ in self._tiers] for hook in SWITCH}
        for number, tier in enumerate(self._tiers):
            for option, opened in tier:
                for hook in hooks_of(opened):
                    if _on(option, SWITCH[hook]):
                        had[hook][number].append(getattr(opened, hook))
        return had

    def _ordered(self, key: str, order: str) -> tuple[list[Any], list[Any] | None]:
        """How each plug-in that has the one or the other compares; their keys, None where one has none."""
        compares, keys = list[Any](), list[Any]()
        for option, opened in (one for tier in self._tiers for one in tier):
            if not _on(option, SWITCH[order]):
                continue
            if hasattr(opened, key):
                keys.append(getattr(opened, key))
                compares.append(orders.by_key(keys[-1]))
            elif hasattr(opened, order):
                compares.append(getattr(opened, order))
        return compares, keys if len(keys) == len(compares) else None

    def _asked(self, name: str, *hooks: str) -> list[Any]:
        """That method of the plug-ins that have one of the hooks, and it."""
        plugins = {id(hook.__self__): hook.__self__ for one in hooks for hook in self._flat[one]}
        return [getattr(plugin, name) for plugin in plugins.values() if hasattr(plugin, name)]

    # shorthands

    @property
    def tasks(self) -> Tasks:
        """Gangs and their pods."""
        return self.around.tasks

    @property
    def nodes(self) -> Nodes:
        """The node table."""
        return self.around.nodes

    @property
    def journal(self) -> Journal:
        """What takes trials back."""
        return self.around.journal

    def seen(self, line: int, rows: Any = slice(None)) -> Ints:
        """What the pods of each of the rows ask for of a resource, as rules see it."""
        if self._at_open is None:
            return self.nodes.seen(line, rows)
        known = line < self._at_open.shape[0]
        seen: Ints = (self._at_open[line] if known else np.zeros(self._at_open.shape[1], dtype=np.int64))[rows]
        return seen

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What plug-ins have in common, made by the first of them that asks for it."""
        if name not in self._shared:
            self._shared[name] = make()
        made: T = self._shared[name]
        return made

    def queue_of(self, job: Job) -> Queue | None:
        """The gang's queue, if it is there."""
        return self.tasks.queues.get(job.group.queue) if job.group is not None else None

    def job_of(self, task: Pod) -> Job:
        """The task's gang."""
        return self.tasks.jobs[task.member.group]

    def judges(self) -> frozenset[str]:
        """The plug-ins that say whether a gang can be placed, and whether it is."""
        said = {id(hook.__self__) for name in ("job_valid", "job_ready") for hook in self._flat[name]}
        return frozenset(option.name for tier in self._tiers for option, plugin in tier if id(plugin) in said)

    def asks(self, plugin: str, hook: str) -> bool:
        """Has the plug-in of that name a say by that hook?"""
        asked = {id(method.__self__) for method in self._flat[hook]}
        return any(option.name == plugin and id(opened) in asked for tier in self._tiers for option, opened in tier)

    def asks_alone(self, plugin: str, hook: str) -> bool:
        """Has it, and no other one?"""
        return len(self._flat[hook]) == 1 and self.asks(plugin, hook)

    def wake_ms(self) -> int | None:
        """When a plug-in answers otherwise although nothing came; None: only what comes changes an answer."""
        opened = [plugin for tier in self._tiers for _, plugin in tier if hasattr(plugin, "wake_ms")]
        return min((ms for plugin in opened if (ms := plugin.wake_ms()) is not None), default=None)

    def jobs(self) -> Iterator[Job]:
        """The gangs that count: their PodGroup and its queue are there, and no Workload was admitted for them; by key."""
        return self.those(self.tasks.jobs)

    def unplaced(self) -> Iterator[Job]:
        """Those of them of which tasks waited when the session was opened, by key; of others none does as long as it lasts."""
        return iter(self.once("unplaced", lambda: tuple(self.those(self._waited))))

    def outside(self) -> Iterator[Job]:
        """Those of them that aren't let in, by key."""
        return self.those(self.tasks.outside)

    def those(self, keys: Iterable[str]) -> Iterator[Job]:
        """Those of them with one of these keys, by key."""
        for key in sorted(keys):
            job = self.tasks.jobs.get(key)
            if job is not None and self.takes_part(job):
                yield job

    def has_any(self, keys: Iterable[str]) -> bool:
        """Is there one of them with one of these keys?"""
        jobs = self.tasks.jobs
        return any(key in jobs and self.takes_part(jobs[key]) for key in keys)

    def takes_part(self, job: Job) -> bool:
        """Does the gang count?"""
        return self.queue_of(job) is not None and not self.tasks.is_past(job)

    def total(self) -> Amounts:
        """What the cluster has, by resource; int64 sums are exact up to 2^53 a node."""
        nodes = self.nodes
        return dict(nodes.cached(("total", nodes.size_stamp, nodes.table_stamp), self._total))

    def _total(self) -> Amounts:
        nodes = self.nodes
        rows = nodes.by_name()
        sums: Amounts = {}
        for resource, line in sorted(nodes.line_by_resource.items()):
            amounts = nodes.allocatable[line, rows]
            known = amounts[amounts < HAS_AT_MOST] if resource == PODS else amounts
            sums[resource] = int(known.sum())
        return sums

    # orders

    def job_less(self, one: Job, other: Job) -> bool:
        """Does `one` go first?"""
        return self.job_compare(one, other) < 0

    def job_compare(self, one: Job, other: Job) -> int:
        """Negative: `one` goes first. Total."""
        if self._job_keys is not None:
            return orders.compare(self._job_turn(one, self._job_keys), self._job_turn(other, self._job_keys))
        for hook in self._job_compares:
            if said := hook(one, other):
                return int(said)
        return orders.compare(orders.turn(one), orders.turn(other))

    def jobs_in_order(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Gangs none of which gets or loses anything before its turn, in their order."""
        if self._job_keys is not None:
            keys = self._job_keys
            yield from sorted(jobs, key=lambda job: self._job_turn(job, keys))
            return
        heap = Heap(self.job_less, jobs)
        while len(heap):
            yield heap.pop()

    def _job_turn(self, job: Job, keys: list[Any]) -> tuple[Any, ...]:
        kept = self._turns.get(job.key)
        if kept is None or kept[0] != job.stamp:
            kept = (job.stamp, (*(key(job) for key in keys), *orders.turn(job)))
            self._turns[job.key] = kept
        return kept[1]

    def queue_less(self, one: Queue, other: Queue) -> bool:
        """Does `one` go first?"""
        return self.queue_compare(one, other) < 0

    def queue_compare(self, one: Queue, other: Queue) -> int:
        """Negative: `one` goes first. Total."""
        for hook in self._flat["queue_order"]:
            if said := hook(one, other):
                return int(said)
        return orders.compare((one.created_ms, one.name), (other.created_ms, other.name))

    def task_less(self, one: Pod, other: Pod) -> bool:
        """Does `one` go first?"""
        return self.task_compare(one, other) < 0

    def task_compare(self, one: Pod, other: Pod) -> int:
        """Negative: `one` goes first. Total."""
        return self.asked_task_order(one, other) or orders.by_number(one, other)

    def asked_task_order(self, one: Pod, other: Pod) -> int:
        """What the plug-ins say alone."""
        for hook in self._task_compares:
            if said := hook(one, other):
                return int(said)
        return 0

    def victim_less(self, one: Pod, other: Pod, preemptor: Job) -> bool:
        """Is `one` taken first?"""
        return self.victim_compare(one, other, preemptor) < 0

    def victim_compare(self, one: Pod, other: Pod, preemptor: Job) -> int:
        """Negative: `one` is taken first. Total."""
        a, b = self.job_of(one), self.job_of(other)
        if a is b:
            return -self.task_compare(one, other)
        qa, qb = self.queue_of(a), self.queue_of(b)
        if qa is qb or qa is None or qb is None:
            return -(self.job_compare(a, b) or self.task_compare(one, other))
        return self.victim_queue_compare(qa, qb, preemptor)

    def victim_queue_compare(self, one: Queue, other: Queue, preemptor: Job) -> int:
        """Negative: `one` gives first."""
        mine = self.queue_of(preemptor)
        for hook in self._flat["victim_queue_order"]:
            if mine is not None and (said := hook(one, other, mine)):
                return int(said)
        return self.queue_compare(other, one)

    def sorted_victims(self, victims: Sequence[Pod], preemptor: Job) -> list[Pod]:
        """In the order in which they are taken."""
        gangs: dict[str, list[Pod]] = {}
        for pod in victims:
            gangs.setdefault(pod.member.group, []).append(pod)
        jobs = [self.tasks.jobs[key] for key in gangs]
        if len({job.group.queue if job.group is not None else None for job in jobs}) < 2:
            order = [task for job in self.jobs_in_order(jobs) for task in self.sorted_tasks(gangs[job.key])]
            return order[::-1]

        def compare(one: Pod, other: Pod) -> int:
            return self.victim_compare(one, other, preemptor)

        return sorted(victims, key=cmp_to_key(compare))

    def in_line(self, tasks: Iterable[Pod]) -> Line[Pod] | Heap[Pod]:
        """The tasks of a gang, to be taken in their order: sorted once where no plug-in's order can move."""
        found = list(tasks)
        if self._task_keys is None:
            return Heap(self.task_less, found)
        if len(found) < 2:
            return Line(found)
        tails = [orders.tail(task.name) for task in found]
        if any(tail is None for tail in tails) and any(tail is not None for tail in tails):
            return Heap(self.task_less, found)  # numbers and creation don't make one order of these
        keys = [[key(task) for task in found] for key in self._task_keys]
        rest = ([tail or 0 for tail in tails], [task.created_ms for task in found], [task.uid for task in found])
        return Line([turn[-1] for turn in sorted(zip(*keys, *rest, found, strict=True))])

    def sorted_tasks(self, tasks: Sequence[Pod]) -> list[Pod]:
        """In their order."""
        line = self.in_line(tasks)
        if isinstance(line, Line):
            return [line.pop() for _ in range(len(line))]
        return sorted(tasks, key=cmp_to_key(self.task_compare))

    def line_of(self, job: Job, tasks: Iterable[Pod]) -> Line[Pod] | Heap[Pod]:
        """Tasks of one gang that wait, to be taken one by one: those that are first, then the others."""
        found = list(tasks)
        line = self.in_line(found)
        in_order = self.sorted_tasks(found) if job.role_minima() else []
        first = self.customs.roles.first(job, in_order)
        if not first:
            return line
        if isinstance(line, Line):
            return Line(sorted(in_order, key=lambda task: task.uid not in first))  # stable
        return Heap(lambda a, b: self._goes_first(a, b, first), found)

    def _goes_first(self, one: Pod, other: Pod, first: dict[str, None]) -> bool:
        if (one.uid in first) != (other.uid in first):
            return one.uid in first
        return self.task_less(one, other)

    # nodes

    def pre_predicate(self, task: Pod) -> Fit:
        """OK, or the first plug-in's answer for every node."""
        for hook in self._flat["pre_predicate"]:
            if (said := hook(task)) is not Fit.OK:
                return Fit(said)
        return Fit.OK

    def predicate(self, task: Pod) -> Fits:
        """One a row; a row without a node says ERROR."""
        fits = np.full(self.nodes.used.shape[1], Fit.ERROR, dtype=np.int8)
        rows = self.nodes.by_name()
        fits[rows] = Fit.OK
        for hook in self._flat["predicate"]:
            said = hook(task)
            fits = np.where(fits == Fit.OK, said, fits)
        return fits

    def refusals(self, task: Pod) -> tuple[Reason, ...]:
        """Why no node takes the task: what plug-ins say, and how many of the nodes with room that these would take the others
        refuse, one after the other."""
        told = [reason for hook in self._telling for reason in hook.__self__.refusals(task)]
        if not self._silent:
            return tuple(told)
        left = np.zeros(self.nodes.used.shape[1], dtype=np.bool_)
        left[self.nodes.by_name()] = True
        left &= self.nodes.places(task.shape, left) > 0
        for hook in self._telling:
            left &= hook(task) == Fit.OK
        for name, hook in self._silent:
            refused = left & (hook(task) != Fit.OK)
            if refused.any():
                told.append(Reason(Code.NODE_NOT_MATCHED, nodes=int(refused.sum()), detail=name, pods=1))
            left &= ~refused
        return tuple(told)

    def is_steady(self, task: Pod) -> bool:
        """Does placing one such task leave all other nodes as they are for the next?"""
        return all(said(task) for said in self._steady)

    def moves_scores(self, task: Pod) -> bool:
        """Does placing one such task change the scores that other nodes have by themselves?"""
        return any(said(task) for said in self._moved)

    def most(self, task: Pod) -> Ints | None:
        """How many such tasks each row takes at most, room aside; None: any number."""
        least: Ints | None = None
        for said in self._most:
            one = said(task)
            if one is not None:
                least = one if least is None else np.minimum(least, one)
        return least

    def alike(self, one: Pod, other: Pod) -> bool:
        """Two tasks of one shape: do nodes answer both alike?"""
        return self.nodes.residents.alike(one, other)

    def seated_run(self, tasks: Sequence[Pod], rows: Sequence[int]) -> None:
        """The same of tasks that are alike, each on its row; a plug-in that has no seated_run hears of one after the other."""
        for hook in self._flat["seated"]:
            at_once = getattr(hook.__self__, "seated_run", None)
            if at_once is not None:
                at_once(tasks, rows)
                continue
            for task, row in zip(tasks, rows, strict=True):
                hook(task, row, 1)

    def seated(self, task: Pod, node: str, times: int) -> None:
        """The task is on the node now, or promised it; -1: not any more."""
        row = self.nodes.row_by_name.get(node)
        if row is not None:
            for hook in self._flat["seated"]:
                hook(task, row, times)

    def single_scores(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """The sum of what the plug-ins give each node by itself, without what counts with the batch."""
        scores = np.zeros(rows.size, dtype=np.float64)
        for hook in self._flat["node_order"]:
            scores += hook(task, rows, placed)
        return scores

    def node_scores(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """The sum of what the plug-ins give each node by itself."""
        scores = self.single_scores(task, rows, placed)
        for hook in self._flat["load_order"]:
            scores += hook(task, rows, placed)
        return scores

    def batch_scores(self, task: Pod, rows: Ints) -> Scores | None:
        """The sum of what they give nodes compared with each other; None: all alike."""
        scores: Scores | None = None
        for hook in self._flat["batch_order"]:
            said = hook(task, rows)
            if said is not None:
                scores = said if scores is None else scores + said
        return scores

    def devices(self, task: Pod, row: int) -> tuple[int, ...]:
        """The devices that a plug-in wants for the task on the row: the first that has an opinion; () none has."""
        for hook in self._flat["devices"]:
            said: tuple[int, ...] = hook(task, row)
            if said:
                return said
        return ()

    # victims

    def preemptable(self, preemptor: Pod, candidates: Sequence[Pod]) -> list[Pod]:
        """Whom it may evict in its queue."""
        return self._victims(self._hooks["preemptable"], lambda hook: hook(preemptor, candidates))

    def reclaimable(self, reclaimer: Pod, candidates: Sequence[Pod]) -> list[Pod]:
        """Whom it may evict in other queues."""
        return self._victims(self._taking["reclaimable"], lambda hook: hook(reclaimer, candidates))

    def evictable(self, preemptor: Job, candidates: Sequence[Pod], *, reclaim: bool) -> list[Pod]:
        """Whom a gang may evict."""
        tiers = (self._taking if reclaim else self._hooks)["evictable"]
        return self._victims(tiers, lambda hook: hook(preemptor, candidates, reclaim))

    def _victims(self, tiers: Tiers, ask: Callable[[Any], list[Pod] | None]) -> list[Pod]:
        for tier in tiers:
            if common := self.customs.agree(ask(hook) for hook in tier):
                return common
        return []

    def preempts_from(self, preemptor: Job, priority: int) -> bool:
        """Might it preempt another gang of that priority? Where all plug-ins have to agree on victims, a no is final for now."""
        return self._might(self._hooks["preemptable"], "preempts_from", preemptor, priority)

    def reclaims_from(self, hook: str, queue: Queue) -> bool:
        """Might the hook (reclaimable, evictable) let go tasks of the queue to others? The same."""
        return self._might(self._taking[hook], "reclaims_from", queue)

    def evicts_from(self, preemptor: Job, job: Job, *, reclaim: bool) -> bool:
        """Might the gang evict tasks of that one? The same."""
        tiers = (self._taking if reclaim else self._hooks)["evictable"]
        return self._might(tiers, "evicts_from", preemptor, job, reclaim)

    def outranks(self, preemptor: Job, job: Job) -> bool:
        """Does a plug-in put the one gang before the other, of its priority, so that this one may have to go for it?"""
        return any(said(preemptor, job) for said in self._outranks)

    def _might(self, tiers: Tiers, name: str, *asked: Any) -> bool:
        for tier in tiers:
            says = [getattr(one.__self__, name) for one in tier if hasattr(one.__self__, name)]
            if tier and all(say(*asked) for say in says):
                return True
        return False

    def victim_tasks(self, running: Sequence[Pod]) -> list[Pod]:
        """Who has to go whoever waits."""
        for tier in self._hooks["victim_tasks"]:
            found = {pod.uid: pod for hook in tier for pod in hook(running)}
            if found:
                return list(found.values())
        return []

    # queues and gangs

    def overused(self, queue: Queue) -> bool:
        """Has the queue had its share?"""
        return any(hook(queue) for hook in self._flat["overused"])

    def allocatable(self, queue: Queue, task: Pod) -> bool:
        """May the queue have this much more?"""
        return all(hook(queue, task) for hook in self._flat["allocatable"])

    def bars(self, queue: Queue) -> Code | None:
        """Why the queue takes nothing at all, whatever it has; None: it may take something."""
        return next((code for said in self._asked("bars", "allocatable") if (code := said(queue)) is not None), None)

    def withholds(self, queue: Queue, task: Pod) -> bool:
        """Where it may not have this much more: is that for other queues or its own limit, and not for what there is at all?"""
        no = [hook.__self__ for hook in self._flat["allocatable"] if not hook(queue, task)]
        no = no or [hook.__self__ for hook in self._flat["overused"] if hook(queue)]
        wanted = self.tasks.requests[task.uid]
        return any(not hasattr(one, "withholds") or one.withholds(queue, wanted) for one in no)

    def preemptive(self, queue: Queue, wanted: Listed) -> bool:
        """May the queue take back from others for this?"""
        return all(hook(queue, wanted) for hook in self._flat["preemptive"])

    def job_ready(self, job: Job) -> bool:
        """Is enough of the gang placed to let it run?"""
        return all(hook(job) for hook in self._flat["job_ready"])

    def job_valid(self, job: Job) -> Reason | None:
        """Why the gang can't be placed at all; None: it can."""
        for hook in self._flat["job_valid"]:
            said: Reason | None = hook(job)
            if said is not None:
                return said
        return None

    def job_pipelined(self, job: Job) -> bool:
        """Will enough of the gang be placed?"""
        return self._vote("job_pipelined", job)

    def job_enqueueable(self, job: Job) -> bool:
        """May the gang's pods be made?"""
        return self._vote("job_enqueueable", job)

    def turned_away(self, job: Job) -> Code:
        """Of a gang whose pods may not be made: who has no room for it, as the first plug-in has it that says no and tells."""
        for hook in self._flat["job_enqueueable"]:
            if hook(job) is Vote.REJECT and hasattr(hook.__self__, "turned_away"):
                return Code(hook.__self__.turned_away(job))
        return Code.NOT_LET_IN

    def job_enqueued(self, job: Job) -> None:
        """The gang was let in."""
        for hook in self._flat["job_enqueued"]:
            hook(job)

    def job_starving(self, job: Job) -> bool:
        """Does the gang need more than it has, and may others go for it?"""
        if job.key in self.held:
            return False
        for tier in self._hooks["job_starving"]:
            if tier:
                return all(hook(job) for hook in tier)
        return False

    def _vote(self, name: str, job: Job) -> bool:
        for tier in self._hooks[name]:
            permits = False
            for hook in tier:
                vote = hook(job)
                if vote is Vote.REJECT:
                    return False
                permits = permits or vote is Vote.PERMIT
            if permits:
                return True
        return True


_FOLLOWER = "predicates"


def _on(option: Option, switch: str) -> bool:
    return not switch or switch in option.switches
