"""Placement at scale: sessions of gangs on thousands of nodes, and what they cost. In process, on one core.

usage: placement.py [gangs | one | many | near | preempt | idle]...      all of them by default

gangs     100,000 pods in gangs of 8 to 64 equal ones, of 500 shapes, onto 5,000 nodes x 8 resources of 8 models, which end 90 %
          full; 30 % have a node selector, an affinity to nodes or a toleration. Every predicate and score is on.
one       a gang of 10,000 pods on 1,000 nodes.
many      10,000 gangs of one pod on 1,000 nodes.
near      pods that must be apart from each other, near others, or spread over zones, on 5,000 nodes.
preempt   20,000 pods run on 1,000 full nodes; cycle by cycle one comes that matters more, in a gang and on its own.
idle      a session with 100,000 running pods in which nothing is to be done: nobody waits, or a gang for
          which nobody has to go.

What is timed is the whole of a session as the control plane runs it: decided, recorded, and assumed in the state. Each result is
checked: the invariants hold, and of `gangs` a sample is decided again by the plain rule (one pod after the other, one node after
the other, no arrays), which must choose the same nodes; that rule's time is what the ratio is of.
"""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from kumi.engine import invariants
from kumi.engine.decisions import Bind, Decision, EvictPod, GangPhase
from kumi.engine.gangs import Member, Phase, PodGroup, PriorityClass, Queue
from kumi.engine.model import (
    Neighbours,
    Node,
    Pod,
    PodShape,
    PodTerm,
    Profile,
    Put,
    Remove,
    Requirement,
    SpreadTerm,
    Taint,
    Toleration,
)
from kumi.engine.placement import conf, session
from kumi.engine.selectors import affinity_holds, untolerated
from kumi.engine.state import State

CORE = 1000
GIB = 2**30
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
DEDICATED = Taint("dedicated", "training", "NoSchedule")
ADVICE = Taint("old", "", "PreferNoSchedule")
QUEUES = tuple(f"team-{n}" for n in range(8))
MODELS = tuple((cores, gpus) for cores in (32, 64, 96, 128) for gpus in (4, 8))
"""cores, GPUs"""
ALL_ON = replace(conf.VOLCANO, actions=("allocate", "backfill"))
"""every predicate, and every score but the one that is the opposite of another"""


# the cluster


def nodes_of(number: int, cores: int | None = None, per_core: float = CORE) -> list[Node]:
    """So many nodes of 8 models, or of this many cores; `per_core`: thousandths of a core that each core has."""
    made = []
    for n in range(number):
        model = n % len(MODELS)
        has, gpus = MODELS[model] if cores is None else (cores, 0)
        cpu = int(has * per_core)
        amounts = {
            "cpu": cpu,
            "memory": has * 8 * GIB,
            "pods": 256 * 1000,
            "ephemeral-storage": 4096 * GIB,
            "hugepages-2Mi": 64 * GIB,
            "nvidia.com/gpu": gpus * 8 * 1000,
            "rdma/hca": 64 * 1000,
            "example.com/fpga": 64 * 1000,
        }
        labels = ((HOST, f"n{n:05}"), ("model", f"m{model}"), ("rack", f"r{n // 40}"), (ZONE, f"z{n // 8 % 4}"))
        taints = (DEDICATED,) if cores is None and model == 0 else (ADVICE,) if cores is None and model == 2 else ()
        made.append(Node(f"n{n:05}", labels, tuple(sorted(amounts.items())), taints))
    return made


def shapes(number: int, picks: random.Random) -> list[PodShape]:
    """So many different ones; of ten three look at what nodes are."""
    made: dict[PodShape, None] = {}
    while len(made) < number:
        cores = picks.choice((1, 2, 3, 4, 6, 8))
        amounts = {"cpu": cores * CORE, "memory": cores * picks.randint(2, 6) * GIB}
        if picks.random() < 0.3:
            amounts["ephemeral-storage"] = picks.randint(1, 40) * GIB
        if picks.random() < 0.2:
            amounts["rdma/hca"] = 1000
        gpu = picks.random() < 0.2
        if gpu:
            amounts["nvidia.com/gpu"] = 1000
        one = PodShape(tuple(sorted(amounts.items())))
        wish = picks.random()
        if wish < 0.1:
            one = replace(one, node_selector=((ZONE, f"z{picks.randrange(4)}"),))
        elif wish < 0.2:
            allowed = tuple(sorted(picks.sample([f"m{n}" for n in range(1, 8)], 4)))
            one = replace(one, affinity=((Requirement("model", "In", allowed),),))
            one = replace(one, preferred=((10, (Requirement(ZONE, "In", ("z1",)),)),))
        elif wish < 0.3:
            one = replace(one, tolerations=(Toleration("dedicated", "Equal", "training", "NoSchedule"),))
        made[one] = None
    return list(made)


