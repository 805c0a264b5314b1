"""The manager: a loop's writes happen once, in order, and every failure leads to another look."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

import pytest

from kumi.api.errors import ApiError, InvariantError, conflict, invalid
from kumi.api.meta import Object
from kumi.runtime.expectations import HOLD_MS
from kumi.runtime.manager import Manager
from kumi.runtime.reconcile import NOTHING, Create, Delete, Note, Outcome, Patch, Watches
from kumi.runtime.view import View
from kumi.testing.clock import START_MS

from .kinds import PODS, THINGS, Pod, Thing, pod, thing
from .world import World

T = TypeVar("T", bound=Object)


class Sizes:
    """A thing of size n has n pods; their names are the server's, so a look at an old view would show as a pod too many."""

    name = "sizes"

    def __init__(self, generated: bool = True) -> None:
        self.generated = generated
        self.looks: list[tuple[str, int]] = []

    @property
    def watches(self) -> Watches:
        return Watches({Thing: lambda o: [o.key], Pod: self.owner})

    def owner(self, obj: Object) -> list[str]:
        owner = obj.metadata.controller
        return [] if owner is None else [f"{obj.metadata.namespace}/{owner.name}"]

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        self.looks.append((key, now_ms - START_MS))
        found = view.get(Thing, *key.split("/"))
        if found is None:
            return NOTHING
        pods = view.owned(Pod, found.metadata.uid)
        doomed = pods[found.spec.size :]
        writes: list[Create | Patch | Delete] = [
            Delete(PODS, p.metadata.namespace, p.metadata.name, p.metadata.uid) for p in doomed
        ]
        writes += [Create(self.pod(found, i)) for i in range(len(pods), found.spec.size)]
        if not writes and not found.status.ready:
            body = {"status": {"ready": True}}
            writes.append(Patch(THINGS, found.metadata.namespace, found.metadata.name, body, "status"))
        return Outcome(tuple(writes), (Note(self.about(found), "Sized", f"{found.spec.size} pods"),) if writes else ())

    def pod(self, found: Thing, index: int) -> dict[str, object]:
        owner = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {}}
        owner["metadata"] = {"name": found.metadata.name, "uid": found.metadata.uid}
        obj = pod(f"{found.metadata.name}-{index}", owner, found.metadata.namespace)
        if self.generated:
            obj["metadata"]["generateName"] = f"{obj['metadata'].pop('name')}-"
        return obj

    def about(self, found: Thing) -> dict[str, object]:
        meta = found.metadata
        about = {"apiVersion": "example.com/v1", "kind": "Thing", "uid": meta.uid}
        return about | {"namespace": meta.namespace, "name": meta.name}


class Looks:
    """A controller of things that does what the test gives it."""

    def __init__(self, look: Callable[[View, str, int], Outcome], name: str = "looks") -> None:
        self.name = name
        self.look = look
        self.at: list[int] = []

    @property
    def watches(self) -> Watches:
        return Watches({Thing: lambda o: [o.key]})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        self.at.append(now_ms - START_MS)
        return self.look(view, key, now_ms)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    await world.stop()


async def running(world: World, *controllers: Sizes | Looks) -> Manager:
    manager = Manager(world.around)
    for controller in controllers:
        manager.add(controller)
    await world.start(manager.run)
    return manager


async def test_what_is_there_at_the_start_is_looked_at_and_then_every_change(world: World) -> None:
    await world.client.create(thing("a", 2))
    manager = await running(world, Sizes())
    assert len(world.pods()) == 2
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 3}})
    await world.client.create(thing("b", 1))
    await world.clock.advance(100)
    assert len(world.pods()) == 4
    assert manager.idle
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 0}})
    await world.clock.advance(100)
    assert len(world.pods()) == 1


async def test_a_manager_that_starts_after_its_informers_misses_nothing(world: World) -> None:
    manager = Manager(world.around)
    manager.add(Sizes())
    await world.client.create(thing("a", 2))
    await world.start()
    running = asyncio.ensure_future(manager.run())
    await world.clock.advance(100)
    assert len(world.pods()) == 2
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_nothing_is_done_twice_while_the_view_is_behind(world: World) -> None:
    await running(world, Sizes())
    made = await world.client.create(thing("a", 2))
    await world.clock.advance()
    world.client.hold()
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 4}})
    world.client.deliver(1)
    await world.clock.advance()
    assert len(world.pods()) == 4
    await world.client.create(pod("stray", made))
    world.client.deliver(1)
    await world.clock.advance(HOLD_MS - 1_000)
    world.client.deliver(2)
    await world.clock.advance(500)
    assert world.writes().count("create Pod ") == 4
    world.client.deliver()
    await world.clock.advance(500)
    assert len(world.pods()) == 4
    assert world.writes().count("create Pod ") == 4


