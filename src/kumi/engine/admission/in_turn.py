"""In turn: flavors for one pod set after the other, one resource group after the other, as Kueue does.

The rule       pod sets in their order (those of one group together); their resources in a fixed order, each with all others of
               its resource group; the group's flavors in the queue's order, from where the last cycle's search ended. The search
               in a group ends at the first flavor at which it may (fungibility.py); else the best one that was looked at is
               taken, if one is no less than NO_CANDIDATES. What was taken is taken: later pod sets see it as used, and no
               earlier choice is taken back.
               A resource that no group covers is passed over where nothing of it is asked for, or where such resources are not
               counted; else the pod set gets nothing. The first pod set that gets nothing ends the search.
Order          resources by the FNV-1a hash of their names. It decides which group is told to be the one that failed.
NoFit reason   a pod set's: of each group the mildest of its flavors, of these the worst; NoMatchingFlavor where no flavor was
               looked at, or a resource isn't covered. The workload's: the worst of its pod sets.
Cost           O(pod sets x resources x flavors x depth of the tree).
Source         Kueue: flavor assignment.
Not here       how one flavor does: question.py; taking choices back, and nodes: combinations.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from kumi.engine.admission.assignment import LAST, Assignment, Attempt, Chosen, Mode, NoFit, PodSetChosen
from kumi.engine.admission.fungibility import better, stops
from kumi.engine.admission.question import Judged, Question
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.model import Amounts, ResourceGroup
from kumi.engine.reasons import Code, Reason

Unit = tuple[int, ...]
WORST = (Mode.NO_FIT, 0)


def options(question: Question) -> Iterator[Assignment]:
    """The one assignment that the rule gives."""
    yield _Search(question).run()


@dataclass(slots=True)
class _Search:
    question: Question
    used: dict[FlavorResource, int] = field(default_factory=dict)
    done: list[PodSetChosen] = field(default_factory=list)
    reasons: dict[Reason, None] = field(default_factory=dict)

    def run(self) -> Assignment:
        for unit in self.question.units:
            if not self._unit(unit):
                break
        mode = min((one.mode for one in self.done), default=Mode.FIT)
        return Assignment(
            queue=self.question.queue.name,
            mode=mode,
            pod_sets=tuple(self.done),
            usage=self.used,
            level=max((c.level for one in self.done for c in one.flavors.values()), default=0),
            no_fit=_worst([one.no_fit for one in self.done]) if mode is Mode.NO_FIT else NoFit.NONE,
            reasons=tuple(self.reasons),
        )

    def _unit(self, unit: Unit) -> bool:
        """Flavors for the unit's pod sets; False: it gets nothing."""
        question, wanted = self.question, self.question.together(unit)
        flavors: dict[str, Chosen] = {}
        attempts: dict[str, Attempt] = {}
        failed = False
        for resource in in_order(tuple(wanted)):
            group = question.group_of(resource)
            if group is None:
                if wanted[resource] and question.state.profile.settings.block_undeclared:
                    name = question.workload.pod_sets[unit[0]].name
                    need = wanted[resource]
                    reason = question.no(Code.RESOURCE_NOT_COVERED, name, resource=resource, need=need, permanent=True)
                    self.reasons[reason] = None
                    failed = True
                    break
            elif resource not in flavors:
                found = self._group(unit, group, resource, wanted, attempts)
                if not found:
                    failed = True
                    break
                flavors.update(found)
        not_covered = failed and group is None
        tried = tuple(attempts.values())
        no_fit = self._no_fit(tried, not_covered=not_covered) if failed else NoFit.NONE
        for at in unit:
            own = {} if failed else {r: flavors[r] for r in question.asks[at] if r in flavors}
            self._keep(at, own, PodSetChosen("", 0, {}, Mode.NO_FIT if failed else Mode.FIT, own, tried, no_fit))
        return not failed

    def _keep(self, at: int, flavors: dict[str, Chosen], one: PodSetChosen) -> None:
        question, name = self.question, self.question.workload.pod_sets[at].name
        for resource, chosen in flavors.items():
            fr = (chosen.flavor, resource)
            self.used[fr] = self.used.get(fr, 0) + question.more(at, resource)
        mode = min((one.mode, *(chosen.mode for chosen in flavors.values())))
        count, requests = question.counts[at], question.asks[at]
        self.done.append(replace(one, name=name, count=count, requests=requests, mode=mode))

    def _group(
        self, unit: Unit, group: ResourceGroup, resource: str, wanted: Amounts, attempts: dict[str, Attempt]
    ) -> dict[str, Chosen]:
        """The flavor of the group's resources; {} where there is none."""
        question, how = self.question, self.question.queue.fungibility
        asks = {r: self._more(unit, r) for r in in_order(tuple(wanted)) if r in group.resources}
        names = [quotas.flavor for quotas in group.flavors]
        best: Judged | None = None
        last = len(names) - 1
        for at in range(self._start(unit, resource), len(names)):
            if not question.allowed(unit, names[at], resource):
                continue
            judged = self._look(unit, group, names[at], asks)
            _note(attempts, judged.attempt)
            self.reasons.update(dict.fromkeys(judged.attempt.reasons))
            if stops(*judged.worst, how):
                best, last = judged, at
                break
            if better(judged.worst, WORST if best is None else best.worst, how):
                best = judged
        if best is None:
            return {}
        tried = LAST if last == len(names) - 1 else last
        return {r: Chosen(best.attempt.flavor, mode, level, tried) for r, (mode, level) in best.parts.items()}

    def _look(self, unit: Unit, group: ResourceGroup, name: str, asks: Amounts) -> Judged:
        reason = self.question.mismatch(unit, group, name)
        if reason is None:
            return self.question.judge(unit, name, asks, self.used)
        return Judged(Attempt(name, Mode.NO_FIT, 0, NoFit.NO_MATCHING_FLAVOR, (reason,)), WORST, {})

    def _more(self, unit: Unit, resource: str) -> int:
        return sum(self.question.more(at, resource) for at in unit if resource in self.question.asks[at])

    def _start(self, unit: Unit, resource: str) -> int:
        resume, settings = self.question.aim.resume, self.question.state.profile.settings
        if resume is None or not settings.resume_scan or unit[0] >= len(resume):
            return 0
        return dict(resume[unit[0]]).get(resource, LAST) + 1

    def _no_fit(self, attempts: tuple[Attempt, ...], *, not_covered: bool) -> NoFit:
        mildest = []
        for group in self.question.queue.groups:
            names = {quotas.flavor for quotas in group.flavors}
            met = [a.no_fit for a in attempts if a.mode is Mode.NO_FIT and a.flavor in names]
            if met:
                mildest.append(min(met, key=lambda no: no.badness))
        if not_covered or not attempts:
            mildest.append(NoFit.NO_MATCHING_FLAVOR)
        return _worst(mildest)


def _worst(reasons: list[NoFit]) -> NoFit:
    return max(reasons, key=lambda no: no.badness, default=NoFit.NONE)


def _note(attempts: dict[str, Attempt], attempt: Attempt) -> None:
    """A flavor of two groups was looked at twice: the worse mode, all reasons."""
    before = attempts.get(attempt.flavor)
    if before is not None:
        attempt = Attempt(
            attempt.flavor,
            min(before.mode, attempt.mode),
            max(before.level, attempt.level),
            _worst([before.no_fit, attempt.no_fit]),
            before.reasons + attempt.reasons,
        )
    attempts[attempt.flavor] = attempt


@lru_cache(maxsize=1024)
def in_order(resources: tuple[str, ...]) -> tuple[str, ...]:
    """The resources in the order in which they are looked at."""
    return tuple(sorted(resources, key=lambda name: (_fnv(name), name)))


def _fnv(name: str) -> int:
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value
