"""The loops of a control plane, one look at a time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kumi.api.core import ConfigMap
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.evaluator.feed import News
from kumi.evaluator.loops import Loops, Restless
from kumi.runtime.decider import Batch, Decider, Step
from kumi.runtime.reconcile import NOTHING, Create, Outcome, Patch, Watches, own_key
from kumi.runtime.view import View
from kumi.testing.clock import START_MS
from kumi.testing.stage import Stage

KIND = SCHEME.of(ConfigMap)


def config(name: str, **data: str) -> JsonObject:
    """A ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": name}, "data": data}


class Copier:
    """A controller: each ConfigMap `x` gets a copy `x-copy`."""

    name = "copier"

    def __init__(self) -> None:
        self.looks: list[str] = []

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({ConfigMap: own_key})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See Controller."""
        self.looks.append(key)
        namespace, _, name = key.partition("/")
        if name.endswith("-copy") or view.get(ConfigMap, namespace, f"{name}-copy") is not None:
            return NOTHING
        return Outcome((Create(config(f"{name}-copy")),))


class Sleeper(Copier):
    """A controller that looks again a second later, for as long as `wakes` says."""

    def __init__(self, wakes: int) -> None:
        super().__init__()
        self.times: list[int] = []
        self.wakes = wakes

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See Controller."""
        self.times.append(now_ms - START_MS)
        return Outcome(wake_at_ms=now_ms + 1000 if len(self.times) <= self.wakes else None)


class Scribe:
    """A decider that notes what it knows when it decides, and decides what it is told to."""

    def __init__(self, name: str, decide: Callable[[list[str]], Batch] = lambda _: Batch()) -> None:
        self.name, self._decide = name, decide
        self.known: dict[str, None] = {}
        self.saw: list[list[str]] = []
        self.settled: list[tuple[str, bool]] = []

    @property
    def watches(self) -> tuple[type[Object], ...]:
        """See Decider."""
        return (ConfigMap,)

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        """See Decider."""
        if new is None:
            self.known.pop(key)
        else:
            self.known[key] = None

    def decide(self, now_ms: int) -> Batch:
        """See Decider."""
        self.saw.append(sorted(key.partition("/")[2] for key in self.known))
        return self._decide(self.saw[-1])

    def settle(self, token: str, ok: bool, error: str) -> None:
        """See Decider."""
        self.settled.append((token, ok))


class Heard:
    """A Watcher."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def seen(self, news: News) -> None:
        """See Watcher."""
        self.told.append(f"seen {news.key.partition('/')[2]}")

    def decided(self, decider: Decider) -> None:
        """See Watcher."""
        self.told.append(f"{decider.name} decided")

    def done(self, decider: Decider) -> None:
        """See Watcher."""
        self.told.append(f"{decider.name} done")


async def test_the_scheduler_decides_only_when_all_others_have_come_to_rest() -> None:
    stage, heard, scheduler, other = Stage(), Heard(), Scribe("scheduler"), Scribe("other")
    await stage.open()
    loops = Loops(stage.registry, [Copier()], [lambda: (scheduler,), lambda: (other,)], heard)
    await loops.prepare(START_MS)
    assert scheduler.saw == []
    await stage.make(config("a"))
    await stage.make(config("b"))
    await loops.rest(START_MS)
    assert scheduler.saw == [["a", "a-copy", "b", "b-copy"]]
    assert other.saw[-1] == scheduler.saw[-1]
    assert heard.told.index("seen b-copy") < heard.told.index("scheduler decided")


async def test_it_is_asked_again_until_it_says_nothing_and_sees_its_own_writes() -> None:
    def decide(seen: list[str]) -> Batch:
        return Batch((Step("one", (Create(config("mine")),)),)) if "mine" not in seen else Batch()

    stage, heard, scheduler = Stage(), Heard(), Scribe("scheduler", decide)
    await stage.open()
    loops = Loops(stage.registry, [], [lambda: (scheduler,)], heard)
    await loops.rest(START_MS)
    assert scheduler.saw == [[], ["mine"]]
    assert scheduler.settled == [("one", True)]
    assert heard.told == [
        "scheduler decided",
        "seen mine",
        "scheduler done",
        "scheduler decided",
        "scheduler done",
    ]


async def test_a_step_that_is_refused_is_told_and_tried_again_later() -> None:
    bad = Patch(KIND, "default", "nowhere", {"data": {"a": "b"}})
    stage, scheduler = Stage(), Scribe("scheduler", lambda _: Batch((Step("bad", (bad,)),)))
    await stage.open()
    loops = Loops(stage.registry, [], [lambda: (scheduler,)], Heard())
    await loops.rest(START_MS)
    assert scheduler.settled == [("bad", False)]
    assert loops.next_ms is not None
    assert loops.next_ms > START_MS
    await loops.rest(loops.next_ms)
    assert scheduler.settled == [("bad", False)] * 2


async def test_who_asks_to_be_woken_is_woken_then_and_no_more_than_he_asks() -> None:
    stage, sleeper = Stage(), Sleeper(wakes=2)
    await stage.open()
    loops = Loops(stage.registry, [sleeper], [], Heard())
    await stage.make(config("a"))
    await loops.rest(START_MS)
    while loops.next_ms is not None:
        await loops.rest(loops.next_ms)
    assert sleeper.times == [0, 1000, 2000]


async def test_a_key_is_looked_at_once_for_changes_that_came_together() -> None:
    stage, copier = Stage(), Copier()
    await stage.open()
    loops = Loops(stage.registry, [copier], [], Heard())
    await stage.make(config("a-copy"))
    await stage.patch(ConfigMap, "default/a-copy", {"data": {"x": "1"}})
    await loops.rest(START_MS)
    assert copier.looks == ["default/a-copy"]


async def test_a_decider_that_never_stops_is_a_bug_that_is_told() -> None:
    stage, scheduler = Stage(), Scribe("scheduler", lambda _: Batch((Step("again"),)))
    await stage.open()
    loops = Loops(stage.registry, [], [lambda: (scheduler,)], Heard())
    with pytest.raises(Restless, match="scheduler decides again and again"):
        await loops.rest(START_MS)
