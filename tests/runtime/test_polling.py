"""Polling: what can only be asked for is told like what is watched, and a source that is down takes nothing away."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.api.measures import merged
from kumi.api.meta import Object, ObjectMeta
from kumi.runtime import polling
from kumi.runtime.informer import Informers
from kumi.runtime.polling import Polling, Source
from kumi.runtime.view import View
from kumi.testing.clock import VirtualClock
from kumi.testing.fake_client import FakeClient

from .kinds import KINDS, THINGS, Thing, ThingSpec, Zone, kind_of

EVERY_MS = 1000


def things(**sizes: int) -> list[Thing]:
    return [Thing(metadata=ObjectMeta(name=name), spec=ThingSpec(size=size)) for name, size in sizes.items()]


class World:
    """A source of things; `answers` are what it says, one after the other, the last one for ever."""

    def __init__(self, *answers: Sequence[Thing] | Exception) -> None:
        self.answers, self.asked = list(answers), list[tuple[int, int]]()
        self.client, self.clock = FakeClient(KINDS), VirtualClock()
        self.informers = Informers(self.client, self.clock, kind_of)
        source = Source("the source", THINGS, Thing, (Zone,), EVERY_MS, self.read)
        seen = [self.informers.declare(Zone)]
        self.polling = Polling(self.client, source, self.informers.cache, self.clock, seen)
        self.informers.bring(Thing, lambda: self.polling)
        self.told: list[tuple[str | None, str | None]] = []
        self.progressed = 0
        self.informers.subscribe([Thing], self.tell, self.progress)

    def tell(self, _: type[Object], old: Object | None, new: Object | None) -> None:
        self.told.append((said(old), said(new)))

    def progress(self, _: type[Object]) -> None:
        self.progressed += 1

    async def read(self, view: View, now_ms: int) -> Sequence[Thing]:
        self.asked.append((now_ms, len(view.list(Zone))))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def shown(self) -> dict[str, int]:
        return {one.metadata.name: one.spec.size for one in self.informers.cache.list(Thing)}

    def measures(self) -> dict[str, list[float]]:
        found = {family.name: family.samples for family in merged(self.polling.measures())}
        return {name: [sample.value for sample in samples] for name, samples in found.items()}  # type: ignore[misc]

    async def run(self) -> AsyncIterator[World]:
        task = asyncio.ensure_future(self.informers.run())
        await asyncio.wait_for(self.informers.synced([Thing]), 10)
        yield self
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def said(obj: Object | None) -> str | None:
    assert obj is None or isinstance(obj, Thing)
    return None if obj is None else f"{obj.metadata.name}={obj.spec.size}"


async def play(world: World, times: int) -> None:
    async for _ in world.run():
        for _ in range(times):
            await world.clock.advance(EVERY_MS)


answers = st.one_of(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 3)).map(lambda sizes: things(**sizes)),
    st.sampled_from([KumiError("no"), OSError("gone"), ValueError("a bug")]),
)


@given(st.lists(answers, min_size=1, max_size=6))
def test_the_cache_has_the_last_answer_and_what_was_told_leads_to_it(given: list[Sequence[Thing] | Exception]) -> None:
    world = World(*given)
    asyncio.run(play(world, len(given)))
    good = [answer for answer in given if not isinstance(answer, Exception)]
    wanted = {one.metadata.name: one.spec.size for one in good[-1]} if good else {}
    assert world.shown() == wanted
    known: dict[str, str] = {}
    for old, new in world.told:
        name = str(old or new)[0]
        assert known.get(name) == old
        assert old != new
        known.pop(name, None)
        if new is not None:
            known[name] = new
    assert known == {name: f"{name}={size}" for name, size in wanted.items()}


async def test_it_asks_every_so_often_once_what_it_looks_at_is_there() -> None:
    world = World(things(a=1))
    await world.client.create({"apiVersion": "example.com/v1", "kind": "Zone", "metadata": {"name": "z"}})
    start = world.clock.now_ms()
    await play(world, 3)
    assert world.asked == [(start + n * EVERY_MS, 1) for n in range(4)]
    assert world.told == [(None, "a=1")], "what stays as it was is told once"
    assert world.progressed == 4


async def test_a_source_that_is_down_is_told_once_and_takes_nothing_away(caplog: pytest.LogCaptureFixture) -> None:
    world = World(things(a=1), OSError("refused"), KumiError("no data"), things(a=2))
    with caplog.at_level(logging.INFO):
        await play(world, 1)
        assert (world.shown(), world.measures()["kumi_poll_source_up"]) == ({"a": 1}, [0.0])
        await play(world, 2)
    assert world.shown() == {"a": 2}
    assert [record.getMessage() for record in caplog.records] == [
        "the source gives no answer: refused; what it said before counts until it is too old",
        "the source answers again",
    ]
    assert world.measures() == {"kumi_poll_source_up": [1.0], "kumi_polls_total": [3.0, 2.0]}


async def test_a_source_that_is_down_from_the_start_keeps_nobody_waiting() -> None:
    world = World(OSError())
    await play(world, 0)
    assert world.shown() == {}
    assert world.measures()["kumi_polls_total"] == [0.0, 1.0]


async def test_a_source_that_does_not_answer_counts_as_down(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(polling, "PATIENCE_S", 0.01)
    world = World(things())

    async def never(view: View, now_ms: int) -> Sequence[Thing]:
        await asyncio.Event().wait()
        return ()

    monkeypatch.setattr(world, "read", never)
    source = Source("the source", THINGS, Thing, (), EVERY_MS, never)
    made = Polling(world.client, source, world.informers.cache, world.clock, ())
    task = asyncio.ensure_future(made.run())
    await asyncio.wait_for(made.synced.wait(), 10)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert "no answer within 0.01 s" in caplog.text


async def test_a_bug_is_told_whole_and_the_next_question_is_asked(caplog: pytest.LogCaptureFixture) -> None:
    world = World(ValueError("ours"), things(a=1))
    with caplog.at_level(logging.ERROR):
        await play(world, 1)
    assert "ValueError: ours" in caplog.text
    assert world.shown() == {"a": 1}