def gang(key: str, size: int, shape: PodShape, queue: str, created_ms: int, **fields: object) -> list[PodGroup | Pod]:
    """A gang that has been let in, and its pods."""
    made: list[PodGroup | Pod] = [
        PodGroup(f"ns/{key}", queue, created_ms, uid=key, least=size, phase=Phase.INQUEUE, resources=None)
    ]
    for n in range(size):
        uid = f"{key}-worker-{n}"
        made.append(Pod(uid, f"ns/{uid}", shape, created_ms, member=Member(f"ns/{key}", "worker"), **fields))  # type: ignore[arg-type]
    return made


def state_of(nouns: Iterable[object], profile: Profile) -> State:
    """A state that knows all of these."""
    state = State(profile)
    for noun in nouns:
        state.apply(Put(noun))  # type: ignore[arg-type]
    gc.collect()
    return state


def profile(name: str = "volcano", said: conf.Conf = ALL_ON) -> Profile:
    """One with this scheduler's file."""
    return replace(Profile(name=name), conf=said)


def timed(state: State, now_ms: int = 0) -> tuple[list[Decision], float]:
    """What one session decides, and the CPU time that it took, seconds."""
    began = time.process_time()
    decided = session.decide(state, now_ms)
    return decided, time.process_time() - began


def told(state: State, decided: Iterable[Decision], at: str = "Running") -> None:
    """The decisions are acknowledged and seen: pods run where they were bound, evicted ones are gone."""
    for decision in decided:
        state.settle(decision, ok=True)
        if isinstance(decision, Bind):
            state.apply(Put(replace(state.pods.by_uid[decision.pod], node=decision.node, phase=at)))
        elif isinstance(decision, EvictPod):
            state.apply(Remove(Pod, decision.pod))
        elif isinstance(decision, GangPhase) and (job := state.tasks.jobs.get(decision.group)) and job.group:
            state.apply(Put(replace(job.group, phase=decision.phase)))


def binds(decided: Iterable[Decision]) -> list[Bind]:
    """Those of the decisions."""
    return [d for d in decided if isinstance(d, Bind)]


# the plain rule