async def test_a_deletion_is_not_done_twice_while_the_view_is_behind(world: World) -> None:
    await world.client.create(thing("a", 3))
    await running(world, Sizes())
    world.client.hold()
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 2}})
    world.client.deliver(1)
    await world.clock.advance(100)
    await world.client.patch(THINGS, "default", "a", {"metadata": {"labels": {"x": "y"}}})
    await world.clock.advance(100)
    world.client.deliver()
    await world.clock.advance(100)
    assert len([w for w in world.writes() if w.startswith("delete Pod")]) == 1
    assert len(world.pods()) == 2


async def test_a_deletion_of_what_is_gone_waits_for_the_view_as_well(world: World) -> None:
    await world.client.create(thing("a", 1))
    await running(world, Sizes())
    world.client.hold()
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 0}})
    world.client.deliver(1)
    await world.client.delete(PODS, "default", world.pods()[0])
    await world.client.patch(THINGS, "default", "a", {"metadata": {"labels": {"x": "y"}}})
    world.informers.find(Thing).handlers[0](Thing, None, world.informers.cache.list(Thing)[0])  # type: ignore[union-attr]
    await world.clock.advance(100)
    world.informers.find(Thing).handlers[0](Thing, None, world.informers.cache.list(Thing)[0])  # type: ignore[union-attr]
    await world.clock.advance(100)
    assert len([w for w in world.writes() if w.startswith("delete Pod")]) == 2
    world.client.deliver()
    await world.clock.advance(100)
    assert len([w for w in world.writes() if w.startswith("delete Pod")]) == 2


async def test_a_view_that_never_shows_a_write_holds_its_key_for_a_bounded_time(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    controller = Sizes(generated=False)
    await running(world, controller)
    world.client.hold()
    await world.client.create(thing("a", 1))
    world.client.deliver(1)
    await world.clock.advance()
    await world.client.patch(THINGS, "default", "a", {"metadata": {"labels": {"x": "y"}}})
    looks = len(controller.looks)
    world.client.cut(ConnectionError("dead"))
    await world.clock.advance(HOLD_MS - 1)
    assert len(controller.looks) == looks
    world.informers.cache.set(world.informers.cache.list(Thing)[0])
    for handler in world.informers.find(Thing).handlers:  # type: ignore[union-attr]
        handler(Thing, None, world.informers.cache.list(Thing)[0])
    await world.clock.advance(1)
    assert len(controller.looks) > looks
    assert "the view never showed what was written to Pod default/a-0" in caplog.text


async def test_writes_are_done_in_order_and_stop_at_the_first_failure(world: World) -> None:
    def look(view: View, key: str, now_ms: int) -> Outcome:
        names = [n for n in ("one", "two", "three") if f"create Pod {n}" not in done()]
        return Outcome(tuple(Create(pod(n)) for n in names))

    def done() -> list[str]:
        return [f"create Pod {name}" for name in world.pods()]

    await world.client.create(thing("a"))
    world.client.fail(ConnectionError("gone"), "create", "Pod")
    controller = Looks(look)
    await running(world, controller)
    assert world.writes()[1:] == ["create Pod one"]
    await world.clock.advance(5)
    assert world.writes()[2:] == ["create Pod one", "create Pod two", "create Pod three"]
    assert controller.at == [0, 5]


async def test_a_success_ends_the_row_of_failures(world: World) -> None:
    await world.client.create(thing("a", 1))
    world.client.fail(ConnectionError("gone"), "create", "Pod", times=4)
    controller = Sizes(generated=False)
    await running(world, controller)
    await world.clock.advance(1_000)
    assert world.pods() == ["a-0"]
    world.client.fail(ConnectionError("gone"), "create", "Pod")
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 2}})
    await world.clock.advance(5)
    assert world.pods() == ["a-0", "a-1"]


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError("gone"),
        TimeoutError(),
        conflict("pods", "p"),
        ApiError(503, "ServiceUnavailable", "later"),
        ApiError(429, "TooManyRequests", "slower"),
    ],
)
async def test_what_may_go_well_next_time_is_tried_again_soon(world: World, error: Exception) -> None:
    await world.client.create(thing("a", 1))
    world.client.fail(error, "create", "Pod", times=3)
    controller = Sizes(generated=False)
    await running(world, controller)
    await world.clock.advance(5 + 10 + 20)
    assert world.pods() == ["a-0"]
    assert [at for _, at in controller.looks[:4]] == [0, 5, 15, 35]
    assert "FailedCreate" not in [e["reason"] for e in world.told()]


