"""Runs told by hand, for tests of what is made of them: times in seconds after the start of the clock."""

from __future__ import annotations

from typing import Any

from kumi.engine.decisions import Bind
from kumi.engine.model import Node, PodShape, Put, Remove
from kumi.evaluator.engine import Run
from kumi.evaluator.facts import Facts
from kumi.evaluator.history import History
from kumi.evaluator.model import START_MS, Job, Load, Policy, Role, What
from kumi.evaluator.result import Result

GPU = "nvidia.com/gpu"
MODEL = "kumi.dev/gpu-model"


def ms(seconds: float) -> int:
    """On the clock of the run."""
    return START_MS + round(seconds * 1000)


def shape(gpus: float = 1, cpu: float = 0, **more: Any) -> PodShape:
    """Of a pod that asks for so many of each; less than one GPU is a share of one."""
    asked = {GPU: round(gpus * 1000), "cpu": round(cpu * 1000)}
    if 0 < gpus < 1:
        more.setdefault("share", asked[GPU])
    return PodShape(tuple((name, amount) for name, amount in sorted(asked.items()) if amount), **more)


class Told:
    """A history that is told what a test says."""

    def __init__(self) -> None:
        self.history = History()
        self._at: dict[str, list[tuple[int, str]]] = {}

    def node(self, name: str, at: float = 0, gpus: float = 8, cpu: float = 0, model: str = "", **more: Any) -> None:
        """It comes, or changes."""
        has = {GPU: round(gpus * 1000), "cpu": round(cpu * 1000)}
        labels = (("kubernetes.io/hostname", name), *(((MODEL, model),) if model else ()))
        self.history.changed(ms(at), Put(Node(name, labels, tuple(sorted(has.items())), **more)))

    def node_goes(self, name: str, at: float) -> None:
        """For good."""
        self.history.changed(ms(at), Remove(Node, name))

    def job(
        self, name: str, at: float = 0, *, gpus: float = 1, pods: int = 1, runs: float | None = 10, **more: Any
    ) -> Job:
        """It arrives; `due` is its deadline in seconds."""
        due = more.pop("due", None)
        roles = more.pop("roles", None) or (Role("main", pods, more.pop("shape", None) or shape(gpus)),)
        job = Job(
            key=name if "/" in name else f"default/{name}",
            arrives_ms=ms(at),
            roles=roles,
            runs_ms=None if runs is None else round(runs * 1000),
            deadline_ms=None if due is None else ms(due),
            **more,
        )
        self.history.happened(ms(at), What.ARRIVED, job, 0)
        return job

    def place(self, job: Job, at: float, *nodes: str, role: int = 0, devices: tuple[tuple[int, ...], ...] = ()) -> None:
        """Pods of it get these nodes, one each, and there these devices, where somebody says."""
        places = [(role, node) for node in nodes]
        self._at.setdefault(job.key, []).extend(places)
        for number, node in enumerate(nodes):
            self.history.decided(ms(at), Bind(job.key, node, devices[number] if devices else ()))
        self.history.placed(ms(at), job, places)

    def start(self, job: Job, at: float, *nodes: str) -> None:
        """Its pods get these nodes, and it runs."""
        self.place(job, at, *nodes)
        self.history.happened(ms(at), What.STARTED, job, 0)

    def end(self, job: Job, at: float, what: What = What.FINISHED, kept: float | None = None) -> None:
        """It runs no longer, and leaves its nodes. `kept`: seconds; None: all that it needs, or nothing."""
        if kept is None:
            kept = (job.runs_ms or 0) / 1000 if what is What.FINISHED else 0
        self.history.happened(ms(at), what, job, round(kept * 1000))
        places = self._at.pop(job.key, [])
        if places:
            self.history.left(ms(at), job, places)

    def leave(self, job: Job, at: float, *nodes: str) -> None:
        """Some of its pods go."""
        places = [(0, node) for node in nodes]
        for place in places:
            self._at[job.key].remove(place)
        self.history.left(ms(at), job, places)

    def close(self, at: float, **waiting: str) -> Facts:
        """The run is over."""
        self.history.closed(ms(at), [(f"default/{name}", why) for name, why in waiting.items()])
        return self.history.facts

    def result(self, at: float, policy: str = "fifo", **waiting: str) -> Result:
        """The same, as people get it."""
        return Result(self.close(at, **waiting), policy, 0, 0.5)


def played(load: Load, policy: Policy) -> Facts:
    """What the engine makes of it."""
    history = History()
    run = Run(load, policy, 0, [history])
    while run.advance(1000):
        pass
    run.close()
    return history.facts


def has_shrunk(facts: Facts) -> bool:
    """Did a node come to have less than it had? Then those who are on it may hold more than there is."""
    had: dict[int, dict[str, int]] = {}
    for change in facts.node_changes:
        if change.node is not None:
            has = dict(change.node.allocatable)
            if any(has.get(name, 0) < amount for name, amount in had.get(change.number, {}).items()):
                return True
            had[change.number] = has
    return False


def small(policy: str = "fifo") -> Result:
    """Two nodes, two tenants; somebody waits, somebody is preempted, somebody never runs."""
    told = Told()
    told.node("n1", gpus=2, cpu=8, model="A")
    told.node("n2", gpus=1, cpu=8, model="B")
    first = told.job("first", 0, gpus=2, runs=100, tenant="red", due=90, queue="gold")
    second = told.job("second", 0, gpus=1, runs=50, tenant="blue", queue="gold")
    told.job("giant", 10, gpus=64, tenant="blue", due=500)
    told.start(first, 0, "n1")
    told.start(second, 0, "n2")
    told.end(second, 20, What.PREEMPTED, kept=15)
    third = told.job("third", 20, gpus=1, runs=30, tenant="red", due=60, queue="silver")
    told.start(third, 20, "n2")
    told.end(third, 50)
    told.start(second, 50, "n2")
    told.end(second, 85)
    told.end(first, 100)
    return told.result(100, policy, giant="no node has 64 of nvidia.com/gpu")
