"""Admission at scale: whole loads in virtual time, and what one cycle costs with much admitted. In process, on one core.

usage: admission.py [load | large | cycle | line | memory]...      all of them by default

load     5 cohorts of 6 queues, 15,000 workloads of three sizes. Quota alone needs 66 virtual seconds.
large    10 cohorts of 100 queues, 50,000 workloads.
cycle    the heads of 30 queues in 5 cohorts with 1,000, 10,000 and 100,000 workloads admitted: all fit; nothing fits; each must
         preempt within its queue; each must reclaim from its cohort.
line     an admission with 100 and with 100,000 workloads pending in its queue.
memory   what a pending and an admitted workload take.

Records are on. Every load asserts that all were admitted and that no limit was passed at any moment. Evicted workloads stop at
once, stand in line again and run anew from the start.
"""

from __future__ import annotations

import gc
import heapq
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from kumi.engine.admission import cycle
from kumi.engine.decisions import Admit, Decision, Evict
from kumi.engine.model import (
    Admission,
    ClusterQueue,
    Evictable,
    Flavor,
    FlavorQuotas,
    LocalQueue,
    PodSet,
    PodSetAssigned,
    PodShape,
    Preemption,
    Profile,
    Put,
    Quota,
    Remove,
    ResourceGroup,
    Workload,
)
from kumi.engine.state import State

UNIT = 1000
FR = ("default", "cpu")


@dataclass(frozen=True)
class Size:
    """A class of workloads: how many a queue gets, one every so often; what each asks for and how long it runs."""

    name: str
    number: int
    units: int
    priority: int
    runs_ms: int
    every_ms: int


LOAD = (
    Size("small", 350, 1, 50, 200, 100),
    Size("medium", 100, 5, 100, 500, 500),
    Size("large", 50, 20, 200, 1000, 1200),
)
LARGE = (
    Size("small", 35, 1, 50, 150, 60),
    Size("medium", 11, 5, 100, 350, 300),
    Size("large", 4, 20, 200, 700, 700),
)
POLICY = Preemption(within=Evictable.LOWER_PRIORITY, reclaim=Evictable.ANY)


def setup(cohorts: int, queues: int, nominal: int = 20, borrowing: int = 100, policy: Preemption = POLICY) -> State:
    """A state with so many cohorts of so many queues, each with a door of its name."""
    state = State(Profile(places=False))
    state.apply(Put(Flavor("default")))
    quota = Quota(UNIT * nominal, UNIT * borrowing)
    for cohort in range(cohorts):
        for queue in range(queues):
            name = f"cohort-{cohort}-queue-{queue}"
            groups = (ResourceGroup(("cpu",), (FlavorQuotas("default", (("cpu", quota),)),)),)
            state.apply(Put(ClusterQueue(name, groups, cohort=f"cohort-{cohort}", preemption=policy)))
            state.apply(Put(LocalQueue(f"ns/{name}", name)))
    return state


SHAPES: dict[int, PodShape] = {}


def workload(key: str, queue: str, units: int, priority: int, created_ms: int) -> Workload:
    """One pod of so many units."""
    shape = SHAPES.setdefault(units, PodShape((("cpu", UNIT * units),)))
    pods = (PodSet("main", 1, shape),)
    return Workload(key, key, "ns", f"ns/{queue}", priority, created_ms, pods, job=f"Job {key}")


def admission(queue: str, units: int) -> Admission:
    """What such a workload gets."""
    return Admission(queue, (PodSetAssigned("main", 1, (("cpu", "default"),), (("cpu", UNIT * units),)),))


