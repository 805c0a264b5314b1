"""The time machine: what a policy would do to a load of jobs, decided by the engine that runs production, on a virtual clock.

From Python, in a notebook or a script:

    from kumi.evaluator import evaluate, trace

    load = trace("openb", "tasks.csv", "nodes.csv", scale_nodes=0.01)
    fifo, easy = evaluate(load, ["fifo", "easy"])
    easy.summary["wait_s"]["mean"], easy.jobs["wait_ms"], easy.report("both.html", fifo)

Where what is:
    model                                    what a run is given (Load, Policy) and who hears of it (Observer)
    traces, scenarios, generators, reshape   where loads come from; sources: the same as paths and numbers
    policies, manifests                      what decides, by name or from a file
    engine, heap, life, laws, budget,
    saving, why                              a run at engine speed
    stack, world, loops, feed, books, external         a run at stack speed, and schedulers in other processes
    history, metrics, groups, shares, fragmentation,
    summary, tables, result, report,
    prometheus, remote_write                 what a run gives
    play, experiments, paired, backends, watch,
    outputs, compare, student, explain       many runs
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kumi.evaluator.model import Load, Policy
    from kumi.evaluator.play import Played
    from kumi.evaluator.sources import Source, Trace

__all__ = ["LARGEST_SEED", "SEEDS_AT_MOST", "evaluate", "trace"]

SEEDS_AT_MOST = 100_000
"""of one experiment"""
LARGEST_SEED = 2**63 - 1
"""what a column of jobs.parquet has room for"""


def trace(format: str, jobs: str | Path, nodes: str | Path = "", sample_seed: int | None = None, **how: Any) -> Trace:
    """Files of a format (`kumi evaluate --format`), for `evaluate`. `how`: fields of sources.Shape (scale_nodes, inflate ...),
    and options of the format (runs_from). KumiError for one that there isn't."""
    from kumi.evaluator.sources import PARAMETERS, Shape, Trace

    shape = Shape().with_parameters(tuple((name, value) for name, value in how.items() if name in PARAMETERS))
    options = tuple((name, str(value)) for name, value in how.items() if name not in PARAMETERS)
    return Trace(format, str(jobs), str(nodes), options, shape, sample_seed)


def evaluate(
    load: Load | Source | str | Path,
    policies: str | Path | Policy | Sequence[str | Path | Policy] = (),
    seeds: Sequence[int] = (),
    workers: int | None = None,
    backend: str = "loky",
    **more: Any,
) -> list[Played]:
    """Plays the load through each policy with each seed, and gives a Result (result.py) each, in that order.

    `load`: a scenario's file, a trace, or a Load. `policies`: names of built-in ones, files, or Policy objects, or one of these;
    none: the scenario's own, else Kumi's default. `seeds`: none: the scenario's own, else 0. `workers`: runs at once, by that
    joblib backend; none: one in this process, or all that a cluster has. `more`: fields of experiments.Experiment (grid, limits,
    speed, explain, keep, resume, external). KumiError for what is wrong with any of it;
    failures.SomeFailed, with what the others gave, where runs broke down."""
    from kumi.evaluator.backends import LOCAL
    from kumi.evaluator.experiments import Experiment, check, run
    from kumi.evaluator.model import Load, Policy
    from kumi.evaluator.sources import Given, ScenarioFile
    from kumi.evaluator.watch import Silent

    source: Any = (
        ScenarioFile(str(load)) if isinstance(load, str | Path) else Given(load) if isinstance(load, Load) else load
    )
    own = source if isinstance(source, ScenarioFile) else None
    listed = (policies,) if isinstance(policies, str | Path | Policy) else policies
    named = tuple(str(one) if isinstance(one, Path) else one for one in listed)
    experiment = Experiment(
        source,
        named or (own.policies if own is not None else ()) or ("default",),
        tuple(seeds) or (own.scenario.seeds if own is not None else (0,)),
        **more,
    )
    check(experiment)
    at_once = 1 if workers is None and backend == LOCAL else workers
    return [one for one in run(experiment.tasks(), Silent(), at_once, backend) if one is not None]
