"""Combinations: flavors for all pod sets together, quota and nodes in one.

The rule       only what is asked for plays a part: a resource of which nothing is asked for has no flavor and is no obstacle.
               Every resource that is asked for must be covered by a resource group of the queue, unless such resources are not
               counted. A choice of a unit (a pod set, or those of one group) is one flavor for each resource group that it asks
               for. Choices are tried depth first, in the order of units, then groups, then flavors; of a group's flavors first
               those at which the search may stop (fungibility.py), then the others, the better ones first. A choice counts where
                   quota       what it asks for, what the units before got of the same flavor-resource, and what those after can
                               get of no other flavor, fits together, or could by eviction
                   nodes       the pods, with the flavor's labels added to their selector and its tolerations to theirs, can be
                               placed; or could on emptier nodes, where the queue may evict anybody at all
               A combination is an option where it fits and all its pods can be placed together (../placement/gang.py), or where
               it could by eviction. Those that evict come after all that fit, the better ones first; in their turn where the
               queue would rather stop at preemption. Last comes the answer no, with every no on the way.
               Where the cluster's own scheduler places, nodes are not asked.
New slices     of an elastic job keep the nodes of the slice that they replace, and are placed with what they have more.
Why            a flavor whose quota is free and whose nodes are full is no place to start: the next one may be both. An option
               that can never succeed never outranks one that fits, and one for which no victims are found gives way to the next.
Resume         every search looks at all flavors: none is left for the next cycle.
Limits         at most 64 combinations are placed or offered; past that the answer is no, for now, and any event may change it.
Units          base units.
Cost           O(combinations x (resources x depth + nodes)); a unit that can't be placed alone cuts its combinations short.
Source         Kueue: ResourceFlavor, resource groups, flavor assignment. That nodes have a say is Kumi's own.
Not here       how one flavor does: question.py; keeping what was found: cycle.py; who is evicted: victims.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

from kumi.engine.admission.assignment import Assignment, Attempt, Chosen, Mode, NoFit, Places, PodSetChosen
from kumi.engine.admission.fungibility import rank, stops
from kumi.engine.admission.matching import shaped
from kumi.engine.admission.question import Judged, Question
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.model import Amounts, Evictable, PodSet, ResourceGroup
from kumi.engine.placement import gang
from kumi.engine.reasons import Code, Layer, Reason

OPTIONS_AT_MOST = 64

Choice = tuple[tuple[str, str], ...]
"""(resource, flavor) of what a unit asks for"""
Used = dict[FlavorResource, int]


@dataclass(frozen=True, slots=True)
class Taken:
    """A choice as it would do: (mode, level) of each resource; `crowded`: its nodes must be emptied first."""

    choice: Choice
    parts: dict[str, tuple[Mode, int]]
    crowded: bool = False

    @property
    def worst(self) -> tuple[Mode, int]:
        """The worst mode of its resources, and their highest level."""
        mode = min((mode for mode, _ in self.parts.values()), default=Mode.FIT)
        level = max((level for _, level in self.parts.values()), default=0)
        return (min(mode, Mode.PREEMPT) if self.crowded else mode), level


def options(question: Question) -> Iterator[Assignment]:
    """Every option in order, then the answer no."""
    search = Search(question)
    evicting = []
    for found in search.found():
        if found.mode is Mode.FIT or question.queue.fungibility.stop_at_preemption:
            yield found
        else:
            evicting.append(found)
    yield from sorted(evicting, key=lambda o: rank(o.mode, o.level, question.queue.fungibility), reverse=True)
    yield search.refused()


@dataclass(slots=True)
class Search:
    """One search; gathers what it meets on its way."""

    question: Question
    asks: list[Amounts] = field(init=False)
    """by unit, what it asks for, without what is 0"""
    choices: list[list[Choice]] = field(default_factory=list)
    reasons: dict[Reason, None] = field(default_factory=dict)
    attempts: dict[int, dict[Attempt, None]] = field(default_factory=dict)
    looked_for: dict[PodSet, None] = field(default_factory=dict)
    alone: dict[tuple[int, Choice], Reason | None] = field(default_factory=dict)
    offered: int = 0

    def __post_init__(self) -> None:
        self.asks = [self._asks(unit) for unit in self.question.units]

    @property
    def places(self) -> bool:
        """Does Kumi place pods itself?"""
        return self.question.state.profile.places

    def found(self) -> Iterator[Assignment]:
        """The combinations that fit, or could by eviction, as they are met."""
        if not self._covered():
            return
        self.choices = [self._choices(at) for at in range(len(self.asks))]
        for at, choices in enumerate(self.choices):
            self.attempts.setdefault(at, {})
            if not choices and self.asks[at]:
                return
        yield from self._deeper([], {})

    def refused(self) -> Assignment:
        """No, and why."""
        question = self.question
        reasons = dict.fromkeys(self._of_the_gang(reason) for reason in self.reasons)
        pod_sets = [
            PodSetChosen(
                pods.name,
                question.counts[at],
                question.asks[at],
                Mode.NO_FIT,
                attempts=tuple(self.attempts.get(self.question.unit_of[at], {})),
                no_fit=self._no_fit(self.question.unit_of[at]),
            )
            for at, pods in enumerate(question.workload.pod_sets)
        ]
        return Assignment(
            question.queue.name,
            Mode.NO_FIT,
            tuple(pod_sets),
            {},
            no_fit=max((p.no_fit for p in pod_sets), key=lambda no: no.badness, default=NoFit.NO_MATCHING_FLAVOR),
            reasons=tuple(reasons),
            looked_for=tuple(self.looked_for),
            open_ended=self.offered >= OPTIONS_AT_MOST,
        )

    # what is asked for

    def _asks(self, unit: tuple[int, ...]) -> Amounts:
        asks: Amounts = {}
        for resource, amount in self.question.together(unit).items():
            if amount > 0:
                asks[resource] = amount
        return asks

    def _covered(self) -> bool:
        """Is everything that is asked for covered? Notes what isn't, and drops what isn't counted."""
        question, fine = self.question, True
        counts = question.state.profile.settings.block_undeclared
        for at, unit in enumerate(question.units):
            name = question.workload.pod_sets[unit[0]].name
            for resource in list(self.asks[at]):
                group = question.group_of(resource)
                if group is not None and group.flavors:
                    continue
                if counts:
                    need = self.asks[at][resource]
                    self._note(
                        question.no(Code.RESOURCE_NOT_COVERED, name, resource=resource, need=need, permanent=True)
                    )
                    fine = False
                else:
                    del self.asks[at][resource]
        return fine

    def _choices(self, at: int) -> list[Choice]:
        """The unit's combinations of flavors that match, in order; notes the flavors that don't."""
        by_group: list[list[Choice]] = []
        for group in self.question.queue.groups:
            wanted = [r for r in group.resources if r in self.asks[at]]
            if wanted:
                by_group.append([tuple((r, f) for r in wanted) for f in self._matching(at, group, wanted[0])])
        return [tuple(pair for part in parts for pair in part) for parts in product(*by_group)]

    def _matching(self, at: int, group: ResourceGroup, resource: str) -> Iterator[str]:
        question, unit = self.question, self.question.units[at]
        for quotas in group.flavors:
            if not question.allowed(unit, quotas.flavor, resource):
                continue
            reason = question.mismatch(unit, group, quotas.flavor)
            if reason is None:
                yield quotas.flavor
            else:
                self._note(reason)
                attempt = Attempt(quotas.flavor, Mode.NO_FIT, 0, NoFit.NO_MATCHING_FLAVOR, (reason,))
                self.attempts.setdefault(at, {})[attempt] = None

    # the search

    def _deeper(self, chosen: list[Taken], used: Used) -> Iterator[Assignment]:
        """Every combination, depth first, whose beginning is `chosen` and `used`."""
        at = len(chosen)
        if at == len(self.choices):
            found = self._whole(chosen, used)
            if found is not None:
                yield found
            return
        for taken in self._in_order(at, used):
            more = dict(used)
            for resource, flavor in taken.choice:
                more[flavor, resource] = more.get((flavor, resource), 0) + self._adds(at, resource)
            yield from self._deeper([*chosen, taken], more)
            if self.offered >= OPTIONS_AT_MOST:
                return

    def _in_order(self, at: int, used: Used) -> Iterator[Taken]:
        """The unit's choices that count, those first at which the search may stop."""
        how = self.question.queue.fungibility
        later: list[Taken] = []
        for choice in self.choices[at]:
            taken = self._judge(at, choice, used)
            if taken is None:
                continue
            if stops(*taken.worst, how):
                yield taken
            else:
                later.append(taken)
        yield from sorted(later, key=lambda t: rank(t.worst[0], t.worst[1], how), reverse=True)

    def _judge(self, at: int, choice: Choice, used: Used) -> Taken | None:
        """How the choice would do; None, and noted, where it can't."""
        question, unit = self.question, self.question.units[at]
        parts: dict[str, tuple[Mode, int]] = {}
        for flavor in dict.fromkeys(flavor for _, flavor in choice):
            wanted = {r: self._adds(at, r) for r, f in choice if f == flavor}
            bound = {(flavor, r): self._bound(at + 1, r, flavor) for r in wanted}
            asked = {fr: used.get(fr, 0) + more for fr, more in bound.items()}
            judged = question.judge(unit, flavor, wanted, asked)
            self._keep(at, judged)
            if any(mode <= Mode.NO_CANDIDATES for mode, _ in judged.parts.values()):
                return None
            parts.update(judged.parts)
        reason = self._refused_alone(at, choice)
        if reason is None:
            return Taken(choice, parts)
        self._note_nodes(reason, {reason.pod_set: choice})
        return Taken(choice, parts, crowded=True) if self._may_empty(reason) else None

    def _keep(self, at: int, judged: Judged) -> None:
        self.attempts.setdefault(at, {})[judged.attempt] = None
        for reason in judged.attempt.reasons[:1]:
            self._note(reason)

    def _adds(self, at: int, resource: str) -> int:
        """What the unit adds to what is used."""
        question = self.question
        return sum(question.more(n, resource) for n in question.units[at] if resource in question.asks[n])

    def _bound(self, start: int, resource: str, flavor: str) -> int:
        """How much of the resource the units from there on can get of this flavor only."""
        later = range(start, len(self.choices))
        return sum(
            self._adds(at, resource)
            for at in later
            if resource in self.asks[at] and all((resource, flavor) in choice for choice in self.choices[at])
        )

    def _whole(self, chosen: list[Taken], used: Used) -> Assignment | None:
        """The combination, placed; or what it could be by eviction; None where it can't be."""
        self.offered += 1
        nodes: dict[int, Places] = {}
        crowded = any(taken.crowded for taken in chosen)
        evicts = crowded or any(taken.worst[0].evicts for taken in chosen)
        if self.places and not evicts:
            found = gang.place(self.question.state.site, self._shaped(chosen))
            if isinstance(found, Reason):
                self._note_nodes(found, self._by_pod_set(chosen))
                if not self._may_empty(found):
                    return None
                crowded = True
            else:
                nodes = dict(enumerate(found))
        return self._assignment(chosen, used, nodes, crowded=crowded)

    def _assignment(self, chosen: list[Taken], used: Used, nodes: dict[int, Places], *, crowded: bool) -> Assignment:
        question, pod_sets = self.question, []
        for at, pods in enumerate(question.workload.pod_sets):
            unit = self.question.unit_of[at]
            flavors = {}
            for resource, flavor in sorted(chosen[unit].choice):
                if question.asks[at].get(resource, 0) > 0:
                    mode, level = chosen[unit].parts[resource]
                    flavors[resource] = Chosen(flavor, min(mode, Mode.PREEMPT) if crowded else mode, level)
            mode = min((c.mode for c in flavors.values()), default=Mode.PREEMPT if crowded else Mode.FIT)
            attempts = tuple(self.attempts.get(unit, {}))
            kept = question.slice[pods.name].nodes if pods.name in question.slice and self.places else ()
            one = PodSetChosen(pods.name, question.counts[at], question.asks[at], mode, flavors, attempts)
            pod_sets.append(replace(one, nodes=kept + nodes.get(at, ())))
        return Assignment(
            question.queue.name,
            min((p.mode for p in pod_sets), default=Mode.FIT),
            tuple(pod_sets),
            used,
            max((c.level for p in pod_sets for c in p.flavors.values()), default=0),
            reasons=tuple(self.reasons),
            looked_for=tuple(self.looked_for),
        )

    # nodes

    def _refused_alone(self, at: int, choice: Choice) -> Reason | None:
        """Why one of the unit's pod sets can't be placed with these flavors, were it the only one."""
        if not self.places:
            return None
        if (at, choice) not in self.alone:
            reason = None
            for n in self.question.units[at]:
                pods = with_flavors(self.question, n, choice)
                self.looked_for[pods] = None
                reason = reason or gang.refusal(self.question.state.site, pods)
            self.alone[at, choice] = reason
        return self.alone[at, choice]

    def _may_empty(self, reason: Reason) -> bool:
        """Could the nodes take it if some of what runs there went, and may the queue evict at all?"""
        policy = self.question.queue.preemption
        never = policy.within is Evictable.NEVER and policy.reclaim is Evictable.NEVER
        return reason.code in (Code.NODES_FULL, Code.GPUS_SPLIT) and not reason.permanent and not never

    def _shaped(self, chosen: list[Taken]) -> list[PodSet]:
        pod_sets = self.question.workload.pod_sets
        return [
            with_flavors(self.question, at, chosen[self.question.unit_of[at]].choice) for at in range(len(pod_sets))
        ]

    def _by_pod_set(self, chosen: list[Taken]) -> dict[str, Choice]:
        pod_sets = self.question.workload.pod_sets
        return {pods.name: chosen[self.question.unit_of[at]].choice for at, pods in enumerate(pod_sets)}

    # reasons

    def _no_fit(self, unit: int) -> NoFit:
        met = [a.no_fit for a in self.attempts.get(unit, {}) if a.no_fit is not NoFit.NONE]
        return min(met, key=lambda no: no.badness, default=NoFit.NO_MATCHING_FLAVOR)

    def _of_the_gang(self, reason: Reason) -> Reason:
        """A no of the nodes to one of several pod sets, told of all of them; they get the flavor that it is about if they
        may."""
        pod_sets = self.question.workload.pod_sets
        if len(pod_sets) == 1 or reason.code not in (Code.NODES_FULL, Code.CAPACITY_TOO_SMALL):
            return reason
        of_flavor = [
            next((c for c in choices if any(flavor == reason.flavor for _, flavor in c)), choices[0])
            for choices in self.choices
        ]
        asked = [with_flavors(self.question, at, of_flavor[self.question.unit_of[at]]) for at in range(len(pod_sets))]
        return gang.of_all(self.question.state.site, asked, reason)

    def _note_nodes(self, reason: Reason, chosen: dict[str, Choice]) -> None:
        """A no of the nodes, with the flavor that was asked for there."""
        assert reason.code.layer >= Layer.GANG
        by_resource = dict(chosen.get(reason.pod_set, ()))
        flavor = by_resource.get(reason.resource) or next(iter(by_resource.values()), "")
        self._note(replace(reason, flavor=flavor))

    def _note(self, reason: Reason) -> None:
        self.reasons[reason] = None


def with_flavors(question: Question, at: int, choice: Choice) -> PodSet:
    """The pod set as its pods will be with these flavors; of a new slice, those that it has more."""
    pods, state = question.workload.pod_sets[at], question.state
    flavors = [state.catalog.flavors[name] for name in dict.fromkeys(f for _, f in choice)]
    kept = sum(n for _, n in question.slice[pods.name].nodes) if pods.name in question.slice else 0
    return replace(pods, count=max(0, question.counts[at] - kept), shape=shaped(pods.shape, flavors))
