"""Tokens of running pods are renewed before they end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.meta import format_time
from kumi.kubelet import mounts, tokens, volumes
from kumi.kubelet.environment import Facts, Sources
from kumi.kubelet.tokens import DAY_MS, RETRY_MS, Token
from kumi.testing.clock import START_MS, VirtualClock
from tests.kubelet.stage import Cluster, container, eventually, pod

SOURCES = [
    {"serviceAccountToken": {"path": "token", "expirationSeconds": 1000}},
    {"serviceAccountToken": {"path": "vault/token", "audience": "vault", "expirationSeconds": 5000}},
    {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
]
POD = pod(
    "p",
    container("x"),
    volumes=[{"name": "given", "projected": {"sources": SOURCES, "defaultMode": 0o440}}, {"name": "e", "emptyDir": {}}],
    meta={"uid": "u"},
)


class Issuer:
    """Makes tokens `<audience>-<number>` that live as long as was asked; `fails`: so many times it doesn't answer."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock, self.made, self.fails = clock, 0, 0
        self.asked: list[Any] = []

    async def create(self, body: Any, subresource: str = "") -> Any:
        assert subresource == "token"
        self.asked.append((self.clock.now_ms() - START_MS, body))
        if self.fails:
            self.fails -= 1
            raise ApiError(503, "ServiceUnavailable", "not now")
        self.made += 1
        spec = body["spec"]
        ends = format_time(self.clock.now_ms() + spec["expirationSeconds"] * 1000)
        token = f"{'+'.join(spec['audiences']) or 'api'}-{self.made}"
        return {"status": {"token": token, "expirationTimestamp": ends}}


class Stand:
    """A pod's volumes, and what renews the tokens in them."""

    def __init__(self, home: Path) -> None:
        self.clock = VirtualClock()
        self.issuer = Issuer(self.clock)
        self.home = home
        self.pod: Any = POD

    async def prepare(self) -> dict[tokens.Asked, Token]:
        found = await tokens.ask(self.issuer, POD, volumes.tokens_of(POD), self.clock.now_ms())  # type: ignore[arg-type]
        volumes.provide(POD, self.home, Sources(tokens=tokens.texts_of(found)), Facts(POD))
        return found

    @contextlib.asynccontextmanager
    async def renewing(self, found: dict[tokens.Asked, Token]) -> AsyncIterator[asyncio.Task[None]]:
        keep = tokens.keep(self.issuer, self.clock, lambda: self.pod, self.home, found)  # type: ignore[arg-type]
        task = asyncio.create_task(keep)
        yield task
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    def read(self) -> tuple[str, str]:
        place = self.home / "given"
        return (place / "token").read_text(), (place / "vault" / "token").read_text()


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path)


@given(st.integers(0, 10**12), st.integers(0, 10 * DAY_MS))
def test_a_token_is_due_while_a_fifth_of_its_life_is_left_or_more(made_ms: int, life_ms: int) -> None:
    due = tokens.due_ms(made_ms, made_ms + life_ms)
    assert made_ms <= due <= made_ms + min(life_ms * 0.8, DAY_MS)
    assert due >= made_ms + min(life_ms * 0.8, DAY_MS) - 1


async def test_tokens_are_bound_to_the_pod(stand: Stand) -> None:
    await stand.prepare()
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
    assert [body["spec"]["boundObjectRef"] for _, body in stand.issuer.asked] == [bound, bound]
    assert [body["metadata"]["name"] for _, body in stand.issuer.asked] == ["default", "default"]
    assert stand.read() == ("api-1", "vault-2")


async def test_they_are_renewed_when_the_first_is_due_and_again(stand: Stand) -> None:
    async with stand.renewing(await stand.prepare()):
        await stand.clock.advance(799_999)
        assert stand.read() == ("api-1", "vault-2")
        await stand.clock.advance(1)
        assert stand.read() == ("api-3", "vault-4")
        await stand.clock.advance(800_000)
        assert stand.read() == ("api-5", "vault-6")
    assert (stand.home / "given" / "name").read_text() == "p"
    assert (stand.home / "given" / "token").stat().st_mode & 0o777 == 0o440


async def test_who_has_the_file_open_reads_the_old_token_to_its_end(stand: Stand) -> None:
    async with stand.renewing(await stand.prepare()):
        with (stand.home / "given" / "token").open() as file:
            await stand.clock.advance(800_000)
            assert file.read() == "api-1"
    assert sorted(p.name for p in (stand.home / "given").iterdir()) == ["name", "token", "vault"]


async def test_those_of_a_pod_that_was_taken_over_are_renewed_at_once(stand: Stand) -> None:
    await stand.prepare()
    async with stand.renewing({}):
        await stand.clock.advance()
        assert stand.read() == ("api-3", "vault-4")


async def test_while_nobody_gives_tokens_the_old_ones_stay_and_it_is_tried_again(stand: Stand) -> None:
    found = await stand.prepare()
    stand.issuer.fails = 3
    async with stand.renewing(found):
        await stand.clock.advance(800_000)
        assert stand.read() == ("api-1", "vault-2")
        await stand.clock.advance(7 * RETRY_MS)
        assert stand.read() == ("api-3", "vault-4")
    assert [at for at, _ in stand.issuer.asked[2:5]] == [800_000, 800_000 + RETRY_MS, 800_000 + 3 * RETRY_MS]


async def test_it_ends_with_the_pod(stand: Stand) -> None:
    async with stand.renewing(await stand.prepare()) as task:
        stand.pod = None
        await stand.clock.advance(800_000)
        assert task.done()
    assert stand.issuer.made == 2


@pytest.mark.process
async def test_a_running_container_sees_its_new_token_also_after_a_restart_of_kumi(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cluster.machine.isolation == mounts.NONE:
        pytest.skip("not run: this machine lets nobody mount")
    made = 0

    async def ask(_: Any, __: Any, asked: Any, now_ms: int) -> dict[tokens.Asked, Token]:
        nonlocal made
        made += 1
        return {one: Token(f"t{made}", now_ms + (200 if made == 1 else DAY_MS)) for one in asked}

    monkeypatch.setattr(tokens, "ask", ask)
    source = {"serviceAccountToken": {"path": "token"}}
    script = "cat /t/token; for t in t2 t3; do until grep -q $t /t/token; do sleep 0.02; done; cat /t/token; done"
    run = container(script, volumeMounts=[{"name": "t", "mountPath": "/t"}])
    volumes = [{"name": "t", "projected": {"sources": [source]}}]
    await cluster.run(pod("p", run, volumes=volumes))
    found = await cluster.phase("p", "Running")
    await eventually(lambda: made == 2, "it is renewed")
    for _ in range(1000):
        if (await cluster.log("p")) == "t1t2":
            break
        await cluster.clock.sleep_ms(10)
    await cluster.crash()
    await cluster.start()
    await cluster.phase("p", "Succeeded")
    assert await cluster.log("p") == "t1t2t3"
    assert found["metadata"]["name"] == "p"
