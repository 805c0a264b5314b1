"""Experiments: policies x parameters x seeds, each a run of its own, on as many workers as there are.

    Experiment             what is compared with what; `tasks()` is every run
    run(tasks, ...)        plays all of them; the results in the order of the tasks

Order        policies as asked for, then parameters (the last one turns fastest), then seeds: so is summary.json.
Workers      joblib's, by the name of its backend (backends.py): processes on this machine unless another is named; elsewhere
             they are told whole paths. One worker here plays everything in this process, and joblib is not even imported.
Law          the results don't depend on how many workers there are, nor on the hash seed: a run sees its task and nothing else,
             and what it gives is put in order by its number.
Stopping     the watch says so: runs that go on are closed as they are, others are not begun (None).
Failing      a run that breaks down takes no other's result with it (failures.py).
Cost         a task is a kilobyte; what comes back is the run's history (220 bytes a one-pod job).
Not here     where runs go: backends.py; one run: play.py; its figures: summary.py; which difference is noise: compare.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from kumi.api.errors import KumiError
from kumi.evaluator import LARGEST_SEED, SEEDS_AT_MOST
from kumi.evaluator.backends import LOCAL, ready
from kumi.evaluator.failures import RunError, SomeFailed
from kumi.evaluator.model import Policy
from kumi.evaluator.paired import paired
from kumi.evaluator.play import ENGINE, EXTERNAL, NO_LIMITS, SPEEDS, Limits, Played, Task, play, policy_of
from kumi.evaluator.sources import Source, Stated, Value
from kumi.evaluator.watch import Slips, Watch

if TYPE_CHECKING:
    from kumi.evaluator.external import External


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is compared with what. `grid`: parameter of the source -> its values. The rest is as in Task."""

    source: Source
    policies: tuple[str | Policy | Stated, ...]
    seeds: tuple[int, ...] = (0,)
    grid: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    limits: Limits = NO_LIMITS
    speed: str = ENGINE
    explain: str = ""
    keep: str = ""
    resume: bool = False
    external: External | None = None

    def tasks(self) -> tuple[Task, ...]:
        """Every run, in the order of the results. KumiError for a parameter that the source doesn't have."""
        names = [name for name, _ in self.grid]
        grid = [tuple(zip(names, values, strict=True)) for values in product(*(values for _, values in self.grid))]
        runs = list(product(self.policies, grid, self.seeds))
        return tuple(
            Task(
                number=number,
                source=self.source.with_parameters(parameters),
                policy=policy,
                seed=seed,
                parameters=parameters,
                limits=self.limits,
                speed=self.speed,
                explain=self.explain,
                keep=self.keep,
                resume=self.resume,
                external=self.external,
                of=len(runs),
            )
            for number, (policy, parameters, seed) in enumerate(runs)
        )


def check(experiment: Experiment) -> None:
    """What can be told before anything is played: KumiError for a speed or a seed that there isn't, for a policy that is wrong,
    for two of one name (nobody could tell their results apart), and for a job to be explained that no run has."""
    if experiment.speed not in SPEEDS:
        raise KumiError(f"there is no speed {experiment.speed!r}: it may be {', '.join(SPEEDS)}")
    if (experiment.external is not None) != (experiment.speed == EXTERNAL):
        raise KumiError(
            f"the speed {EXTERNAL} needs to be told which scheduler (`external`), and no other speed has one"
        )
    _check_seeds(experiment.seeds)
    named: dict[str, str] = {}
    for said in experiment.policies:
        name = policy_of(said, experiment.source).name
        words = said if isinstance(said, str) else name
        if name in named:
            raise KumiError(f"two policies are named {name} ({named[name]} and {words}): give one of them another name")
        named[name] = words
    if experiment.explain:
        _look_for(experiment)


def _check_seeds(seeds: Sequence[int]) -> None:
    """KumiError."""
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
            raise KumiError(f"a seed is a whole number from 0 to {LARGEST_SEED}, not {seed!r}")
    if len(seeds) > SEEDS_AT_MOST:
        raise KumiError(f"an experiment has {SEEDS_AT_MOST:,} seeds at most, not {len(seeds):,}")
    for seed, times in Counter(seeds).most_common(1):
        if times > 1:
            raise KumiError(f"the seed {seed} is there {times} times: equal seeds give equal runs")


def _look_for(experiment: Experiment) -> None:
    """One run may draw the job and another not: it must be in one of them. KumiError."""
    from kumi.evaluator.explain import find  # the API's nouns stand behind its sentences

    missing: KumiError | None = None
    for task in experiment.tasks()[: len(experiment.tasks()) // len(experiment.policies)]:
        try:
            find(task.source.load(task.seed), experiment.explain)
        except KumiError as error:
            missing = missing or error
        else:
            return
    if missing is not None:
        raise missing


def run(tasks: Sequence[Task], watch: Watch, workers: int | None = 1, backend: str = LOCAL) -> list[Played | None]:
    """The results, in the order of the tasks; None: it was not begun. `workers`: at most so many at once; None: all that the
    backend has. KumiError; SomeFailed where some broke down."""
    if in_this_process(tasks, workers, backend):
        return _results(_one_by_one(tasks, watch))
    from joblib import Parallel, delayed

    sent = tasks if backend == LOCAL else [task.anywhere() for task in tasks]
    with ready(backend, workers, len(tasks)) as at_once:
        found = Parallel(n_jobs=at_once, batch_size=1, pre_dispatch="all")(delayed(work)(task, watch) for task in sent)
    return _results(found)


def _one_by_one(tasks: Sequence[Task], watch: Watch) -> Iterator[Played | Failed | None]:
    for task in tasks:
        one = work(task, watch)
        yield one
        if isinstance(one, Failed) and not one.alone:
            return


def _results(found: Iterable[Played | Failed | None]) -> list[Played | None]:
    """What they gave. KumiError: what was given is wrong. SomeFailed."""
    played, failed = list[Played | None](), list[Failed]()
    for one in found:
        if isinstance(one, Failed):
            failed.append(one)
        else:
            played.append(one)
    for wrong in failed:
        if not wrong.alone:
            raise KumiError(wrong.why)
    if failed:
        raise SomeFailed([wrong.why for wrong in failed], paired(played))
    return paired(played)


def in_this_process(tasks: Sequence[Task], workers: int | None, backend: str) -> bool:
    """Whether no other process is needed."""
    return backend == LOCAL and (workers == 1 or len(tasks) <= 1)


@dataclass(frozen=True, slots=True)
class Failed:
    """A run that went wrong, in words that every process can read. `alone`: others need not."""

    why: str
    alone: bool = False


def work(task: Task, watch: Watch) -> Played | Failed | None:
    """What a worker does. Where what was given is wrong it stops the others through the watch: an error that is raised would
    have the backend kill them."""
    try:
        return _unless_stopped(task, watch)
    except RunError as error:
        return Failed(str(error), alone=True)
    except KumiError as error:
        if isinstance(watch, Slips):
            watch.stop()
        return Failed(str(error))


def _unless_stopped(task: Task, watch: Watch) -> Played | None:
    return None if watch.stopped() else play(task, watch)
