from __future__ import annotations

import orjson
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.user import User
from kumi.registry.authorization.decisions import decide
from kumi.registry.authorization.live import PREFIX, LivePolicies
from kumi.registry.authorization.rules import Asked
from kumi.store.memory import MemoryStore
from tests.registry.authorization.made import binding, role, rule

ANN = User("ann")
PODS = Asked("list", "", "pods", "team")
ROLE, BINDING = f"{PREFIX}clusterroles//r", f"{PREFIX}rolebindings/team/b"
VALUES = {
    ROLE: orjson.dumps(role(rule("list", "pods"))),
    BINDING: orjson.dumps(binding("User ann", namespace="team")),
}


@given(st.lists(st.tuples(st.sampled_from([ROLE, BINDING, "/core/pods/team/p"]), st.booleans(), st.booleans())))
async def test_an_answer_counts_with_every_write_before_it(steps: list[tuple[str, bool, bool]]) -> None:
    store = MemoryStore()
    live, there = LivePolicies(store), set()
    for key, makes, asks in steps:
        if makes or key in there:
            await store.put(key, VALUES.get(key, b"{}") if makes else None)
            (there.add if makes else there.discard)(key)
        if asks:
            assert decide(live.now(), ANN, PODS).allowed == (ROLE in there and BINDING in there)
    await store.close()


async def test_what_was_there_before_counts() -> None:
    store = MemoryStore()
    for key, value in VALUES.items():
        await store.put(key, value)
    assert decide(LivePolicies(store).now(), ANN, PODS).allowed


async def test_a_watch_that_was_cut_off_is_begun_again() -> None:
    store = MemoryStore(bound=3)
    live = LivePolicies(store)
    live.now()
    for number in range(5):
        await store.put(f"{PREFIX}clusterroles//r{number}", VALUES[ROLE])
    for key, value in VALUES.items():
        await store.put(key, value)
    assert decide(live.now(), ANN, PODS).allowed
    await store.put(BINDING, None)
    assert not decide(live.now(), ANN, PODS).allowed


async def test_a_role_of_a_namespace_is_not_the_clusters() -> None:
    store = MemoryStore()
    await store.put(f"{PREFIX}roles/team/r", orjson.dumps(role(rule("list", "pods"), namespace="team")))
    await store.put(f"{PREFIX}clusterrolebindings//b", orjson.dumps(binding("User ann")))
    live = LivePolicies(store)
    assert not decide(live.now(), ANN, PODS).allowed
    bound = binding("User ann", namespace="team", kind="Role")
    await store.put(f"{PREFIX}rolebindings/team/b", orjson.dumps(bound))
    assert decide(live.now(), ANN, PODS).allowed
    await store.put(f"{PREFIX}roles/team/r", None)
    assert not decide(live.now(), ANN, PODS).allowed
