"""The time machine at speed: whole commands from start to their files, and what an event costs in long runs.

usage: evaluator.py [recorded | packing | million | report]... [--traces DIR] [--jobs N]     all of them by default

recorded  the openb trace as it was recorded (8,152 tasks, 1,523 nodes), one policy: the whole command, from its start to
          summary.json and jobs.parquet; beside it what an interpreter takes that only imports the same modules.
packing   the packing story at scale: the tasks shuffled and topped up to 130 % of the GPUs of the nodes that have any, no
          departures, with best fit and with fragmentation gradient descent: whole commands.
million   1,000,000 one-pod jobs of 50 shapes on 5,000 nodes at 85 % load, in process, with the history that summaries are made
          of; before it 10,000 and 100,000 of the same load, since the cost of an event has to be flat. Each in a process of
          its own, with its peak memory; the laws are checked all the while.
report    the trace as recorded with three policies and --report: the whole command, and how large the page is.

The trace is public data that isn't part of this repository: DIR has the two openb_*.csv files. Without --traces it is looked
for in `shared/traces` beside the checkout; where it is missing, the parts that need it say that they were not run. Seconds are of
wall time, the least and the median of three; CPU seconds stand beside them, which other work on the machine changes less.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

KUMI = Path(sys.executable).with_name("kumi")
BESIDE = Path(__file__).resolve().parent.parent.parent / "shared" / "traces"
NODES, TASKS = "openb_node_list_all_node.csv", "openb_pod_list_default.csv"
IMPORTS = "kumi.cli.main, kumi.cli.evaluate, kumi.evaluator.experiments, kumi.evaluator.engine, kumi.evaluator.outputs"
LIBRARIES = "numpy, pyarrow.parquet, rich.table"
ROUNDS = 3
SIZES = (10_000, 100_000, 1_000_000)


def timed(command: Sequence[str | Path]) -> tuple[float, float]:
    """(seconds of wall time, of CPU) of a command."""
    # as an installed one, which doesn't compile itself anew each time
    keeps = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=keeps)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(name: str, command: Sequence[str | Path], goal: str = "") -> None:
    """Runs the command a few times, and prints what it took."""
    walls, cpus = zip(*(timed(command) for _ in range(ROUNDS)), strict=True)
    wall = f"{min(walls):6.2f} {statistics.median(walls):6.2f} s, CPU {min(cpus):5.2f} s"
    print(f"  {name:<58} {wall}{f' ({goal})' if goal else ''}", flush=True)


def evaluate(traces: Path, out: str | Path, *options: str) -> list[str | Path]:
    """The command on the openb trace."""
    files = ["--nodes", traces / NODES, "--jobs", traces / TASKS]
    return [KUMI, "evaluate", "--format", "openb", *files, "--out", out, *options]


def run_recorded(traces: Path) -> None:
    """See the module."""
    print("recorded: least, median")
    with tempfile.TemporaryDirectory(prefix="kumi-bench-") as out:
        show("the whole command, binpack", evaluate(traces, out, "--policy", "binpack"), "2 s")
        summary = json.loads((Path(out) / "summary.json").read_text())[0]
    show("an interpreter that imports the same modules", [sys.executable, "-c", f"import {IMPORTS}, {LIBRARIES}"])
    print(f"  {summary['finished']} of {summary['jobs']} jobs finished; the run itself {summary['run_s']:.2f} s")


def run_packing(traces: Path) -> None:
    """See the module."""
    print("packing: least, median")
    reshaped = ("--gpu-nodes", "--inflate", "1.3", "--no-departures", "--drop-waiting")
    for policy, goal in (("best-fit", "3 s"), ("fragmentation", "10 s")):
        with tempfile.TemporaryDirectory(prefix="kumi-bench-") as out:
            show(policy, evaluate(traces, out, "--policy", policy, *reshaped), goal)
            summary = json.loads((Path(out) / "summary.json").read_text())[0]
        peak = summary["allocation_percent"]["nvidia.com/gpu"]["peak"]
        print(f"  {summary['jobs']} tasks came, {peak:.1f} % of the GPUs were taken at the end")


def run_report(traces: Path) -> None:
    """See the module."""
    print("report: least, median")
    policies = [word for policy in ("fifo", "best-fit", "spread") for word in ("--policy", policy)]
    with tempfile.TemporaryDirectory(prefix="kumi-bench-") as out:
        show("three policies and the report", evaluate(traces, out, *policies, "--report"), "10 s")
        print(f"  report.html has {(Path(out) / 'report.html').stat().st_size / 1e6:.2f} MB (5)")


def play(jobs: int) -> None:
    """One run of so many jobs, in this process; prints what it took."""
    from kumi.engine.model import Node, PodShape
    from kumi.evaluator.engine import Run
    from kumi.evaluator.generators import Generated, Kind, Plan, Poisson, per_hour
    from kumi.evaluator.history import History
    from kumi.evaluator.model import Load, Role
    from kumi.evaluator.policies import policy
    from kumi.evaluator.spreads import Exponential

    has = (("cpu", 64_000), ("memory", 512 * 2**30), ("nvidia.com/gpu", 8_000), ("pods", 256_000))
    nodes = [Node(f"n{n:05}", (("kubernetes.io/hostname", f"n{n:05}"),), has) for n in range(5_000)]
    shapes = [
        PodShape(
            (("cpu", 1_000 * (4 + n % 25)), ("memory", 2**30 * (8 + 3 * n)), ("nvidia.com/gpu", 1_000 * (1 + n % 4)))
        )
        for n in range(50)
    ]
    kinds = tuple(Kind(f"k{n}", (Role("main", 1, s),), Exponential(3_600_000.0)) for n, s in enumerate(shapes))
    plan = Plan(Poisson(per_hour(kinds, 0.85, nodes)), kinds, jobs=jobs)
    load = Load("synthetic", tuple(nodes), Generated(plan, 1).events, size=jobs)
    run = Run(load, policy("binpack"), 1, [History()])
    begin, cpu, late, more = time.perf_counter(), time.process_time(), 0.0, True
    while more:
        if not late and run.played >= jobs:
            late, since = time.process_time(), run.played
        more = run.advance(1_000)
    wall, end = time.perf_counter() - begin, time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    each, then = 1e6 * (end - cpu) / run.played, 1e6 * (end - late) / (run.played - since)
    print(
        f"  {jobs:>9,} jobs, {run.played:>9,} events: {wall:6.1f} s, CPU {end - cpu:6.1f} s; of CPU an event {each:4.0f} us, "
        f"in the second half {then:4.0f}; {memory:.2f} GB at most",
        flush=True,
    )


def run_million(sizes: Sequence[int]) -> None:
    """See the module."""
    print("million: 50 shapes, 5,000 nodes, 85 % load (5 min, 2 GB; flat)")
    for jobs in sizes:
        subprocess.run([sys.executable, __file__, "--play", str(jobs)], check=True)


def main() -> int:
    """0: every part that could be run ran."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--traces", type=Path, default=BESIDE)
    parser.add_argument("--jobs", type=int, default=SIZES[-1], help="no runs of `million` that are longer than this")
    parser.add_argument("--play", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.play:
        play(arguments.play)
        return 0
    parts = {"recorded": run_recorded, "packing": run_packing, "report": run_report}
    for name in arguments.names:
        if name != "million" and name not in parts:
            parser.error(f"{name}: not one of {', '.join(parts)}, million")
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load before the run {os.getloadavg()[0]:.1f}")
    for name in arguments.names or ("recorded", "packing", "million", "report"):
        if name == "million":
            run_million([size for size in SIZES if size <= arguments.jobs])
        elif (arguments.traces / TASKS).exists():
            parts[name](arguments.traces)
        else:
            print(f"{name}: not run: the openb trace is not in {arguments.traces.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
