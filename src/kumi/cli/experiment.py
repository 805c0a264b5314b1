"""The options of `kumi evaluate`, and the experiment that they ask for.

What contradicts itself, or would be without effect, is refused before anything is read, with what to do instead: a run that is
not the one that was meant costs more than a second look at the options.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kumi.api.errors import KumiError
from kumi.evaluator import LARGEST_SEED, SEEDS_AT_MOST

if TYPE_CHECKING:
    from kumi.evaluator.experiments import Experiment
    from kumi.evaluator.external import External
    from kumi.evaluator.remote_write import Receiver
    from kumi.evaluator.sources import Parameters, Shape, Source, Stated, Value

F = TypeVar("F", bound=Callable[..., object])
CHECKPOINTS = ".checkpoints"
"""the folder in the results' own in which runs are saved"""
LOCAL = "loky"
"""the backend of this machine"""


class Span(click.ParamType[int]):
    """A length of time: 90s, 1h30m, 30d. Milliseconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """See click."""
        from kumi.jobs.due import length_ms

        if isinstance(value, int):
            return value
        found = length_ms(str(value))
        if found is None:
            self.fail(f"{value} is no length of time: write it like 90s, 1h30m or 30d", param, ctx)
        return found


class Seeds(click.ParamType[tuple[int, ...]]):
    """How many, or which: 10, 0-9, 1,5,7."""

    name = "seeds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """See click."""
        if isinstance(value, tuple):
            return value
        found: list[int] = []
        for part in str(value).split(","):
            first, dash, last = part.strip().partition("-")
            if not first.isdecimal() or (dash and not last.isdecimal()):
                self.fail(f"{value} names no seeds: write how many (10), or which (0-9, or 1,5,7)", param, ctx)
            alone = not dash and "," not in str(value)
            many = int(first) if alone else int(last or first) + 1 - int(first)
            if many > SEEDS_AT_MOST or max(int(first), int(last or 0)) > LARGEST_SEED:
                self.fail(f"at most {SEEDS_AT_MOST:,} seeds, up to {LARGEST_SEED}: {value} are more", param, ctx)
            found += range(int(first)) if alone else range(int(first), int(last or first) + 1)
        if not found:
            self.fail("there must be one seed at least", param, ctx)
        return tuple(dict.fromkeys(found))


class Varied(click.ParamType[tuple[str, tuple[str, ...]]]):
    """A parameter and its values: inflate=1.0,1.3."""

    name = "name=values"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, tuple[str, ...]]:
        """See click."""
        if isinstance(value, tuple):
            return value
        name, equals, values = str(value).partition("=")
        if not name or not equals or not all(values.split(",")):
            self.fail(f"{value} varies nothing: write it like inflate=1.0,1.3", param, ctx)
        return name.replace("-", "_"), tuple(values.split(","))


def _path(**more: Any) -> click.Path:
    return click.Path(path_type=Path, **more)


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("scenario", required=False, type=_path(dir_okay=False, exists=True)),
    click.option(
        "--policy",
        "-p",
        "policies",
        multiple=True,
        help="A built-in policy (fifo, priority, drf, fair, shortest, easy, best-fit ...), a policy or scheduler file, a quota "
        "tree, or a Python file with a plug-in. Again: compared with the others (default: Kumi's own).",
    ),
    click.option("--out", type=_path(file_okay=False), help="The folder for summary.json and jobs.parquet."),
    click.option("--format", "format_", help="Without a scenario: the format of the trace (openb, swf, kumi)."),
    click.option("--nodes", type=_path(dir_okay=False, exists=True), help="The trace's nodes."),
    click.option("--jobs", type=_path(dir_okay=False, exists=True), help="The trace's jobs."),
    click.option(
        "--runs-from",
        type=click.Choice(["creation", "scheduled"]),
        help="openb: how long a task runs: until its deletion "
        "from its creation (the default), or from when it was scheduled there.",
    ),
    click.option(
        "--format-option",
        "format_options",
        type=Varied(),
        multiple=True,
        metavar="NAME=WORD",
        help="How the format is read (swf: processors=pod, queues=log). Again: more.",
    ),
    click.option("--gpu-nodes", is_flag=True, help="Keep only nodes that have GPUs."),
    click.option("--scale-nodes", help="Keep a part of the nodes (1% or 0.01), or so many (15)."),
    click.option(
        "--resample", is_flag=True, help="At each arrival, any of the jobs by chance: another load like this one."
    ),
    click.option("--sample", type=click.IntRange(1), help="Draw so many of the jobs by chance."),
    click.option(
        "--inflate",
        type=float,
        help="Shuffle the jobs, and draw more until they ask for that part of the GPUs "
        "(1.3: 130 %); they come one by one.",
    ),
    click.option("--compress-time", type=float, help="Jobs come so many times as fast."),
    click.option("--no-departures", is_flag=True, help="Jobs never end."),
    click.option("--drop-waiting", is_flag=True, help="A job that doesn't start when it comes is gone."),
    click.option(
        "--sample-seed",
        type=click.IntRange(0, LARGEST_SEED),
        help="Draws --resample (which it is, alone), --sample and --inflate (default: the run's seed).",
    ),
    click.option(
        "--set",
        "given",
        type=Varied(),
        multiple=True,
        metavar="NAME=VALUE[,VALUE]...",
        help="A parameter of the scenario, or of the reshaping (inflate=1.0,1.3); with several values, each is run.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, LARGEST_SEED),
        multiple=True,
        help="The seed of the runs (default: 0). Again: one run each.",
    ),
    click.option("--seeds", type=Seeds(), help="How many seeds, from 0, or which: 10, 0-9, 1,5,7."),
    click.option(
        "--speed",
        type=click.Choice(["engine", "stack"]),
        help="engine: state and decisions only (the default); stack: API objects, controllers and simulated nodes.",
    ),
    click.option(
        "--external",
        metavar="COMMAND",
        help="Let a scheduler in another process place pods: how it is started, with {kubeconfig} for the file to connect with.",
    ),
    click.option(
        "--external-kubeconfig",
        type=_path(dir_okay=False),
        help="Write that file there; without --external COMMAND, wait for a scheduler that connects by itself.",
    ),
    click.option("--external-name", help="What pods name that scheduler (default: default-scheduler)."),
    click.option("--external-limit", type=Span(), help="How long it may take to settle, in real time (default: 10s)."),
    click.option("--max-virtual", type=Span(), help="Play so much virtual time at most (30d)."),
    click.option("--max-real", type=Span(), help="Play each run for so long at most (10m)."),
    click.option(
        "--jobs-in-parallel",
        "-j",
        "workers",
        type=click.IntRange(1),
        help="Runs at once (default: one a core, of the whole cluster where --backend names one).",
    ),
    click.option(
        "--backend",
        default=LOCAL,
        show_default=True,
        help="Where runs go: joblib's backend, by name (loky, ray, dask ...).",
    ),
    click.option("--resume", is_flag=True, help="Go on with what was interrupted in --out."),
    click.option("--report", is_flag=True, help="Write report.html."),
    click.option("--metrics", is_flag=True, help="Write metrics.prom."),
    click.option("--csv", is_flag=True, help="Write jobs.csv as well."),
    click.option("--remote-write", metavar="URL", help="Send the metrics there, by Prometheus' remote write."),
    click.option(
        "--remote-write-header",
        multiple=True,
        metavar="NAME:VALUE",
        help="A header for that, such as Authorization. Again: more.",
    ),
    click.option("--compare", is_flag=True, help="Say which policy is better at what, beyond the noise."),
    click.option("--explain", metavar="JOB", help="Show what was decided about that job (its key or name), and why."),
    click.option("--quiet", "-q", is_flag=True, help="Show no progress and no table."),
)


def options(function: F) -> F:
    """All of them; `asked` takes what they say."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