async def test_the_servers_wish_to_wait_is_kept(world: World) -> None:
    await world.client.create(thing("a", 1))
    world.client.fail(ApiError(429, "TooManyRequests", "slower", retry_after_seconds=7), "create", "Pod")
    controller = Sizes(generated=False)
    await running(world, controller)
    await world.clock.advance(6_999)
    assert world.pods() == []
    await world.clock.advance(1)
    assert world.pods() == ["a-0"]


async def test_a_lost_answer_is_found_out_by_looking_again(world: World) -> None:
    await world.client.create(thing("a", 2))
    world.client.fail(ConnectionError("gone"), "create", "Pod", done=True)
    await running(world, Sizes(generated=False))
    await world.clock.advance(1_000)
    assert world.pods() == ["a-0", "a-1"]


async def test_a_refused_write_is_told_and_tried_again_after_a_while(world: World) -> None:
    made = await world.client.create(thing("a", 1))
    world.client.fail(invalid("Pod", "a-0", ()), "create", "Pod", times=2)
    controller = Sizes(generated=False)
    await running(world, controller)
    await world.clock.advance(999)
    assert len(controller.looks) == 1
    await world.clock.advance(1 + 2_000)
    assert world.pods() == ["a-0"]
    failed = next(e for e in world.told() if e["reason"] == "FailedCreate")
    assert (failed["type"], failed["count"]) == ("Warning", 2)
    assert failed["involvedObject"]["uid"] == made["metadata"]["uid"]
    assert "create Pod default/a-0" in failed["message"]


async def test_a_refused_change_is_told_about_the_object_itself(world: World) -> None:
    made = await world.client.create(thing("a"))
    world.client.fail(ApiError(403, "Forbidden", "not yours"), "patch", "Thing")
    await running(world, Sizes())
    (event,) = [e for e in world.told() if e["reason"] == "FailedUpdate"]
    assert event["involvedObject"] == {
        "apiVersion": "example.com/v1", "kind": "Thing", "namespace": "default", "name": "a",
        "uid": made["metadata"]["uid"],
    }  # fmt: skip
    await world.clock.advance(1_000)
    assert (await world.client.get(THINGS, "default", "a"))["status"] == {"ready": True}


async def test_what_is_there_already_or_gone_already_counts_as_done(world: World) -> None:
    await world.client.create(thing("a"))
    await world.client.create(pod("there"))

    def look(view: View, key: str, now_ms: int) -> Outcome:
        if "after" in world.pods():
            return NOTHING
        return Outcome((Delete(PODS, "default", "gone", "u"), Create(pod("there")), Create(pod("after"))))

    controller = Looks(look)
    await running(world, controller)
    assert world.pods() == ["after", "there"]
    await world.clock.advance(1_000)
    assert controller.at == [0, 5]


async def test_notes_are_told_only_when_every_write_was_acknowledged(world: World) -> None:
    await world.client.create(thing("a", 1))
    world.client.fail(ConnectionError("gone"), "create", "Pod")
    await running(world, Sizes())
    assert world.told() == []
    await world.clock.advance(5)
    assert {e["reason"] for e in world.told()} == {"Sized"}
    assert {e["reportingComponent"] for e in world.told()} == {"sizes"}


async def test_a_key_is_looked_at_again_at_its_wake_time(world: World) -> None:
    await world.client.create(thing("a"))
    controller = Looks(lambda view, key, now_ms: Outcome(wake_at_ms=now_ms + 60_000 if now_ms == START_MS else None))
    await running(world, controller)
    await world.clock.advance(200_000)
    assert controller.at == [0, 60_000]


async def test_a_crash_is_logged_and_looked_at_again_and_hurts_no_other_key(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    def look(view: View, key: str, now_ms: int) -> Outcome:
        if key == "default/bad" and now_ms < START_MS + 30:
            raise ZeroDivisionError("oh no")
        return NOTHING

    await world.client.create(thing("bad"))
    await world.client.create(thing("good"))
    controller = Looks(look)
    await running(world, controller)
    await world.clock.advance(1_000)
    assert controller.at == [0, 0, 5, 15, 35]
    assert "ZeroDivisionError: oh no" in caplog.text
    assert world.replays == []


async def test_a_broken_invariant_leaves_a_replay_and_the_key_alone_until_it_changes(world: World) -> None:
    def look(view: View, key: str, now_ms: int) -> Outcome:
        if now_ms == START_MS:
            return Outcome(wake_at_ms=START_MS + 60_000)
        raise InvariantError("two and two")

    await world.client.create(thing("a", 3))
    controller = Looks(look)
    await running(world, controller)
    await world.clock.advance(10_000)
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 4}})
    await world.clock.advance(3_600_000)
    assert controller.at == [0, 10_000]
    (replay,) = world.replays
    assert (replay.loop, replay.key, replay.now_ms) == ("looks", "default/a", START_MS + 10_000)
    assert "InvariantError: two and two" in replay.error
    assert [o["spec"]["size"] for o in replay.objects["Thing"]] == [4]
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 5}})
    await world.clock.advance()
    assert len(controller.at) == 3


