"""The pump: everything is applied before anything is decided, and a decision is neither lost nor made twice."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from kumi.api.errors import ApiError, InvariantError, conflict
from kumi.api.measures import Family, one
from kumi.api.meta import Object
from kumi.api.wire import JsonObject
from kumi.runtime.at_fault import MODULE
from kumi.runtime.decider import NO_STEPS, Batch, Step
from kumi.runtime.expectations import HOLD_MS
from kumi.runtime.pump import BEGIN_MS, CONCURRENT, RENEW_FIRST_MS, TOLD_AT_MOST, Pump
from kumi.runtime.reconcile import Create, Note, Patch
from kumi.testing.clock import START_MS

from .kinds import PODS, THINGS, ZONES, Pod, Thing, Zone, pod, thing
from .world import World


class Recorder:
    """Hears everything, decides what the test gives it."""

    name = "recorder"
    watches: tuple[type[Object], ...] = (Zone, Thing)

    def __init__(self, decide: Callable[[int], Batch] = lambda now_ms: NO_STEPS) -> None:
        self.calls: list[str] = []
        self._decide = decide

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        was, is_now = (o and o.metadata.resource_version for o in (old, new))
        self.calls.append(f"apply {type_.__name__} {key} {was} {is_now}")

    def decide(self, now_ms: int) -> Batch:
        self.calls.append(f"decide {now_ms - START_MS}")
        return self._decide(now_ms)

    def settle(self, token: str, ok: bool, error: str) -> None:
        self.calls.append(f"settle {token} {ok} {error}".rstrip())


class Placer:
    """Places pods, those that failed least first, on a zone with limited room, and assumes its own decisions."""

    name = "placer"
    watches: tuple[type[Object], ...] = (Zone, Pod)

    def __init__(self) -> None:
        self.room = 0
        self.waiting: dict[str, Pod] = {}
        self.placed: set[str] = set()
        self.assumed: dict[str, Pod] = {}
        self.tries: Counter[str] = Counter()

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        if type_ is Zone:
            self.room = new.spec.size if new else 0  # type: ignore[attr-defined]
            return
        self.waiting.pop(key, None)
        self.placed.discard(key)
        self.assumed.pop(key, None)
        if isinstance(new, Pod):
            if new.spec.node_name:
                self.placed.add(key)
            else:
                self.waiting[key] = new

    def decide(self, now_ms: int) -> Batch:
        steps = []
        for key in sorted(self.waiting, key=lambda key: (self.tries[key], key)):
            if len(self.placed) + len(self.assumed) >= self.room:
                break
            found = self.assumed[key] = self.waiting.pop(key)
            body = {"metadata": {"uid": found.metadata.uid}, "spec": {"nodeName": "z"}}
            steps.append(Step(key, (Patch(PODS, found.metadata.namespace, found.metadata.name, body),)))
        return Batch(tuple(steps))

    def settle(self, token: str, ok: bool, error: str) -> None:
        self.tries[token] += not ok
        if token in self.assumed and not ok:
            self.waiting[token] = self.assumed.pop(token)


def zone(name: str = "z", size: int = 0) -> dict[str, object]:
    return {"apiVersion": "example.com/v1", "kind": "Zone", "metadata": {"name": name}, "spec": {"size": size}}


def once(*steps: Step, wake_at_ms: int | None = None) -> Callable[[int], Batch]:
    left = [Batch(steps)]
    return lambda now_ms: left.pop() if left else Batch(wake_at_ms=wake_at_ms)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    await world.stop()


async def pumping(world: World, *deciders: Recorder | Placer) -> Pump:
    pump = Pump(lambda: deciders, world.around)
    await world.start(pump.run)
    return pump


async def test_all_that_is_there_is_applied_in_order_of_type_and_key_before_the_first_decision(world: World) -> None:
    for obj in (thing("b"), thing("a"), zone("z2"), zone("z1")):
        await world.client.create(obj)
    decider = Recorder()
    pump = await pumping(world, decider)
    assert decider.calls == [
        "apply Zone z1 None 5", "apply Zone z2 None 4", "apply Thing default/a None 3", "apply Thing default/b None 2",
        "decide 0",
    ]  # fmt: skip
    assert pump.idle


async def test_changes_that_come_together_are_one_decision_and_an_object_is_applied_once(world: World) -> None:
    await world.client.create(thing("a"))
    decider = Recorder()
    await pumping(world, decider)
    decider.calls.clear()
    for size in (1, 2, 3):
        await world.client.patch(THINGS, "default", "a", {"spec": {"size": size}})
    await world.client.create(zone())
    await world.clock.advance()
    assert decider.calls == ["apply Zone z None 6", "apply Thing default/a 2 5", "decide 0"]


async def test_an_object_that_came_and_went_between_two_decisions_is_not_told(world: World) -> None:
    decider = Recorder()
    await pumping(world, decider)
    world.client.hold()
    await world.client.create(thing("a"))
    await world.client.delete(THINGS, "default", "a")
    world.client.deliver()
    await world.clock.advance()
    assert [c for c in decider.calls if c.startswith("apply")] == []
    assert world.replays == []


async def test_an_object_that_was_made_again_is_told_as_gone_and_new(world: World) -> None:
    await world.client.create(thing("a"))
    decider = Recorder()
    await pumping(world, decider)
    world.client.hold()
    await world.client.delete(THINGS, "default", "a")
    await world.client.create(thing("a"))
    world.client.deliver()
    await world.clock.advance()
    assert decider.calls[2:4] == ["apply Thing default/a 2 None", "apply Thing default/a None 4"]


async def test_a_pump_that_starts_after_its_informers_misses_nothing(world: World) -> None:
    world.informers.declare(Thing)
    world.informers.declare(Zone)
    await world.client.create(thing("a"))
    await world.start()
    decider = Recorder()
    pump = asyncio.ensure_future(Pump(lambda: [decider], world.around).run())
    await world.clock.advance()
    assert decider.calls == ["apply Thing default/a None 2", "decide 0"]
    pump.cancel()
    await asyncio.gather(pump, return_exceptions=True)


class Following(Recorder):
    """Is told how far its view is, too."""

    def reached(self, type_: type[Object], revision: str) -> None:
        self.calls.append(f"reached {type_.__name__} {revision}")


async def test_who_follows_is_told_how_far_the_view_is_after_the_changes_and_before_the_decision(world: World) -> None:
    made = await world.client.create(thing("a"))
    recorder = Following()
    await pumping(world, recorder)
    await world.clock.advance()
    revision = made["metadata"]["resourceVersion"]
    assert recorder.calls[:2] == [f"apply Thing default/a None {revision}", f"reached Zone {revision}"]
    assert recorder.calls[2:4] == [f"reached Thing {revision}", "decide 0"]
    again = await world.client.create(thing("b"))
    await world.clock.advance()
    newer = again["metadata"]["resourceVersion"]
    told = [call for call in recorder.calls if call.startswith("reached")]
    assert told[-1] == f"reached Thing {newer}"
    assert len(told) == len(set(told))


async def test_steps_are_written_settled_and_told_in_order_and_then_decided_on_again(world: World) -> None:
    about = {"apiVersion": "example.com/v1", "kind": "Thing", "name": "a", "namespace": "default", "uid": "u"}
    note = Note(about, "Placed", "on z")
    decider = Recorder(once(Step("one", (Create(pod("p1")), Create(pod("p2"))), (note,)), Step("two", (), (note,))))
    pump = await pumping(world, decider)
    assert world.writes() == ["create Pod p1", "create Pod p2"]
    assert decider.calls == ["decide 0", "settle one True", "settle two True", "decide 0"]
    assert [(e["reason"], e["count"], e["reportingComponent"]) for e in world.told()] == [("Placed", 2, "recorder")]
    assert pump.idle


async def test_a_refused_write_ends_its_step_tells_nothing_and_leaves_other_steps_alone(world: World) -> None:
    note = Note({"kind": "Thing", "name": "a"}, "Placed", "on z")
    steps = (Step("one", (Create(pod("p1")), Create(pod("p2"))), (note,)), Step("two", (Create(pod("p3")),)))
    world.client.fail(ApiError(403, "Forbidden", "not yours"), "create", "Pod")
    decider = Recorder(once(*steps))
    await pumping(world, decider)
    assert decider.calls == ["decide 0", "settle one False not yours", "settle two True"]
    assert world.pods() == ["p3"]
    assert world.told() == []
    await world.clock.advance(10)
    assert decider.calls[3:] == ["decide 10"]


@pytest.mark.parametrize("error", [ConnectionResetError("gone"), TimeoutError(), RuntimeError("a bug in the client")])
async def test_a_lost_write_of_a_type_that_is_not_watched_settles_as_not_done(world: World, error: Exception) -> None:
    world.client.fail(error, "create", "Pod")
    decider = Recorder(once(Step("one", (Create(pod("p1")),))))
    await pumping(world, decider)
    assert decider.calls[1].startswith("settle one False ")
    assert decider.calls[1] != "settle one False "


@pytest.mark.parametrize("done", [True, False])
async def test_a_lost_write_is_settled_only_when_the_view_shows_whether_it_was_done(world: World, done: bool) -> None:
    await world.client.create(thing("a"))
    world.client.fail(ConnectionError("gone"), "patch", "Thing", done=done)
    decider = Recorder(once(Step("one", (Patch(THINGS, "default", "a", {"spec": {"size": 9}}),))))
    world.client.hold()
    pump = await pumping(world, decider)
    decider.calls.clear()
    await world.clock.advance(1_000)
    assert ("settle one False gone" in decider.calls) is not done
    assert pump.idle is not done
    world.client.deliver()
    await world.clock.advance(1_000)
    shown = ["apply Thing default/a 2 3"] if done else []
    assert [c for c in decider.calls if not c.startswith("decide")] == [*shown, "settle one False gone"]
    assert pump.idle


@pytest.mark.parametrize("error", [ConnectionError("gone"), ApiError(403, "Forbidden", "gone")])
@pytest.mark.parametrize("kind", ["Pod", "Thing"])
async def test_failing_steps_are_decided_again_less_and_less_often_but_at_once_when_something_changes(
    world: World, error: Exception, kind: str
) -> None:
    class Stubborn(Recorder):
        """Decides its step whenever it is not assumed."""

        assumed = False

        def decide(self, now_ms: int) -> Batch:
            write = Create(pod("p")) if kind == "Pod" else Create(thing("p"))
            steps = () if self.assumed else (Step("one", (write,)),)
            self.calls += [f"decides {now_ms - START_MS}"] if steps else []
            self.assumed = True
            return Batch(steps)

        def settle(self, token: str, ok: bool, error: str) -> None:
            self.assumed = ok

    await world.client.create(zone())
    world.client.fail(error, "create", kind, times=1_000)
    decider = Stubborn()
    await pumping(world, decider)
    await world.clock.advance(10 + 20 + 40 + 80 + 160)
    times = [int(c.split()[1]) for c in decider.calls if c.startswith("decides")]
    assert times == [0, 10, 30, 70, 150, 310]
    await world.clock.advance(1)
    if isinstance(error, ApiError):
        await world.client.patch(ZONES, "", "z", {"spec": {"size": 1}})
        await world.clock.advance()
        assert decider.calls[-1] == "decides 311"
    world.client.recover()
    await world.clock.advance(1_000)
    assert decider.assumed


async def test_a_refusal_is_settled_at_once(world: World) -> None:
    await world.client.create(thing("a"))
    world.client.fail(conflict("things", "a"), "patch", "Thing")
    decider = Recorder(once(Step("one", (Patch(THINGS, "default", "a", {"spec": {"size": 9}}),))))
    await pumping(world, decider)
    assert decider.calls[-1].startswith("settle one False Operation cannot be fulfilled")


async def test_it_decides_again_at_the_time_that_the_decider_asked_for(world: World) -> None:
    decider = Recorder(once(wake_at_ms=START_MS + 5_000))
    await pumping(world, decider)
    await world.client.create(thing("a"))
    await world.clock.advance(5_000)
    assert [c for c in decider.calls if c.startswith("decide")] == ["decide 0", "decide 0", "decide 5000"]


async def test_deciders_share_a_cycle_and_the_later_one_decides_after_the_earlier_one(world: World) -> None:
    order: list[str] = []

    def deciding(name: str) -> Recorder:
        def decide(now_ms: int) -> Batch:
            order.append(f"{name} decides")
            return NO_STEPS

        decider = Recorder(decide)
        decider.name = name
        return decider

    first, second = deciding("first"), deciding("second")
    second.watches = (Thing,)
    await world.client.create(thing("a"))
    await world.client.create(zone())
    await pumping(world, first, second)
    assert order == ["first decides", "second decides"]
    assert [c for c in second.calls if c.startswith("apply")] == ["apply Thing default/a None 2"]
    assert len([c for c in first.calls if c.startswith("apply")]) == 2


async def test_a_decider_is_never_taken_back_to_before_its_own_write(world: World) -> None:
    await world.client.create(thing("a"))
    patch = Patch(THINGS, "default", "a", {"spec": {"size": 9}})
    decider = Recorder(once(Step("one", (patch,))))
    world.client.fail(ApiError(403, "Forbidden", "no"), "patch", "Thing")
    await pumping(world, decider)
    decider._decide = once(Step("two", (patch,)))
    world.client.hold()
    await world.client.patch(THINGS, "default", "a", {"metadata": {"labels": {"x": "old"}}})
    await world.clock.advance(10)
    assert "settle two True" in decider.calls
    before = len([c for c in decider.calls if c.startswith("apply")])
    world.client.deliver(1)
    await world.clock.advance(100)
    assert len([c for c in decider.calls if c.startswith("apply")]) == before
    world.client.deliver()
    await world.clock.advance(100)
    assert [c for c in decider.calls if c.startswith("apply")][before:] == ["apply Thing default/a 2 4"]


async def test_changes_of_other_objects_are_not_held_back_by_it(world: World) -> None:
    await world.client.create(thing("a"))
    decider = Recorder(once(Step("one", (Patch(THINGS, "default", "a", {"spec": {"size": 9}}),))))
    pump = Pump(lambda: [decider], world.around)
    world.informers.subscribe([Thing], lambda type_, old, new: None)
    world.client.fail(ApiError(403, "Forbidden", "no"), "patch", "Thing")
    await world.start(pump.run)
    world.client.hold()
    decider._decide = once(Step("two", (Patch(THINGS, "default", "a", {"spec": {"size": 9}}),)))
    await world.clock.advance(10)
    await world.client.create(zone())
    world.client.cut(ConnectionError("x"))
    world.client.deliver(2)
    await world.clock.advance(100)
    assert "apply Zone z None 4" in decider.calls


async def test_a_view_that_never_shows_a_write_is_believed_again_after_a_bounded_time(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.client.create(thing("a"))
    decider = Recorder()
    await pumping(world, decider)
    world.client.hold()
    decider._decide = once(Step("one", (Patch(THINGS, "default", "a", {"spec": {"size": 9}}),)))
    await world.client.create(zone())
    await world.client.patch(THINGS, "default", "a", {"metadata": {"labels": {"x": "old"}}})
    world.client.deliver(1)
    await world.clock.advance()
    assert "settle one True" in decider.calls
    world.client.deliver(1)
    await world.clock.advance(HOLD_MS - 1)
    assert "apply Thing default/a 2 4" not in decider.calls
    await world.clock.advance(1)
    assert "apply Thing default/a 2 4" in decider.calls
    assert "the view never showed what was written to Thing default/a" in caplog.text


async def test_a_bug_of_a_decider_leaves_a_replay_and_starts_over_with_a_new_one(world: World) -> None:
    await world.client.create(thing("a"))
    made: list[Recorder] = []

    def make() -> list[Recorder]:
        def decide(now_ms: int) -> Batch:
            if len(made) == 1 and len(world.informers.cache.list(Thing)) == 2:
                raise InvariantError("too many things")
            return NO_STEPS

        made.append(Recorder(decide))
        return [made[-1]]

    await world.start(Pump(make, world.around).run)
    await world.client.create(thing("b"))
    await world.clock.advance()
    (replay,) = world.replays
    assert (replay.loop, replay.key) == ("recorder", "")
    assert "InvariantError: too many things" in replay.error
    assert [o["metadata"]["name"] for o in replay.objects["Thing"]] == ["a", "b"]
    assert replay.recent[-1] == "recorder.apply Thing default/b 3"
    assert len(made) == 1
    await world.clock.advance(RENEW_FIRST_MS)
    assert made[1].calls == ["apply Thing default/a None 2", "apply Thing default/b None 3", "decide 1000"]


async def test_who_waits_for_a_decider_that_fails_is_told_whose_error_it_is(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    plugin: dict[str, Any] = {"__name__": f"{MODULE}mine"}
    exec("def order(): raise ValueError('no label')", plugin)

    class Waited(Recorder):
        def awaited_by(self) -> Iterator[JsonObject]:
            yield from ({"kind": "Thing", "name": f"t{number}", "namespace": "default"} for number in range(1_000))

    await pumping(world, Waited(lambda now_ms: plugin["order"]()))
    await world.clock.advance()
    told = [(event["involvedObject"]["name"], event["type"], event["message"]) for event in world.told()]
    said = "Nothing is decided: plug-in mine fails with ValueError: no label"
    assert sorted(told) == sorted((f"t{number}", "Warning", said) for number in range(TOLD_AT_MOST))
    assert "recorder stopped: an error of plug-in mine" in caplog.text


@pytest.mark.parametrize("where", ["apply", "settle"])
async def test_a_decider_that_is_broken_for_good_is_made_anew_less_and_less_often(world: World, where: str) -> None:
    class Broken(Recorder):
        def apply(self, *args: object) -> None:
            if where == "apply":
                raise KeyError("gone")

        def settle(self, *args: object) -> None:
            raise KeyError("gone")

    await world.client.create(thing("a"))
    decider = Broken(lambda now_ms: Batch((Step("one"),)))
    await pumping(world, decider)
    await world.clock.advance(1_000 + 2_000 + 4_000)
    assert [r.now_ms - START_MS for r in world.replays] == [0, 1_000, 3_000, 7_000]


async def test_a_pump_is_unsound_while_its_deciders_fail_again_and_again(world: World) -> None:
    broken = True

    def decide(now_ms: int) -> Batch:
        if broken:
            raise KeyError("gone")
        return NO_STEPS

    pump = Pump(lambda: [Recorder(decide)], world.around)
    await world.start(pump.run)
    await world.clock.advance(1_000)
    assert pump.sound
    await world.clock.advance(2_000 + 4_000)
    assert not pump.sound
    broken = False
    await world.clock.advance(60_000)
    assert pump.sound


async def test_a_pump_whose_view_does_not_begin_is_unsound_until_it_does(world: World) -> None:
    pump = Pump(lambda: [Recorder()], world.around)
    running = asyncio.ensure_future(pump.run())
    await world.clock.advance(BEGIN_MS - 1)
    assert pump.sound
    await world.clock.advance(1)
    assert not pump.sound
    await world.start()
    assert pump.sound
    running.cancel()


async def test_a_decider_that_decides_the_same_for_ever_is_slowed_down(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    decider = Recorder(lambda now_ms: Batch((Step("again", (), ()),)))
    pump = await pumping(world, decider)
    assert pump.sound
    await world.clock.advance(60_000)
    assert len(decider.calls) < 60
    assert not pump.sound
    assert "1 steps decided again although nothing changed: again" in caplog.text


async def test_a_pump_tells_how_its_decisions_ended_and_what_its_deciders_have(world: World) -> None:
    class Counting(Recorder):
        def measures(self) -> list[Family]:
            return [one("things", "How many.", "gauge", 7)]

    await world.client.create(thing("a"))
    world.client.fail(conflict("things", "a"), "patch", "Thing")
    patch = Patch(THINGS, "default", "a", {"spec": {"size": 9}})
    pump = await pumping(world, Counting(once(Step("refused", (patch,)), Step("told"))))
    told = {family.name: [sample.value for sample in family.samples] for family in pump.measures()}
    assert told["kumi_decider_steps_total"] == [1, 1]
    assert told["kumi_decider_bugs_total"] == [0]
    assert told["kumi_decider_sound"] == [1.0]
    assert told["things"] == [7]


async def test_no_more_than_so_many_steps_are_on_their_way_at_a_time(world: World) -> None:
    create, on_the_way, most = world.client.create, 0, 0

    async def slow(obj: dict[str, object], *, subresource: str = "") -> dict[str, object]:
        nonlocal on_the_way, most
        on_the_way += 1
        most = max(most, on_the_way)
        await world.clock.sleep_ms(100)
        on_the_way -= 1
        return await create(obj, subresource=subresource)

    world.client.create = slow  # type: ignore[method-assign,assignment]
    decider = Recorder(once(*(Step(str(i), (Create(pod(f"p{i}")),)) for i in range(CONCURRENT + 6))))
    await pumping(world, decider)
    await world.clock.advance(200)
    assert most == CONCURRENT
    assert len(world.pods()) == CONCURRENT + 6


async def test_the_room_of_a_lost_write_is_not_given_away_before_it_is_known_to_be_free(world: World) -> None:
    for obj in (zone(size=1), pod("a"), pod("b")):
        await world.client.create(obj)
    world.client.fail(ConnectionError("gone"), "patch", "Pod", done=True)
    world.client.hold()
    await pumping(world, Placer())
    await world.clock.advance(1_000)
    assert [o["spec"].get("nodeName") for o in world.client.objects(PODS)] == ["z", None]
    world.client.deliver()
    await world.clock.advance(1_000)
    assert [o["spec"].get("nodeName") for o in world.client.objects(PODS)] == ["z", None]


@pytest.mark.parametrize("seed", range(15))
async def test_whatever_goes_wrong_no_room_is_given_twice_and_all_that_fits_is_placed(seed: int) -> None:
    """Late events, broken watches, refused and lost writes; the room of the zone is never overrun, not even for a moment."""
    chance = random.Random(seed)
    world = World()
    await world.client.create(zone(size=3))
    names: list[str] = []
    most = [0]
    patch = world.client.patch

    async def checked(*args: object, **options: object) -> dict[str, object]:
        try:
            return await patch(*args, **options)  # type: ignore[arg-type]
        finally:
            most.append(len([o for o in world.client.objects(PODS) if o["spec"].get("nodeName")]))

    world.client.patch = checked  # type: ignore[method-assign,assignment]
    await world.start(Pump(lambda: [Placer()], world.around).run)
    for i in range(80):
        match chance.choice(
            ["create"] * 3 + ["finish"] * 2 + ["fail", "hold", "deliver", "cut", "compact", "touch"] + ["pass"] * 3
        ):
            case "create":
                names.append(f"p{i:02}")
                await world.client.create(pod(names[-1]))
            case "finish":
                placed = [o["metadata"]["name"] for o in world.client.objects(PODS) if o["spec"].get("nodeName")]
                if placed:
                    world.client.recover()
                    await world.client.delete(PODS, "default", chance.choice(placed))
            case "touch":
                if world.pods():
                    world.client.recover()
                    body = {"metadata": {"labels": {"touched": str(i)}}}
                    await patch(PODS, "default", chance.choice(world.pods()), body)
            case "fail":
                world.client.fail(
                    chance.choice([ConnectionError("x"), ApiError(403, "Forbidden", "x")]), "patch", "Pod"
                )
            case "hold":
                world.client.hold()
            case "deliver":
                world.client.deliver(chance.randint(1, 5))
            case "cut":
                world.client.cut(ConnectionError("reset"))
            case "compact":
                world.client.compact()
            case "pass":
                await world.clock.advance(chance.choice([0, 10, 50, 300]))
    world.client.deliver()
    world.client.recover()
    await world.clock.advance(200_000)
    there = world.client.objects(PODS)
    assert len([o for o in there if o["spec"].get("nodeName")]) == min(3, len(there))
    assert max(most) <= 3
    assert world.replays == []
    await world.stop()