OF_TRACES = ("format_", "nodes", "jobs", "runs_from", "format_options")
NEED_OUT = ("resume", "report", "metrics", "csv")


@dataclass(frozen=True, slots=True)
class Asked:
    """The experiment, and what becomes of its results."""

    experiment: Experiment
    out: Path | None
    workers: int | None
    """runs at once; None: as many as there is room for"""
    backend: str
    report: bool
    metrics: bool
    csv: bool
    compare: bool
    quiet: bool
    receiver: Receiver | None
    """of remote write"""
    keep: Path | None
    """the folder in which runs are saved"""


def asked(said: Mapping[str, Any]) -> Asked:
    """What the options ask for. click.UsageError for options that don't go together, KumiError for files that are wrong."""
    _refuse(said)
    from kumi.evaluator.experiments import Experiment
    from kumi.evaluator.play import ENGINE, EXTERNAL, Limits

    source, policies, seeds = _played(said)
    real_ms = said["max_real"]
    out = said["out"]
    external = _external(said)
    speed = EXTERNAL if external is not None else said["speed"] or ENGINE
    keep = out / CHECKPOINTS if out is not None and speed == ENGINE else None
    experiment = Experiment(
        source=source,
        policies=policies,
        seeds=_seeds(said) or seeds,
        grid=tuple((name, tuple(_value(value) for value in values)) for name, values in said["given"]),
        limits=Limits(said["max_virtual"], None if real_ms is None else real_ms / 1000),
        speed=speed,
        external=external,
        explain=said["explain"] or "",
        keep=str(keep) if keep is not None else "",
        resume=said["resume"],
    )
    if said["compare"] and len(policies) < 2:
        raise click.UsageError("--compare compares policies, and there is one: name another (--policy)")
    return Asked(
        experiment,
        out,
        workers=said["workers"] or (os.cpu_count() if said["backend"] == LOCAL else None),
        backend=said["backend"],
        report=said["report"],
        metrics=said["metrics"],
        csv=said["csv"],
        compare=said["compare"],
        quiet=said["quiet"],
        receiver=_receiver(said),
        keep=keep,
    )