@dataclass
class Run:
    """A load in virtual time."""

    state: State
    sizes: tuple[Size, ...]
    events: list[tuple[int, int, str, Workload]] = field(default_factory=list)
    admitted: Counter[str] = field(default_factory=Counter)
    waited_ms: Counter[str] = field(default_factory=Counter)
    size_of: dict[str, Size] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)
    """workload -> the event that is its end"""
    preempted: int = 0
    decisions: int = 0
    now_ms: int = 0

    def __post_init__(self) -> None:
        self.number = count()

    def load(self) -> None:
        """Every workload of every queue, at its time."""
        for queue in self.state.catalog.cluster_queues:
            for size in self.sizes:
                for n in range(size.number):
                    at_ms = (n + 1) * size.every_ms
                    one = workload(f"ns/{queue}-{size.name}-{n}", queue, size.units, size.priority, at_ms)
                    self.size_of[one.key] = size
                    self.push(at_ms, "comes", one)

    def push(self, at_ms: int, what: str, one: Workload) -> int:
        """An event to come."""
        number = next(self.number)
        heapq.heappush(self.events, (at_ms, number, what, one))
        return number

    def run(self) -> None:
        """All events, in their order; those of one time before anything is decided."""
        while self.events:
            self.now_ms = self.events[0][0]
            while self.events and self.events[0][0] == self.now_ms:
                _, number, what, one = heapq.heappop(self.events)
                if what == "comes":
                    self.state.apply(Put(one))
                elif self.ends.get(one.key) == number:
                    del self.ends[one.key]
                    self.state.apply(Remove(Workload, one.key))
            while decided := cycle.decide(self.state, self.now_ms):
                self.decisions += len(decided)
                for decision in decided:
                    self.write(decision)
                self.check()

    def write(self, decision: Decision) -> None:
        """The decision is acknowledged, and its object seen."""
        self.state.settle(decision, True)
        if isinstance(decision, Admit):
            one = replace(
                self.state.workloads[decision.workload], admission=decision.admission, reserved_ms=self.now_ms
            )
            self.state.apply(Put(one))
            size = self.size_of[one.key]
            self.admitted[one.key] += 1
            self.waited_ms[size.name] += self.now_ms - one.created_ms if self.admitted[one.key] == 1 else 0
            self.ends[one.key] = self.push(self.now_ms + size.runs_ms, "ends", one)
        elif isinstance(decision, Evict):
            one = self.state.workloads[decision.workload]
            self.preempted += 1
            del self.ends[one.key]
            self.state.apply(Put(replace(one, admission=None, reserved_ms=0)))

    def check(self) -> None:
        """No limit is passed."""
        quotas = self.state.quotas
        for node, table in quotas.usage.items():
            for fr, used in table.items():
                most = quotas.most(node, fr)
                assert most is None or used <= most, f"{node} uses {used}, {most} at most"


def run_load(name: str, cohorts: int, queues: int, sizes: tuple[Size, ...], cpu_s: float, ratio: float) -> None:
    """One load; prints what came of it."""
    run = Run(setup(cohorts, queues), sizes)
    run.load()
    total = len(run.size_of)
    began = time.process_time()
    run.run()
    took = time.process_time() - began
    assert len(run.admitted) == total, f"{len(run.admitted)} of {total} were admitted"
    assert not run.state.workloads
    needs_ms = sum(s.number * s.units * s.runs_ms for s in sizes) / 20
    print(
        f"{name}: {total} workloads, {run.now_ms / 1000:.1f} virtual s ({run.now_ms / needs_ms:.2f} of what quota needs,"
    )
    print(
        f"  at most {ratio}), {took:.1f} s of CPU (at most {cpu_s}), {run.preempted} preemptions, {run.decisions} decisions"
    )
    for size in sizes:
        mean = run.waited_ms[size.name] / (size.number * cohorts * queues)
        print(f"  {size.name}: waits {mean / 1000:.2f} s on average")


def admit_many(state: State, number: int, priority: int, units: int = 1) -> None:
    """So many workloads that hold quota, spread over all queues."""
    names = sorted(state.catalog.cluster_queues)
    for n in range(number):
        queue = names[n % len(names)]
        one = workload(f"ns/held-{n}", queue, units, priority, n)
        state.apply(Put(replace(one, admission=admission(queue, units), reserved_ms=1 + n)))


def heads(state: State, units: int, priority: int) -> list[Workload]:
    """A workload for every queue."""
    names = sorted(state.catalog.cluster_queues)
    return [workload(f"ns/head-{n}", queue, units, priority, 10**6) for n, queue in enumerate(names)]


def timed(state: State, jobs: list[Workload]) -> tuple[float, Counter[str]]:
    """How long one decision takes for these once all else is at rest, and what it came to."""
    cycle.decide(state, 0)
    for one in jobs:
        state.apply(Put(one))
    gc.collect()
    began = time.process_time()
    decided = cycle.decide(state, 10**6)
    took = time.process_time() - began
    return took, Counter(type(d).__name__ for d in decided)


