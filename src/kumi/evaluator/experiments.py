"""Experiments: policies x parameters x seeds, each a run of its own, on as many workers as there are.

    Experiment             what is compared with what; `tasks()` is every run
    run(tasks, ...)        plays all of them; the results in the order of the tasks

Order        policies as asked for, then parameters (the last one turns fastest), then seeds: so is summary.json.
Workers      joblib's, by the name of its backend (backends.py): processes on this machine unless another is named; elsewhere
             they are told whole paths. One worker here plays everything in this process, and joblib is not even imported.
Law          the results don't depend on how many workers there are, nor on the hash seed: a run sees its task and nothing else,
             and what it gives is put in order by its number.
Stopping     the watch says so: runs that go on are closed as they are, others are not begun (None).
Cost         a task is a kilobyte; what comes back is the run's history (220 bytes a one-pod job).
Not here     where runs go: backends.py; one run: play.py; its figures: summary.py; which difference is noise: compare.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from kumi.api.errors import KumiError
from kumi.evaluator.backends import LOCAL, ready
from kumi.evaluator.model import Policy
from kumi.evaluator.play import ENGINE, NO_LIMITS, Limits, Played, Task, play, policy_of
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
    """What can be told before anything is played: KumiError for a policy that is wrong, for two of one name (nobody could tell
    their results apart), and for a job to be explained that no run has."""
    named: dict[str, str] = {}
    for said in experiment.policies:
        name = policy_of(said, experiment.source).name
        words = said if isinstance(said, str) else name
        if name in named:
            raise KumiError(f"two policies are named {name} ({named[name]} and {words}): give one of them another name")
        named[name] = words
    if experiment.explain:
        _look_for(experiment)


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
    backend has. KumiError."""
    if in_this_process(tasks, workers, backend):
        return [_unless_stopped(task, watch) for task in tasks]
    from joblib import Parallel, delayed

    sent = tasks if backend == LOCAL else [task.anywhere() for task in tasks]
    with ready(backend, workers, len(tasks)) as at_once:
        found = Parallel(n_jobs=at_once, batch_size=1, pre_dispatch="all")(delayed(work)(task, watch) for task in sent)
    for one in found:
        if isinstance(one, Failed):
            raise KumiError(one.why)
    return list(found)


def in_this_process(tasks: Sequence[Task], workers: int | None, backend: str) -> bool:
    """Whether no other process is needed."""
    return backend == LOCAL and (workers == 1 or len(tasks) <= 1)


@dataclass(frozen=True, slots=True)
class Failed:
    """A run that went wrong, in words that every process can read."""

    why: str


def work(task: Task, watch: Watch) -> Played | Failed | None:
    """What a worker does. One that fails stops the others through the watch: an error that is raised would have the backend kill
    them."""
    try:
        return _unless_stopped(task, watch)
    except KumiError as error:
        if isinstance(watch, Slips):
            watch.stop()
        return Failed(str(error))


def _unless_stopped(task: Task, watch: Watch) -> Played | None:
    return None if watch.stopped() else play(task, watch)