async def test_a_key_function_that_fails_hurts_no_other_object(world: World, caplog: pytest.LogCaptureFixture) -> None:
    class Picky(Sizes):
        @property
        def watches(self) -> Watches:
            return Watches({Thing: self.keys, Pod: self.owner})

        def keys(self, obj: Object) -> list[str]:
            if obj.metadata.name == "bad":
                raise ValueError("unreadable")
            return [obj.key]

    await world.client.create(thing("bad", 1))
    await world.client.create(thing("good", 1))
    await running(world, Picky())
    assert len(world.pods()) == 1
    assert "sizes can't say which keys Thing default/bad concerns" in caplog.text


async def test_changes_that_do_not_matter_are_not_looked_at(world: World) -> None:
    class Selective(Sizes):
        @property
        def watches(self) -> Watches:
            return Watches({Thing: lambda o: [o.key], Pod: self.owner}, matters={Thing: self.grows})

        def grows(self, old: Object, new: Object) -> bool:
            assert isinstance(old, Thing)
            assert isinstance(new, Thing)
            return new.spec.size > old.spec.size

    await world.client.create(thing("a", 2))
    await running(world, Selective())
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 1}})
    await world.clock.advance(100)
    assert len(world.pods()) == 2
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 3}})
    await world.clock.advance(100)
    assert len(world.pods()) == 3


async def test_two_controllers_may_not_have_one_name(world: World) -> None:
    manager = Manager(world.around)
    manager.add(Sizes())
    with pytest.raises(ValueError, match="two controllers are called sizes"):
        manager.add(Sizes())


async def test_slow_writes_of_one_key_do_not_stop_the_others(world: World) -> None:
    create = world.client.create

    async def slow(obj: dict[str, object], *, subresource: str = "") -> dict[str, object]:
        if str(obj["metadata"]).find("slow") >= 0 and obj["kind"] == "Pod":
            await world.clock.sleep_ms(10_000)
        return await create(obj, subresource=subresource)

    world.client.create = slow  # type: ignore[method-assign,assignment]
    await create(thing("slow", 1))
    await create(thing("fast", 1))
    await running(world, Sizes(generated=False))
    await world.clock.advance(100)
    assert world.pods() == ["fast-0"]
    await world.clock.advance(10_000)
    assert world.pods() == ["fast-0", "slow-0"]


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_goes_wrong_every_thing_ends_with_its_pods_and_none_was_made_too_many(seed: int) -> None:
    """Late events, broken watches, refused and lost writes, in any order; names are the server's."""
    chance = random.Random(seed)
    world = World()
    create = world.client.create
    wanted: dict[str, int] = {}
    most: dict[str, int] = {}
    too_many: list[str] = []

    async def checked(obj: dict[str, object], *, subresource: str = "") -> dict[str, object]:
        made = await create(obj, subresource=subresource)
        for name, count in counted(world).items():
            too_many.extend([name] if count > most[name] else [])
        return made

    world.client.create = checked  # type: ignore[method-assign,assignment]
    await running(world, Sizes())
    for _ in range(60):
        name = chance.choice("abc")
        match chance.choice(
            ["size"] * 4 + ["fail", "fail", "hold", "deliver", "cut", "compact", "kill", "pass", "pass"]
        ):
            case "size":
                size = chance.randint(0, 4)
                if name in wanted:
                    await world.around.writer.patch(THINGS, "default", name, {"spec": {"size": size}})
                else:
                    await create(thing(name, size))
                wanted[name] = size
                most[name] = max(size, most.get(name, 0))
            case "fail":
                error = chance.choice([ConnectionError("x"), conflict("x", "x"), invalid("X", "x", ())])
                world.client.fail(error, chance.choice(["create", "delete"]), "Pod")
            case "hold":
                world.client.hold()
            case "deliver":
                world.client.deliver(chance.randint(1, 5))
            case "cut":
                world.client.cut(ConnectionError("reset"))
            case "compact":
                world.client.compact()
            case "kill":
                for victim in world.pods()[:1]:
                    world.client.recover()
                    await world.client.delete(PODS, "default", victim)
            case "pass":
                await world.clock.advance(chance.choice([0, 5, 50, 300]))
    world.client.deliver()
    world.client.recover()
    await world.clock.advance(700_000)
    assert counted(world) == Counter(wanted)
    assert too_many == []
    await world.stop()


def counted(world: World) -> Counter[str]:
    """How many pods each thing has on the server."""
    return Counter(obj["metadata"]["ownerReferences"][0]["name"] for obj in world.client.objects(PODS))
