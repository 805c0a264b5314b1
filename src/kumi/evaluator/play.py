"""Play: one run of an experiment, in this process, from its task to its figures.

The rule     the load and the policy are made of the task, the run is driven in short spells, and between two of them the watch is
             told and asked, and the run is saved now and then
Spells       so many events as take about SPELL_MS: the first are few, so that a slow run can be stopped as well
Partial      a run that is stopped, or has used up its budget, is closed as it is: its figures are those of what was played, and
             say so (`partial`, `stopped`)
Saved        in the task's folder, named by what the run is: `<name>.run` goes on (engine.Run.resume), `<name>.done` is a result
             that is only read again. What is saved of something else, or by another version, is left alone and played anew.
Explaining   a run that doesn't have the job has nothing to tell of it.
Not here     which tasks there are: experiments.py; engine speed: engine.py; stack speed: stack.py; how runs are saved: saving.py.
"""

from __future__ import annotations

import hashlib
import time  # noqa: TID251  how long a run takes in real time, for its budget and its report
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kumi.api.errors import KumiError
from kumi.evaluator import saving
from kumi.evaluator.budget import STOPPED, Budget
from kumi.evaluator.failures import broken
from kumi.evaluator.history import History
from kumi.evaluator.model import START_MS, Load, Observer, Policy
from kumi.evaluator.result import Result
from kumi.evaluator.sources import Parameters, Source, Stated, absolute, stamps
from kumi.evaluator.watch import Progress, Watch

if TYPE_CHECKING:
    from kumi.evaluator.explain import Entry
    from kumi.evaluator.external import External

