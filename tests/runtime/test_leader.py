"""Leader election: never two at once, never nobody for long."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject
from kumi.runtime.leader import Action, Election, Leader, Seen, body_of, decide
from kumi.testing.clock import START_MS, VirtualClock
from kumi.testing.fake_client import FakeClient

from .kinds import KINDS, LEASES

ME = Election("kumi", "main", "me")


def lease(holder: str | None, seconds: int = 15, transitions: int = 3) -> JsonObject:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": seconds, "leaseTransitions": transitions}
    return {"metadata": {"namespace": "kumi", "name": "main", "resourceVersion": "7"}, "spec": spec}


@pytest.mark.parametrize(
    ("seen", "now_ms", "action"),
    [
        (None, 0, Action.MAKE),
        (Seen(lease("me"), 0), 99_000, Action.RENEW),
        (Seen(lease(""), 0), 0, Action.TAKE),
        (Seen(lease(None), 0), 0, Action.TAKE),
        (Seen({"metadata": {"resourceVersion": "7"}}, 0), 0, Action.TAKE),
        (Seen(lease("other"), 1_000), 15_999, Action.WAIT),
        (Seen(lease("other"), 1_000), 16_000, Action.TAKE),
    ],
)
def test_one_look_leads_to_one_action(seen: Seen | None, now_ms: int, action: Action) -> None:
    assert decide(seen, "me", now_ms) is action


@given(st.integers(0, 60_000), st.integers(1, 60), st.integers(0, 120_000))
def test_a_lease_of_another_is_taken_only_after_its_whole_duration(since: int, seconds: int, later: int) -> None:
    taken = decide(Seen(lease("other", seconds), since), "me", since + later) is Action.TAKE
    assert taken == (later >= seconds * 1000)


def test_who_makes_takes_or_renews_writes_the_fields_that_others_read() -> None:
    at = "2026-01-01T00:00:00.000000Z"
    fresh = {"holderIdentity": "me", "leaseDurationSeconds": 15, "acquireTime": at, "renewTime": at}
    assert body_of(Action.MAKE, None, ME, START_MS) == {
        "metadata": {"namespace": "kumi", "name": "main"}, "spec": {**fresh, "leaseTransitions": 0},
    }  # fmt: skip
    taken = body_of(Action.TAKE, Seen(lease("other"), 0), ME, START_MS)
    assert taken == {"metadata": {"resourceVersion": "7"}, "spec": {**fresh, "leaseTransitions": 4}}
    renewed = body_of(Action.RENEW, Seen(lease("me"), 0), ME, START_MS)
    assert renewed == {"metadata": {"resourceVersion": "7"}, "spec": {"renewTime": at}}


@pytest.mark.parametrize("times", [(15_000, 15_000, 2_000), (15_000, 10_000, 10_000), (15_000, 10_000, 0)])
def test_times_that_would_let_two_lead_are_refused(times: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="retry < renew deadline < lease duration"):
        Leader(FakeClient(KINDS), LEASES, VirtualClock(), Election("kumi", "main", "me", *times))


class Broken:
    """A client whose connection can be down, or hang."""

    def __init__(self, client: FakeClient) -> None:
        self.client = client
        self.state = "up"

    async def _through(self) -> None:
        if self.state == "hangs":
            await asyncio.Event().wait()
        if self.state == "down":
            raise ConnectionError("no route")

    async def get(self, *args: Any) -> JsonObject:
        await self._through()
        return await self.client.get(*args)

    async def create(self, *args: Any) -> JsonObject:
        await self._through()
        return await self.client.create(*args)

    async def patch(self, *args: Any) -> JsonObject:
        await self._through()
        return await self.client.patch(*args)


@dataclass
class Stage:
    """Candidates for one lease, and who works when."""

    client: FakeClient = field(default_factory=lambda: FakeClient(KINDS))
    clock: VirtualClock = field(default_factory=VirtualClock)
    working: list[str] = field(default_factory=list)
    most: int = 0
    lost: list[str] = field(default_factory=list)
    lines: dict[str, Broken] = field(default_factory=dict)
    leaders: dict[str, Leader] = field(default_factory=dict)
    tasks: dict[str, asyncio.Future[None]] = field(default_factory=dict)

    def enter(self, name: str) -> None:
        self.lines[name] = Broken(self.client)
        election = Election("kumi", "main", name)
        self.leaders[name] = Leader(self.lines[name], LEASES, self.clock, election)  # type: ignore[arg-type]
        self.tasks[name] = asyncio.ensure_future(self.candidate(name))

    async def candidate(self, name: str) -> None:
        async def work() -> None:
            self.working.append(name)
            self.most = max(self.most, len(self.working))
            try:
                await asyncio.Event().wait()
            finally:
                self.working.remove(name)

        while True:
            await self.leaders[name].hold(work, lambda: self.lost.append(name))

    async def leave(self, name: str) -> None:
        self.tasks[name].cancel()
        await asyncio.gather(self.tasks.pop(name), return_exceptions=True)

    def spec(self) -> JsonObject:
        (found,) = self.client.objects(LEASES)
        spec: JsonObject = found["spec"]
        return spec


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    yield stage
    for name in list(stage.tasks):
        stage.lines[name].state = "up"
        await stage.leave(name)


async def test_the_first_leads_and_renews_and_the_others_wait(stage: Stage) -> None:
    for name in ("a", "b", "c"):
        stage.enter(name)
    await stage.clock.advance(60_000)
    assert stage.working == ["a"]
    assert stage.leaders["a"].leads
    assert not stage.leaders["b"].leads
    assert stage.spec()["acquireTime"] == "2026-01-01T00:00:00.000000Z"
    assert stage.spec()["renewTime"] == "2026-01-01T00:01:00.000000Z"
    assert stage.lost == []


async def test_a_leader_that_leaves_gives_the_lease_back_and_the_next_does_not_wait_for_its_end(stage: Stage) -> None:
    stage.enter("a")
    await stage.clock.advance(1_000)
    stage.enter("b")
    await stage.clock.advance(1_000)
    await stage.leave("a")
    assert stage.spec()["holderIdentity"] == ""
    await stage.clock.advance(2_000)
    assert stage.working == ["b"]
    assert stage.spec()["leaseTransitions"] == 1


async def test_a_leader_that_dies_is_followed_after_the_lease_is_over_and_not_before(stage: Stage) -> None:
    await stage.client.create({"apiVersion": LEASES.api_version, "kind": "Lease", **lease("dead")})
    stage.enter("b")
    await stage.clock.advance(14_999)
    assert stage.working == []
    await stage.clock.advance(2_000)
    assert stage.working == ["b"]


@pytest.mark.parametrize("state", ["down", "hangs"])
async def test_a_leader_that_can_not_renew_stops_before_another_starts(stage: Stage, state: str) -> None:
    stage.enter("a")
    await stage.clock.advance(1_000)
    stage.enter("b")
    await stage.clock.advance(4_000)
    stage.lines["a"].state = state
    await stage.clock.advance(13_000)
    assert stage.working == []
    assert stage.lost == ["a"]
    await stage.clock.advance(10_000)
    assert stage.working == ["b"]
    stage.lines["a"].state = "up"
    await stage.clock.advance(60_000)
    assert stage.working == ["b"]
    assert stage.most == 1


async def test_a_short_break_is_no_loss(stage: Stage) -> None:
    stage.enter("a")
    await stage.clock.advance(5_000)
    stage.lines["a"].state = "down"
    await stage.clock.advance(8_000)
    stage.lines["a"].state = "up"
    await stage.clock.advance(60_000)
    assert stage.working == ["a"]
    assert stage.lost == []


async def test_a_lease_that_another_took_is_lost_at_the_next_look(stage: Stage) -> None:
    stage.enter("a")
    await stage.clock.advance(1_000)
    await stage.client.patch(LEASES, "kumi", "main", {"spec": {"holderIdentity": "thief"}})
    await stage.clock.advance(2_000)
    assert stage.working == []
    assert stage.lost == ["a"]
    assert stage.spec()["holderIdentity"] == "thief"


async def test_a_lease_that_was_deleted_is_made_again(stage: Stage) -> None:
    stage.enter("a")
    await stage.clock.advance(1_000)
    await stage.client.delete(LEASES, "kumi", "main")
    await stage.clock.advance(2_000)
    assert stage.working == ["a"]
    assert stage.spec()["holderIdentity"] == "a"


async def test_when_the_work_is_over_the_lease_is_given_back_and_its_error_is_told() -> None:
    client, clock = FakeClient(KINDS), VirtualClock()

    async def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Leader(client, LEASES, clock, ME).hold(work)
    assert client.objects(LEASES)[0]["spec"]["holderIdentity"] == ""


async def test_a_server_that_refuses_is_asked_again() -> None:
    client, clock = FakeClient(KINDS), VirtualClock()
    client.fail(ApiError(500, "InternalError", "oh"), times=2)
    worked = asyncio.Event()

    async def work() -> None:
        worked.set()

    task = asyncio.ensure_future(Leader(client, LEASES, clock, ME).hold(work))
    await clock.advance(4_000)
    assert worked.is_set()
    await task


@pytest.mark.parametrize("seed", range(10))
async def test_whatever_breaks_no_two_work_at_once_and_somebody_does_in_the_end(stage: Stage, seed: int) -> None:
    chance = random.Random(seed)
    names = ["a", "b", "c"]
    for name in names:
        stage.enter(name)
    for _ in range(60):
        name = chance.choice(names)
        match chance.choice(["down", "hangs", "up", "up", "lose", "restart", "pass", "pass", "pass"]):
            case "lose":
                stage.client.fail(ConnectionError("x"), "patch", done=True)
            case "restart":
                stage.lines[name].state = "up"
                await stage.leave(name)
                stage.enter(name)
            case "pass":
                await stage.clock.advance(chance.choice([500, 2_000, 9_000, 20_000]))
            case state:
                stage.lines[name].state = state
    stage.client.recover()
    for name in names:
        stage.lines[name].state = "up"
    await stage.clock.advance(60_000)
    assert stage.most == 1
    assert len(stage.working) == 1