def _receiver(said: Mapping[str, Any]) -> Receiver | None:
    """Where the metrics go; None: nowhere. KumiError for an address that is none."""
    if said["remote_write"] is None:
        return None
    from kumi.evaluator.remote_write import Receiver

    parted = [line.partition(":") for line in said["remote_write_header"]]
    return Receiver(said["remote_write"], {name.strip(): value.strip() for name, _, value in parted})


def _refuse(said: Mapping[str, Any]) -> None:
    """What doesn't go together. click.UsageError."""
    _refuse_source(said)
    if said["seed"] and said["seeds"]:
        raise click.UsageError("--seed and --seeds both say which seeds: leave out one of them")
    if said["remote_write_header"] and said["remote_write"] is None:
        raise click.UsageError("--remote-write-header says nothing without --remote-write URL")
    if any(":" not in line for line in said["remote_write_header"]):
        raise click.UsageError("--remote-write-header is written NAME:VALUE")
    wanting = [name for name in NEED_OUT if said[name]]
    if wanting and said["out"] is None:
        raise click.UsageError(f"{_words(wanting)} needs a folder: --out DIR")
    _refuse_speed(said)
    names = [name for name, _ in said["given"]]
    if twice := [name for name in names if names.count(name) > 1]:
        raise click.UsageError(f"--set {twice[0]} is there twice: write all its values after one ({twice[0]}=1,2)")
    if both := [name for name in names if said.get(name)]:
        raise click.UsageError(f"{_words(both)} and --set {both[0]} both say it: leave out one of them")


def _refuse_speed(said: Mapping[str, Any]) -> None:
    """What doesn't go with what is slower than the engine."""
    external = said["external"] is not None or said["external_kubeconfig"] is not None
    if external and said["speed"] is not None:
        raise click.UsageError("a scheduler in another process has a speed of its own: leave out --speed")
    if said["speed"] == "stack" and said["resume"]:
        raise click.UsageError("runs at stack speed are not saved: leave out --resume, or --speed stack")
    if external and said["resume"]:
        raise click.UsageError("runs with a scheduler in another process are not saved: leave out --resume")
    if external and said["backend"] != LOCAL:
        raise click.UsageError("a scheduler is started on this machine: leave out --backend")
    alone = [name for name in ("external_name", "external_limit") if said[name] is not None]
    if alone and not external:
        raise click.UsageError(
            f"{_words(alone)} says nothing without --external COMMAND, or --external-kubeconfig FILE"
        )