def run_cycle() -> None:
    """One cycle with ever more admitted."""
    for admitted in (1_000, 10_000, 100_000):
        share = -(-admitted // 30)
        cases: dict[str, Callable[[], tuple[State, list[Workload]]]] = {
            "all fit": lambda share=share: _filled(share, 20, 50, 1),
            "nothing fits": lambda share=share: _filled(share, 0, 200, 2),
            "preempt": lambda share=share: _filled(share, 0, 50, 2),
            "reclaim": lambda share=share: _lopsided(share),
        }
        for name, make in cases.items():
            state, jobs = make()
            took, kinds = timed(state, jobs)
            print(f"cycle: {name:12} {admitted:7} admitted: {1000 * took:8.1f} ms  {dict(kinds)}")


def _filled(share: int, spare: int, priority: int, units: int) -> tuple[State, list[Workload]]:
    """Every queue uses its share and has so much to spare; the heads of all."""
    state = setup(5, 6, share + spare)
    admit_many(state, 30 * share, priority)
    return state, heads(state, units, 100)


def _lopsided(share: int) -> tuple[State, list[Workload]]:
    """Half of each cohort's queues use everything; the heads of the others take back what is theirs."""
    state = setup(5, 6, share, borrowing=10**6)
    names = [name for name in sorted(state.catalog.cluster_queues) if int(name[-1]) % 2]
    for n in range(30 * share):
        queue = names[n % len(names)]
        one = workload(f"ns/held-{n}", queue, 1, 50, n)
        state.apply(Put(replace(one, admission=admission(queue, 1), reserved_ms=1 + n)))
    return state, [one for one in heads(state, 2, 40) if one.queue.removeprefix("ns/") not in names]


def run_line() -> None:
    """An admission with few and with many behind it."""
    for pending in (100, 100_000):
        state = setup(1, 1, 20)
        for n in range(pending):
            state.apply(Put(workload(f"ns/w-{n}", "cohort-0-queue-0", 20, n % 7, n)))
        write_all(state, cycle.decide(state, 0))
        spent = 0.0
        for _ in range(100):
            held = next(iter(state.holdings.admission))
            began = time.process_time()
            state.apply(Remove(Workload, held))
            write_all(state, cycle.decide(state, 0))
            spent += time.process_time() - began
            state.apply(Put(workload(f"{held}-again", "cohort-0-queue-0", 20, 3, 10**7)))
            cycle.decide(state, 0)
        print(f"line: {pending:7} pending: {10 * spent:.3f} ms an admission")


def write_all(state: State, decided: list[Decision]) -> None:
    """Every decision is acknowledged, and seen."""
    for decision in decided:
        state.settle(decision, True)
        if isinstance(decision, Admit):
            state.apply(Put(replace(state.workloads[decision.workload], admission=decision.admission)))


def run_memory() -> None:
    """Resident memory a workload."""
    number = 100_000
    before = _resident()
    state = setup(5, 6, 10**6)
    admit_many(state, number, 50)
    held = _resident()
    for n in range(number):
        state.apply(Put(workload(f"ns/w-{n}", f"cohort-{n % 5}-queue-{n % 6}", 10**9, 50, n)))
    cycle.decide(state, 0)
    waiting = _resident()
    print(
        f"memory: {(held - before) / number / 1024:.1f} KiB a workload admitted, {(waiting - held) / number / 1024:.1f} pending"
    )


def _resident() -> int:
    """Bytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


PARTS: dict[str, Callable[[], None]] = {
    "load": lambda: run_load("load", 5, 6, LOAD, 15, 1.3),
    "large": lambda: run_load("large", 10, 100, LARGE, 60, 1.3),
    "cycle": run_cycle,
    "line": run_line,
    "memory": run_memory,
}


def main(arguments: list[str]) -> int:
    """0: every part ran; 2: one is not known."""
    unknown = [a for a in arguments if a not in PARTS]
    if unknown:
        print(__doc__, file=sys.stderr)
        return 2
    if len(arguments) == 1:
        PARTS[arguments[0]]()
        return 0
    for name in arguments or list(PARTS):  # each in a process of its own: memory that was freed is not given back
        subprocess.run([sys.executable, __file__, name], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
