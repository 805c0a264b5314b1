"""Proportion: queues share the cluster by their weights, as far as they ask for it.

The rule, for queues with gangs:
    real(q)       max(total - sum of all guarantees, 0) + guarantee(q), at most capability(q) in what that names
    deserved      in rounds, of the queues that aren't met: deserved += remaining * weight / sum of weights;
                  then at most real, at most what is asked for, at least the guarantee.
                  Met: all that is asked for is deserved, or nothing changed. remaining -= what they gained. The rounds end when
                  nothing is left, nothing changed, or all are met
    share         max over the resources deserved of allocated / deserved
    first         the higher priority, then the smaller share
    overused      deserved <= allocated, in every resource
    allocatable   it is open, and allocated + request is within deserved; so for taking back
    victims       of a queue, in the given order, while it has more than it deserves
    let in        it is open, and needs + allocated + inqueue - elastic is within real (queue_needs.py)
Units         floats, of the units of kumi.engine.model.
Cost          O(queues x rounds) when a session opens; O(resources) a question.
Source        Volcano: proportion plug-in (weighted max-min fairness).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kumi.engine.gangs import Listed, Queue, QueueState
from kumi.engine.model import Pod
from kumi.engine.placement import amounts
from kumi.engine.placement.amounts import Shared, Sums
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Vote
from kumi.engine.placement.plugins.queue_needs import Needs, needs
from kumi.engine.placement.tasks import Job, request
from kumi.engine.reasons import Code


@dataclass(frozen=True, slots=True)
class Proportion:
    """See the module; it has no arguments."""

    @classmethod
    def configured(cls, option: Option) -> Proportion:
        """See Configured."""
        return cls()

    def open(self, session: Framework) -> _Proportion:
        """See Plugin."""

        def make() -> _Proportion:
            opened = _Proportion(session, Needs(session).open())
            opened.share_out()
            return opened

        return session.once("proportion", make)


@dataclass(slots=True)
class _Proportion:
    session: Framework
    needs: Needs
    real: dict[str, Shared] = field(default_factory=dict)
    deserved: dict[str, Shared] = field(default_factory=dict)
    shared: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    """of each queue what there is something of that it deserves"""

    def share_out(self) -> None:
        """Real and deserved of every queue with gangs."""
        tasks, total = self.session.tasks, self.session.total()
        names = sorted(name for name, keys in tasks.of_queue.items() if self.session.has_any(keys))
        guaranteed = amounts.sum_of(dict(tasks.queues[name].guarantee) for name in sorted(tasks.queues))
        free = amounts.beyond(total, guaranteed)
        for name in names:
            queue = tasks.queues[name]
            own = amounts.plus(free, dict(queue.guarantee)) if queue.guarantee else free
            self.real[name] = amounts.capped(own, amounts.limits(queue.capability))
            self.deserved[name] = {}
        self._rounds(names, dict(total))
        for name, deserved in self.deserved.items():
            self.shared[name] = [(d, deserved[d]) for d in amounts.named(deserved)]

    def _rounds(self, unmet: list[str], remaining: Shared) -> None:
        queues = self.session.tasks.queues
        while unmet and (weights := sum(queues[name].weight for name in unmet)):
            before, gained, met = remaining, Shared(), []
            for name in unmet:
                old, queue, most = self.deserved[name], queues[name], self.real[name]
                asked, new = self.session.tasks.asked.get(name, {}), Shared()
                for d, a in remaining.items():
                    offered = old.get(d, 0) + a * queue.weight / weights
                    new[d] = min(offered, most.get(d, offered), asked.get(d, 0))
                if queue.guarantee:
                    new = amounts.most(new, dict(queue.guarantee))
                self.deserved[name] = new
                if amounts.covers(new, asked) or amounts.same(new, old):
                    met.append(name)
                for d, a in new.items():
                    gained[d] = gained.get(d, 0) + (a - old.get(d, 0))
            unmet = [name for name in unmet if name not in met]
            remaining = {d: max(0.0, a) for d, a in amounts.minus(remaining, gained).items()}
            if amounts.is_empty(remaining) or amounts.same(remaining, before):
                break

    def _allocated(self, name: str) -> Sums:
        return self.session.tasks.allocated.get(name, {})

    def share(self, name: str) -> float:
        """The queue's."""
        allocated = self._allocated(name)
        return max(
            [amounts.share(allocated.get(d, 0), deserved) for d, deserved in self.shared.get(name, ())], default=0.0
        )

    def queue_order(self, one: Queue, other: Queue) -> int:
        if one.priority != other.priority:
            return -1 if one.priority > other.priority else 1
        a, b = self.share(one.name), self.share(other.name)
        return int(a > b) - int(a < b)

    def overused(self, queue: Queue) -> bool:
        return amounts.covers(self._allocated(queue.name), self.deserved.get(queue.name, {}))

    def allocatable(self, queue: Queue, task: Pod) -> bool:
        return self._may_have(queue, request(task))

    def withholds(self, queue: Queue, wanted: Listed) -> bool:
        after = amounts.plus(self._allocated(queue.name), dict(wanted))
        return amounts.within(after, self.session.total(), wanted)

    def preemptive(self, queue: Queue, wanted: Listed) -> bool:
        return self._may_have(queue, wanted)

    def _may_have(self, queue: Queue, wanted: Listed) -> bool:
        if queue.state is not QueueState.OPEN:
            return False
        after = amounts.plus(self._allocated(queue.name), dict(wanted))
        return amounts.within(after, self.deserved.get(queue.name, {}), wanted)

    def reclaims_from(self, queue: Queue) -> bool:
        return not amounts.covers(self.deserved.get(queue.name, {}), self._allocated(queue.name))

    def reclaimable(self, reclaimer: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        left: dict[str, Sums] = {}
        victims = []
        for pod in candidates:
            queue = self.session.queue_of(self.session.job_of(pod))
            if queue is None:
                continue
            has = left.setdefault(queue.name, self._allocated(queue.name))
            if not amounts.covers(self.deserved.get(queue.name, {}), has):
                left[queue.name] = amounts.minus(has, dict(request(pod)))
                victims.append(pod)
        return victims

    def job_enqueueable(self, job: Job) -> Vote:
        queue = self.session.queue_of(job)
        if queue is None or queue.state is not QueueState.OPEN:
            return Vote.REJECT
        fits = amounts.within(self._claimed(job), self.real.get(queue.name, {}), needs(job).items())
        return Vote.PERMIT if fits else Vote.REJECT

    def turned_away(self, job: Job) -> Code:
        fits = amounts.within(self._claimed(job), self.session.total(), needs(job).items())
        return Code.NOT_LET_IN if fits else Code.NODES_CLAIMED

    def _claimed(self, job: Job) -> Sums:
        """What its queue has and is still to get, with the gang let in."""
        assert job.group is not None
        name = job.group.queue
        total = amounts.plus(amounts.plus(needs(job), self._allocated(name)), self.needs.of(name))
        return amounts.minus(total, self.needs.elastic(name))

    def job_enqueued(self, job: Job) -> None:
        self.needs.let_in(job)