def _external(said: Mapping[str, Any]) -> External | None:
    """The scheduler in another process; None: Kumi's own decides."""
    if said["external"] is None and said["external_kubeconfig"] is None:
        return None
    from kumi.evaluator.external import External

    found = External(command=said["external"] or "", kubeconfig=str(said["external_kubeconfig"] or ""))
    if said["external_name"] is not None:
        found = replace(found, name=said["external_name"])
    if said["external_limit"] is not None:
        found = replace(found, limit_s=said["external_limit"] / 1000)
    return found


def _refuse_source(said: Mapping[str, Any]) -> None:
    """What is played must be said once."""
    here = [name for name in OF_TRACES if said[name]]
    if said["scenario"] is not None:
        if here:
            raise click.UsageError(f"the scenario says what is played: leave out {_words(here)}, or SCENARIO.yaml")
        return
    if not here:
        raise click.UsageError(
            "what is to be played? Name a SCENARIO.yaml, or a trace: --format openb --nodes FILE --jobs FILE"
        )
    if said["format_"] is None:
        raise click.UsageError(f"{_words(here)} says nothing without --format: openb, swf or kumi")
    if said["jobs"] is None:
        raise click.UsageError(f"--format {said['format_']} needs the trace's jobs: --jobs FILE")


def _words(names: list[str]) -> str:
    """Options as they are written."""
    return ", ".join(
        f"--{name.removesuffix('s' if name == 'format_options' else '_').replace('_', '-')}" for name in names
    )


def _played(said: Mapping[str, Any]) -> tuple[Source, tuple[str | Stated, ...], tuple[int, ...]]:
    """What is played, by which policies, with which seeds where nobody says."""
    from kumi.evaluator.play import DEFAULT
    from kumi.evaluator.sources import ScenarioFile, Trace

    policies = tuple(dict.fromkeys(said["policies"]))
    shape, chance = _shape(said), said["sample_seed"]
    if said["scenario"] is not None:
        scenario = ScenarioFile(str(said["scenario"]), shape=shape, sample_seed=chance)
        stands = scenario.with_parameters(_constant(said))
        own = (
            stands.policies if _external(said) is None else ()
        )  # which are Kumi's way to place pods, and another's counts
        return scenario, policies or own or (DEFAULT,), stands.scenario.seeds
    given = tuple((name, ",".join(words)) for name, words in said["format_options"])
    if said["runs_from"] is not None:
        given = (*given, ("runs_from", said["runs_from"]))
    nodes = str(said["nodes"]) if said["nodes"] is not None else ""
    trace = Trace(said["format_"], str(said["jobs"]), nodes, given, shape, chance)
    return trace, policies or (DEFAULT,), (0 if chance is None else chance,)


def _constant(said: Mapping[str, Any]) -> Parameters:
    """Parameters that have one value in all runs."""
    return tuple((name, _value(values[0])) for name, values in said["given"] if len(values) == 1)


def _shape(said: Mapping[str, Any]) -> Shape:
    from kumi.evaluator import reshape
    from kumi.evaluator.sources import Shape

    scale = said["scale_nodes"]
    try:
        nodes = None if scale is None else reshape.part(scale)
    except KumiError as error:
        raise click.BadParameter(str(error), param_hint="--scale-nodes") from error
    names = ("gpu_nodes", "resample", "sample", "inflate", "compress_time", "no_departures", "drop_waiting")
    shape = Shape(scale_nodes=nodes, **{name: said[name] for name in names})
    alone = said["sample_seed"] is not None and not shape.by_chance and not said["given"]
    return replace(shape, resample=True) if alone else shape


def _seeds(said: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(said["seed"])) or said["seeds"] or ()


def _value(text: str) -> Value:
    """A number, true or false, or the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text == "true" if text in ("true", "false") else text
