"""Small loads, and what is told of a run as lines that tests compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kumi.engine.decisions import Decision
from kumi.engine.model import Delta, Noun, PodShape
from kumi.evaluator.engine import Run
from kumi.evaluator.model import START_MS, Arrive, Event, Job, Load, Places, Policy, Role, What
from kumi.testing.builders import shape

HOUR = 3_600_000


class Story:
    """Hears of a run: a line for all that happens but decisions and changes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.decisions: list[Decision] = []
        self.waiting: dict[str, str] = {}
        self.closed_ms: int | None = None

    def happened(self, now_ms: int, what: What, job: Job, kept_ms: int) -> None:
        self.lines.append(f"{now_ms - START_MS} {what.value} {job.key} {kept_ms}")

    def placed(self, now_ms: int, job: Job, places: Places) -> None:
        self.lines.append(f"{now_ms - START_MS} placed {job.key} {' '.join(f'{n}:{node}' for n, node in places)}")

    def left(self, now_ms: int, job: Job, places: Places) -> None:
        self.lines.append(f"{now_ms - START_MS} left {job.key} {' '.join(f'{n}:{node}' for n, node in places)}")

    def changed(self, now_ms: int, delta: Delta) -> None:
        pass

    def decided(self, now_ms: int, decision: Decision) -> None:
        self.decisions.append(decision)

    def closed(self, now_ms: int, waiting: Sequence[tuple[str, str]]) -> None:
        assert self.closed_ms is None
        self.closed_ms = now_ms - START_MS
        self.waiting = dict(waiting)

    def times(self, what: What) -> dict[str, int]:
        """When that last happened to each job, from the start."""
        said = [line.split() for line in self.lines]
        return {words[2]: int(words[0]) for words in said if words[1] == what.value}

    def of(self, key: str) -> list[str]:
        """What happened to one job, placements aside."""
        said = [line.split() for line in self.lines]
        return [f"{w[0]} {w[1]} {w[3]}" for w in said if w[2] == key and w[1] not in ("placed", "left")]


def job(name: str, at_ms: int = 0, runs_ms: int | None = 1000, pods: int = 1, **fields: Any) -> Job:
    """A job of one role; `gpu`, `cpu` or `pod_shape` say what a pod of it asks for."""
    asked = {word: fields.pop(word) for word in ("gpu", "cpu", "memory") if word in fields}
    pod_shape: PodShape = fields.pop("pod_shape", None) or shape(**asked)
    key = name if "/" in name else f"team/{name}"
    return Job(key, START_MS + at_ms, (Role("main", pods, pod_shape),), runs_ms, **fields)


def load(setting: Sequence[Noun], events: Sequence[Event | Job]) -> Load:
    """These events, in the order of their times; jobs arrive."""
    made = [Arrive(one) if isinstance(one, Job) else one for one in events]
    made.sort(key=lambda event: event.at_ms)
    return Load("test", tuple(setting), lambda: iter(made), size=len(made))


def play(given: Load, policy: Policy | None = None, seed: int = 1) -> Story:
    """The whole run."""
    story = Story()
    run = Run(given, policy or Policy("test"), seed, (story,))
    while run.advance(1000):
        pass
    return story
