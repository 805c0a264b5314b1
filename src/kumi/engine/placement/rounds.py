"""Rounds: one session of gangs, from the tables of the state to what comes of it.

The rule   1  the plug-ins of the scheduler's file are opened on the tables
           2  its actions run, in their order, inside one trial
           3  what every gang's phase is now (phases.py)
           4  the trial is taken back: what was decided comes back into the state as decisions that are assumed
Source     Volcano: scheduling session.
Not here   what an action does: actions/; gangs of admitted Workloads, whose places are promised: session.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kumi.engine.gangs import Phase
from kumi.engine.placement.conf import Conf
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Configured
from kumi.engine.placement.phases import phase_of
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.surroundings import Surroundings
from kumi.engine.placement.tasks import Status
from kumi.engine.placement.ways import VOLCANO, Ways
from kumi.engine.placement.why import why
from kumi.engine.reasons import Reason

OPEN = (Status.ALLOCATED, Status.PIPELINED)
"""given in a session and not committed"""


@dataclass(frozen=True, slots=True)
class Round:
    """What a session led to. `status` and `node` of every task at its end, also of what was not committed, where all gangs were
    asked for. `reasons`: why gangs, or tasks of theirs, aren't placed. `promised`: tasks of gangs that wait for the rest of
    their places, and the nodes of the places that they have. `wake_ms`: when it would end otherwise although nothing came, None:
    not by itself."""

    outcome: Outcome
    phases: dict[str, Phase]
    status: dict[str, Status]
    node: dict[str, str]
    reasons: dict[str, tuple[Reason, ...]]
    promised: dict[str, str]
    wake_ms: int | None
    judges: frozenset[str] = frozenset()
    """the plug-ins that have a say in phases"""


def run(
    around: Surroundings,
    conf: Conf,
    plugins: Mapping[str, Configured],
    ways: Ways = VOLCANO,
    touched: Iterable[str] | None = None,
) -> Round:
    """One session. The tables are left as they were. `touched`: gangs that something happened to since the last one; what is said
    is of these, of those that wait, and of those that something happens to now. None: of all."""
    outcome, waiting = Outcome(), (*around.tasks.waiting, *around.tasks.outside)
    with around.journal.trial():
        framework = Framework(around, conf, plugins, ways.customs)
        for name in conf.actions:
            ways.actions[name](framework, outcome)
        tasks = around.tasks
        keys = tasks.jobs if touched is None else dict.fromkeys((*touched, *tasks.touched, *waiting))
        jobs = list(framework.those(keys))
        phases = {job.key: phase_of(framework, job) for job in jobs}
        reasons = {job.key: said for job in jobs if (said := why(framework, outcome, job))}
        promised = {uid: tasks.node[uid] for job in jobs for s in OPEN for uid in job.by_status.get(s, ())}
        end = (dict(tasks.status), dict(tasks.node)) if touched is None else ({}, {})
        wakes = [ms for ms in (framework.wake_ms(), outcome.wake_ms) if ms is not None]
        return Round(outcome, phases, *end, reasons, promised, min(wakes, default=None), framework.judges())


def look(
    around: Surroundings, conf: Conf, plugins: Mapping[str, Configured], last: Round, keys: Iterable[str]
) -> Round:
    """What a session leads to when no gang waits for anything: the phases of these gangs, which is all that can be new; `last`:
    the session before."""
    tiers = tuple(tuple(option for option in tier if option.name in last.judges) for tier in conf.tiers)
    framework = Framework(around, Conf((), tiers), plugins)
    jobs = [job for key in keys if (job := around.tasks.jobs.get(key)) is not None and framework.takes_part(job)]
    phases = {job.key: phase_of(framework, job) for job in jobs}
    reasons = {job.key: said for job in jobs if (said := why(framework, Outcome(), job))}
    return Round(Outcome(), phases, {}, {}, reasons, {}, last.wake_ms, last.judges)
