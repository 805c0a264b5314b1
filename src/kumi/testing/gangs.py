"""Gangs in a line each, and sessions on them.

line("q", capability={"cpu": 4})             a Queue; `deserved` and `guarantee` likewise
gang("a", "q", least=2, needs={"cpu": 2})    a PodGroup, ns/a
task("a-0", "a", cpu=1)                      a pod of it, ns/a-0; with `node` it runs there
Scene(*nouns)                                a state with these; .open("gang", "drf") and .run(...) are sessions on it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kumi.engine.gangs import Listed, Member, PodGroup, Queue
from kumi.engine.model import Noun, Pod, Profile, Put
from kumi.engine.placement import rounds
from kumi.engine.placement.conf import SWITCHES, Arguments, Conf, Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.surroundings import Surroundings
from kumi.engine.placement.tasks import Job
from kumi.engine.state import State
from kumi.testing.builders import Written, amounts, pod

Tier = tuple[Option | str, ...]


def listed(written: Mapping[str, Written]) -> Listed:
    """Amounts as a noun has them."""
    return tuple(sorted(amounts(**written)))


def line(name: str = "q", **fields: Any) -> Queue:
    """A Queue."""
    for amount in ("capability", "deserved", "guarantee"):
        if amount in fields:
            fields[amount] = listed(fields[amount])
    return Queue(name, **fields)


def gang(
    name: str, queue: str = "q", least: int = 1, needs: Mapping[str, Written] | None = None, **fields: Any
) -> PodGroup:
    """A PodGroup of the namespace ns."""
    resources = None if needs is None else listed(needs)
    return PodGroup(f"ns/{name}", queue, uid=name, least=least, resources=resources, **fields)


def task(name: str, group: str, **fields: Any) -> Pod:
    """A pod of the gang: pending, or running on `node`. Fields of Member and of Pod, and amounts, by keyword."""
    said = {key: fields.pop(key) for key in list(fields) if key in Member.__dataclass_fields__ and key != "priority"}
    said |= {"priority": fields["priority"]} if "priority" in fields else {}
    phase = fields.pop("phase", "Running" if fields.get("node") else "Pending")
    made = pod(f"ns/{name}", phase=phase, **fields)
    return replace(made, uid=name, member=Member(group=f"ns/{group}", **said))


def option(name: str, *, without: tuple[str, ...] = (), hierarchy: bool = False, **arguments: Any) -> Option:
    """A plug-in of the scheduler's file, all its switches on but these."""
    on = set(SWITCHES) - {"enableHierarchy", *without} | ({"enableHierarchy"} if hierarchy else set())
    return Option(name, frozenset(on), Arguments(arguments))


@dataclass
class Scene:
    """A state of the profile `volcano`. `now_ms`, `cleared_ms`: of Surroundings."""

    state: State
    now_ms: int
    cleared_ms: int | None

    def __init__(self, *nouns: Noun, now_ms: int = 0, cleared_ms: int | None = None) -> None:
        self.state = State(Profile(name="volcano"))
        self.now_ms, self.cleared_ms = now_ms, cleared_ms
        self.put(*nouns)

    def put(self, *nouns: Noun) -> None:
        """There are these now."""
        for noun in nouns:
            self.state.apply(Put(noun))

    @property
    def around(self) -> Surroundings:
        """What a session looks at."""
        state = self.state
        return Surroundings(state.tasks, state.nodes, state.pods, state.journal, self.now_ms, self.cleared_ms)

    def open(self, *tiers: Option | str | Tier, actions: tuple[str, ...] = ()) -> Framework:
        """A session with these plug-ins: by tier, or all in one."""
        return Framework(self.around, conf(*tiers, actions=actions), PLUGINS)

    def run(self, actions: str, *tiers: Option | str | Tier) -> rounds.Round:
        """One session with these actions."""
        return rounds.run(self.around, conf(*tiers, actions=tuple(actions.split())), PLUGINS)

    def job(self, name: str) -> Job:
        """The gang ns/name."""
        return self.state.tasks.jobs[f"ns/{name}"]

    def queue(self, name: str) -> Queue:
        """The Queue."""
        return self.state.tasks.queues[name]

    def pod(self, name: str) -> Pod:
        """The pod ns/name."""
        return self.state.tasks.pods[name]


def conf(*tiers: Option | str | Tier, actions: tuple[str, ...] = ()) -> Conf:
    """A scheduler's file with these plug-ins: by tier, or all in one."""
    by_tier = [tier for tier in tiers if isinstance(tier, tuple)] or [
        tuple(t for t in tiers if not isinstance(t, tuple))
    ]
    return Conf(actions, tuple(tuple(option(o) if isinstance(o, str) else o for o in tier) for tier in by_tier))