@dataclass
class Plain:
    """The same rules for one pod and one node at a time, on plain numbers: cluster as it is, pods as they were bound. What the
    load of `gangs` doesn't have (ports, volumes, pods that look at each other) isn't here."""

    nodes: list[Node]
    used: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.has = {node.name: dict(node.allocatable) for node in self.nodes}
        self.labels = {node.name: dict(node.labels) for node in self.nodes}
        self.used = {node.name: dict.fromkeys(self.has[node.name], 0) for node in self.nodes}
        self.nodes.sort(key=lambda node: node.name)

    def bind(self, pod: Pod, name: str) -> None:
        """It is there now."""
        for resource, amount in (("pods", 1000), *pod.shape.requests):
            self.used[name][resource] += amount

    def choose(self, pod: Pod) -> str:
        """The best of the nodes that take it, the first of equals; "" where there is none."""
        taking = [node for node in self.nodes if self.takes(pod, node)]
        if len(taking) < 2:
            return taking[0].name if taking else ""
        advice = {node.name: sum(t.effect == ADVICE.effect for t in node.taints) for node in taking}
        liked = {
            node.name: sum(w for w, term in pod.shape.preferred if affinity_holds((term,), self.labels[node.name]))
            for node in taking
        }
        worst, dearest = max(advice.values()), max(liked.values())
        best, found = -1.0, ""
        for node in taking:
            score = float(300 + self.least(pod, node) + self.balanced(pod, node))
            score += self.filled(pod, node)
            score += 2 * (100 * liked[node.name] // dearest) if dearest else 0
            score -= 3 * (100 * advice[node.name] // worst) if worst else 0
            if score > best:
                best, found = score, node.name
        return found

    def takes(self, pod: Pod, node: Node) -> bool:
        """Is the pod welcome, and is there room?"""
        has, used, shape = self.has[node.name], self.used[node.name], pod.shape
        if any(used[r] + amount > has[r] for r, amount in (("pods", 1000), *shape.requests)):
            return False
        if any(self.labels[node.name].get(key) != value for key, value in shape.node_selector):
            return False
        if shape.affinity is not None and not affinity_holds(shape.affinity, self.labels[node.name]):
            return False
        return untolerated(node.taints, shape.tolerations) is None

    def least(self, pod: Pod, node: Node) -> int:
        """The mean of what is left of cpu and memory, in percent."""
        asked, has, used = dict(pod.shape.requests), self.has[node.name], self.used[node.name]
        return sum(100 * (has[r] - used[r] - asked.get(r, 0)) // has[r] for r in ("cpu", "memory")) // 2

    def balanced(self, pod: Pod, node: Node) -> int:
        """How much more evenly resources are used with the pod."""
        asked, has, used = dict(pod.shape.requests), self.has[node.name], self.used[node.name]
        names = [r for r in ("cpu", "memory", "nvidia.com/gpu") if has[r] and (r != "nvidia.com/gpu" or asked.get(r))]
        after = _even([(used[r] + asked.get(r, 0)) / has[r] for r in names])
        return 50 + int((50 + after - _even([used[r] / has[r] for r in names])) / 2)

    def filled(self, pod: Pod, node: Node) -> float:
        """How full cpu and memory are with the pod."""
        has, used = self.has[node.name], self.used[node.name]
        parts = [(used[r] + amount) / has[r] for r, amount in pod.shape.requests if r in ("cpu", "memory")]
        return sum(parts) / len(parts) * 100


def _even(fractions: list[float]) -> int:
    fractions = [min(f, 1.0) for f in fractions]
    if len(fractions) == 2:
        return int((1 - abs((fractions[0] - fractions[1]) / 2)) * 100)
    mean = sum(fractions) / len(fractions)
    return int((1 - (sum((f - mean) ** 2 for f in fractions) / len(fractions)) ** 0.5) * 100)


def replayed(state: State, nodes: list[Node], placed: list[Bind], sample: int) -> float:
    """Decides whole gangs, evenly spread over the session, again by the plain rule. Seconds a pod."""
    plain, spent, looked = Plain(list(nodes)), 0.0, 0
    every = len(placed) // sample
    for n, bind in enumerate(placed):
        pod = state.pods.by_uid[bind.pod]
        if n % every == 0:
            began = time.process_time()
            found = plain.choose(pod)
            spent += time.process_time() - began
            looked += 1
            assert found == bind.node, f"pod {n}: {bind.node}, and the plain rule says {found}"
        plain.bind(pod, bind.node)
    return spent / looked


# the loads


def run_gangs(count: int = 100_000, number: int = 5_000) -> None:
    """See the module."""
    picks = random.Random(5)
    kinds = shapes(500, picks)
    made, asked, pods, n = list[object](), 0, 0, 0
    while pods < count:
        size = min(picks.randint(8, 64), count - pods)
        shape = kinds[n % len(kinds)]
        made += gang(f"g-{n:05}", size, shape, QUEUES[n % len(QUEUES)], n)
        asked, pods, n = asked + size * dict(shape.requests)["cpu"], pods + size, n + 1
    cores = sum(MODELS[i % len(MODELS)][0] for i in range(number))
    nodes = nodes_of(number, per_core=asked / 0.9 / cores)
    state = state_of([*nodes, *(Queue(name) for name in QUEUES), *made], profile())
    decided, took = timed(state)
    placed = binds(decided)
    invariants.check(state)
    slow = replayed(state, nodes, placed, 40)
    rows = state.nodes.by_name()
    full = state.nodes.used[:, rows].sum(axis=1) / state.nodes.allocatable[:, rows].sum(axis=1)
    print(
        f"gangs: {len(placed)} of {pods} pods in {n} gangs of {len(kinds)} shapes on {number} nodes, "
        f"{100 * full[state.nodes.line_by_resource['cpu']]:.0f} % full: {took:.2f} s, {len(placed) / took:,.0f} pods/s "
        f"(20,000); the plain rule does {1 / slow:.0f}: ratio {slow * len(placed) / took:,.0f}"
    )


def run_one() -> None:
    """See the module."""
    made = gang("g", 10_000, PodShape((("cpu", CORE), ("memory", GIB))), QUEUES[0], 0)
    state = state_of([*nodes_of(1000, 16), Queue(QUEUES[0]), *made], profile())
    decided, took = timed(state)
    invariants.check(state)
    print(f"one: a gang of {len(binds(decided))}: {took:.2f} s (1)")


def run_many() -> None:
    """See the module."""
    shape = PodShape((("cpu", CORE), ("memory", GIB)))
    made = [one for n in range(10_000) for one in gang(f"g-{n:05}", 1, shape, QUEUES[n % 8], n)]
    state = state_of([*nodes_of(1000, 16), *(Queue(name) for name in QUEUES), *made], profile())
    decided, took = timed(state)
    invariants.check(state)
    print(f"many: {len(binds(decided))} gangs of 1: {took:.2f} s (5)")


def run_near() -> None:
    """See the module."""
    means = (Requirement("app", "In", ("a",)),)
    said = {
        "apart": Neighbours(apart=(PodTerm(HOST, means),)),
        "near": Neighbours(near=(PodTerm(ZONE, means),)),
        "spread": Neighbours(spread=(SpreadTerm(ZONE, means, skew=5),)),
    }
    for name, neighbours in said.items():
        shape = PodShape((("cpu", CORE), ("memory", GIB)), neighbours=neighbours)
        made = [
            one for n in range(200) for one in gang(f"g-{n:05}", 20, shape, QUEUES[n % 8], n, labels=(("app", "a"),))
        ]
        state = state_of([*nodes_of(5000, 16), *(Queue(q) for q in QUEUES), *made], profile())
        decided, took = timed(state)
        invariants.check(state)
        placed = len(binds(decided))
        print(f"near: {name}: {placed} pods: {took:.2f} s, {placed / took:,.0f} pods/s (2,000)")


def run_preempt() -> None:
    """See the module."""
    high: dict[str, Any] = {"least": 1, "phase": Phase.INQUEUE, "priority_class": "high"}
    for name in ("gangs", "alone"):
        shape = PodShape((("cpu", CORE), ("memory", GIB)))
        nodes, made = nodes_of(1000, 20), list[object]()
        for n in range(1000):
            for one in gang(f"g-{n:05}", 20, shape, QUEUES[n % 8], n, node=f"n{n:05}", phase="Running"):
                made.append(replace(one, least=10, phase=Phase.RUNNING) if isinstance(one, PodGroup) else one)
        state = state_of(
            [*nodes, PriorityClass("high", 1000), *(Queue(q) for q in QUEUES), *made], profile("kumi", conf.DEFAULT)
        )
        told(state, session.decide(state, 0))
        told(state, session.decide(state, 0))
        spent, cycles, evicted = 0.0, 200, 0
        for n in range(cycles):
            uid = f"p-{n}"
            pod = Pod(uid, f"ns/{uid}", shape, 10**6 + n, priority=1000)
            if name == "gangs":
                state.apply(Put(PodGroup(f"ns/{uid}", QUEUES[n % 8], 10**6 + n, **high)))
                pod = replace(pod, member=Member(f"ns/{uid}", "worker", priority=1000))
            state.apply(Put(pod))
            decided, took = timed(state, n)
            spent += took
            evicted += sum(isinstance(d, EvictPod) for d in decided)
            told(state, decided)
            told(state, session.decide(state, n))
        invariants.check(state)
        print(f"preempt: {name}: {evicted} evictions in {cycles} cycles: {cycles / spent:,.0f} cycles/s (500)")


def beats(state: State) -> float:
    """What a session takes after a node has changed: the median of 5, seconds."""
    times = []
    for n in range(5):
        state.apply(Put(replace(state.nodes.node_by_name["n00000"], labels=(("beat", str(n)),))))
        times.append(timed(state)[1])
    return sorted(times)[2]


def run_idle() -> None:
    """See the module."""
    for size in (20, 1):
        shape, made = PodShape((("cpu", CORE), ("memory", GIB))), list[object]()
        for n in range(100_000 // size):
            for one in gang(f"g-{n:06}", size, shape, QUEUES[n % 8], n, node=f"n{n * size // 20:05}", phase="Running"):
                made.append(replace(one, phase=Phase.RUNNING) if isinstance(one, PodGroup) else one)
        state = state_of([*nodes_of(5000, 21), *(Queue(q) for q in QUEUES), *made], profile("kumi", conf.DEFAULT))
        while decided := session.decide(state, 0):
            told(state, decided)
        _, still = timed(state)
        calm = beats(state)
        for one in gang("late", 4, PodShape((("cpu", 16 * CORE),)), QUEUES[0], 10**6):
            state.apply(Put(one))
        while decided := session.decide(state, 0):
            told(state, decided)
        print(
            f"idle: 100,000 pods in gangs of {size}: {1000 * calm:.1f} ms where a node changed (50), "
            f"{1000 * beats(state):.1f} ms where a gang waits in vain, {1000 * still:.3f} ms where nothing changed"
        )


PARTS: dict[str, Callable[[], None]] = {
    "gangs": run_gangs,
    "one": run_one,
    "many": run_many,
    "near": run_near,
    "preempt": run_preempt,
    "idle": run_idle,
}


def main(arguments: list[str]) -> int:
    """0: every part ran; 2: one is not known."""
    if [a for a in arguments if a not in PARTS]:
        print(__doc__, file=sys.stderr)
        return 2
    if len(arguments) == 1:
        gc.set_threshold(20_000, 20, 20)  # as `kumi up` does
        PARTS[arguments[0]]()
        return 0
    for name in arguments or list(PARTS):  # each in a process of its own, with nothing on its heap
        subprocess.run([sys.executable, __file__, name], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