SPELL_MS = 200
FIRST_EVENTS, MOST_EVENTS = 64, 100_000
"""of a spell"""
SAVE_MS = 30_000
"""real time between two saves of a run"""
WHOLE_PERCENT = 100.0
OVERFULL = (
    "pods held more than 100 % of {} at the peak: a node shrank below what its pods have, or was not ready with pods that "
    "endure it, and they stay"
)
NO_JOB = "no job came: nothing was there to decide about"
ENGINE, STACK, EXTERNAL = "engine", "stack", "external"
SPEEDS = (ENGINE, STACK, EXTERNAL)
"""the engine alone, the whole stack, and that with a scheduler in another process"""
DEFAULT = "default"
"""the policy of who names none"""
SHORT_S = 10.0
"""a run that took no longer, and is the only one, is sooner played than read"""
NAME_LENGTH = 20
"""of a saved run's file, without its ending"""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a run may go on; None: until nothing changes any more."""

    virtual_ms: int | None = None
    real_s: float | None = None


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Task:
    """One run, as another process is told of it. `policy`: as policies.py reads it (a built-in's name or a file), one that the
    source states, or one that is there already. `explain`: the job whose decisions are kept, "" for none. `keep`: the folder in
    which runs are saved, "" for none; `resume`: what is saved there counts."""

    number: int
    source: Source
    policy: str | Policy | Stated
    seed: int
    parameters: Parameters = ()
    limits: Limits = NO_LIMITS
    speed: str = ENGINE
    explain: str = ""
    keep: str = ""
    resume: bool = False
    external: External | None = None
    """which scheduler, at that speed"""
    of: int = 1
    """how many tasks there are"""

    @property
    def name(self) -> str:
        """For people: policy, parameters, seed."""
        policy = self.policy if isinstance(self.policy, str) else self.policy.name
        return " ".join((policy, *(f"{name}={value}" for name, value in self.parameters), f"seed {self.seed}"))

    def anywhere(self) -> Task:
        """The same with whole paths: a worker elsewhere stands in another folder."""
        from kumi.evaluator.policies import known

        policy = self.policy
        if isinstance(policy, str) and not known(policy):
            policy = str(Path(policy).absolute())
        keep = str(Path(self.keep).absolute()) if self.keep else ""
        return replace(self, source=absolute(self.source), policy=policy, keep=keep)


@dataclass(frozen=True)
class Played(Result):
    """A run that was played. `stopped`: why it was over before its end, "" if it wasn't. `run_s` counts what was played before it
    was saved and taken up again. `notes`: what the load's reader has to say; the summary has more of them."""

    parameters: Parameters = ()
    start_ms: int = START_MS
    stopped: str = ""
    notes: tuple[str, ...] = ()
    explained: tuple[Entry, ...] = ()
    external: tuple[tuple[str, Any], ...] = ()
    """of a run with a scheduler in another process: what summary.json says of it"""

    @property
    def label(self) -> str:
        """The policy's name, and the parameters where an experiment has some: unique in it, but for the seed."""
        return " ".join((self.policy, *(f"{name}={value}" for name, value in self.parameters)))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Its object of `summary.json`: what every result has, and how this run was over."""
        said = dict(super().summary)
        more = said.pop("more")
        own = {"parameters": dict(self.parameters)} if self.parameters else {}
        own |= {"external": dict(self.external)} if self.external else {}
        return {
            **said,
            **own,
            "partial": bool(self.stopped),
            "stopped": self.stopped,
            "notes": [*self.notes, *_overfull(said)],
            "more": more,
        }


def _overfull(summary: Mapping[str, Any]) -> list[str]:
    """What is to be said of a peak beyond all that there was."""
    over = [name for name, one in summary["allocation_percent"].items() if one["peak"] > WHOLE_PERCENT]
    return [OVERFULL.format(", ".join(over))] if over else []


class Driven(Protocol):
    """What is played: a run at engine speed, or at stack speed."""

    @property
    def now_ms(self) -> int:
        """The instant that is played."""
        ...

    @property
    def played(self) -> int:
        """So many ends and events of the load were."""
        ...

    @property
    def stopped(self) -> str:
        """Why it was over before its end, "" if it wasn't."""
        ...

    @property
    def observers(self) -> tuple[Observer, ...]:
        """Who hears of it."""
        ...

    def advance(self, events: int) -> bool:
        """Plays about so many events. False when the run is over."""
        ...

    def close(self) -> None:
        """It is over; observers are told once."""
        ...


def play(task: Task, watch: Watch) -> Played:
    """The run of that task. KumiError for what it is given; RunError where it breaks down."""
    begun_s = time.perf_counter()
    load = task.source.load(task.seed)
    policy = policy_of(task.policy, task.source)
    if task.external is not None and task.policy == DEFAULT:
        policy = replace(policy, name=task.external.name)
    saved = Saved(task, load, policy) if task.keep and task.speed == ENGINE else None
    if saved is not None and (done := saved.done()) is not None:
        return done
    budget = Budget(task.limits.virtual_ms, task.limits.real_s, time.perf_counter)
    run: Driven | None = saved.run(budget) if saved is not None else None
    try:
        if run is None:
            run = _begin(task, load, policy, budget, watch)
        stopped = _drive(run, _Teller(task, load, run, watch), saved)
    except KumiError:
        raise
    except Exception as error:
        virtual_ms = run.now_ms - load.start_ms if run is not None else 0
        raise broken(error, task.name, virtual_ms, policy.profile.plugins) from error
    facts = next(one for one in run.observers if isinstance(one, History)).facts
    played = Played(
        facts=facts,
        policy=policy.name,
        seed=task.seed,
        run_s=time.perf_counter() - begun_s + (saved.spent_s if saved is not None else 0.0),
        parameters=task.parameters,
        start_ms=load.start_ms,
        stopped=run.stopped or stopped,
        notes=load.notes if len(facts.jobs.arrival) else (*load.notes, NO_JOB),
        explained=_explained(run) if task.explain else (),
        external=_of_external(run) if task.external is not None else (),
    )
    if saved is not None and not stopped:
        saved.finish(played)
    return played


def policy_of(said: str | Policy | Stated, source: Source) -> Policy:
    """As policies.py reads it; as the source states it; or as it is. KumiError."""
    if isinstance(said, Policy):
        return said
    if isinstance(said, Stated):
        return source.policy(said.number)
    from kumi.evaluator.policies import policy

    return policy(said)


def _begin(task: Task, load: Load, policy: Policy, budget: Budget, watch: Watch) -> Driven:
    """The run at its beginning, with those who listen."""
    observers: list[Observer] = [History()]
    if task.explain:
        from kumi.evaluator.explain import Explainer, find  # the API's nouns stand behind its sentences

        with suppress(KumiError):
            observers.append(Explainer(find(load, task.explain)))
    if task.speed == ENGINE:
        from kumi.evaluator.engine import Run

        return Run(load, policy, task.seed, observers, budget)
    from kumi.api.scheme import load as learn_kinds

    learn_kinds()
    if task.speed == EXTERNAL:
        from kumi.evaluator.external import ExternalRun

        return ExternalRun(load, policy, task.seed, observers, budget, task.external, interrupted=watch.stopped)
    from kumi.evaluator.stack import StackRun

    return StackRun(load, policy, task.seed, observers, budget)


def _explained(run: Driven) -> tuple[Entry, ...]:
    from kumi.evaluator.explain import Explainer

    return tuple(entry for one in run.observers if isinstance(one, Explainer) for entry in one.entries)


def _of_external(run: Driven) -> tuple[tuple[str, Any], ...]:
    from kumi.evaluator.external import ExternalRun

    return tuple(run.more.items()) if isinstance(run, ExternalRun) else ()


class _Teller:
    """Tells the watch how far the run is."""

    def __init__(self, task: Task, load: Load, run: Driven, watch: Watch) -> None:
        self._task, self._load, self._run, self.watch = task, load, run, watch
        self._from, self._since_s = run.played, time.perf_counter()
        self._expected = None if load.size is None else load.size * (1 if task.source.endless else 2)

    def tell(self) -> None:
        """As of now."""
        real_ms = round(1000 * (time.perf_counter() - self._since_s))
        run = self._run
        virtual_ms = run.now_ms - self._load.start_ms
        task = self._task
        self.watch.told(Progress(task.number, task.name, run.played, self._from, self._expected, virtual_ms, real_ms))


def _drive(run: Driven, teller: _Teller, saved: Saved | None) -> str:
    """Until the run is over, or the watch stops it: why it was over, "" where all was played."""
    events, saved_s = FIRST_EVENTS, time.perf_counter()
    while True:
        begun_s = time.perf_counter()
        if not run.advance(events):
            run.close()
            return ""
        now_s = time.perf_counter()
        events = _next_spell(events, 1000 * (now_s - begun_s))
        teller.tell()
        stopped = teller.watch.stopped()
        if saved is not None and (stopped or 1000 * (now_s - saved_s) >= SAVE_MS):
            saved.keep(run)
            saved_s = time.perf_counter()
        if stopped:
            run.close()
            return STOPPED


def _next_spell(events: int, took_ms: float) -> int:
    """How many events the next spell has, where this one's took so long."""
    wanted = round(events * SPELL_MS / took_ms) if took_ms else 4 * events
    return max(1, min(wanted, 4 * events, MOST_EVENTS))


class Saved:
    """What is kept of one task in its folder; see the module."""

    def __init__(self, task: Task, load: Load, policy: Policy) -> None:
        self._task, self._load, self._policy = task, load, policy
        self._stamps = stamps(task.source.files())
        self._folder = Path(task.keep)
        self._since_s = time.perf_counter()
        self.spent_s = 0.0
        """real time that was spent on it before"""

    def done(self) -> Played | None:
        """Its result, if it was played before and may count."""
        found = self._read(".done")
        return found if isinstance(found, Played) else None

    def run(self, budget: Budget) -> Driven | None:
        """The run, as far as it was played before, if it may count."""
        from kumi.evaluator.engine import Run

        if not self._task.resume:
            return None
        try:
            run = Run.resume(self._path(".run"), self._load, self._policy, self._task.seed, budget)
            self.spent_s = float(self._path(".spent").read_text("utf-8"))
        except (KumiError, OSError, ValueError):
            return None
        return run

    def keep(self, run: Driven) -> None:
        """So far it is. A disk that is full, or a machine that has no such folder, stops nobody."""
        from kumi.evaluator.engine import Run

        if isinstance(run, Run):
            with suppress(OSError):
                run.save(self._path(".run"))
                spent_s = self.spent_s + time.perf_counter() - self._since_s
                self._path(".spent").write_text(str(spent_s), "utf-8")

    def finish(self, played: Played) -> None:
        """It is done."""
        if self._task.of > 1 or played.run_s > SHORT_S:
            with suppress(OSError):
                saving.write(self._path(".done"), played, self._policy.profile, self._given)

    @cached_property
    def _given(self) -> str:
        """What tells one run from another: what it is given, and the files as they were when this was read from them."""
        told = hashlib.sha256(saving.fingerprint(self._load, self._policy, self._task.seed).encode())
        told.update(
            repr((self._task.source.words, self._task.parameters, self._task.limits, self._task.explain)).encode()
        )
        told.update(repr(self._stamps).encode())
        return told.hexdigest()

    def _read(self, ending: str) -> object:
        if not self._task.resume:
            return None
        try:
            return saving.read(self._path(ending), self._policy.profile, self._given)
        except KumiError:
            return None

    def _path(self, ending: str) -> Path:
        return self._folder / f"{self._given[:NAME_LENGTH]}{ending}"
