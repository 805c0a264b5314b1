"""Volume limits: a node never gets more volumes of a driver than it takes."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.decisions import Bind, EvictPod
from kumi.engine.gangs import Member, PodGroup, Queue
from kumi.engine.journal import Journal
from kumi.engine.model import Noun, Pod, PodShape, Put, Remove, VolumeClaim, VolumeLimits
from kumi.engine.placement import session
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins import volume_limits
from kumi.engine.placement.plugins.predicates import Predicates
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import amounts, node

KEYS = [f"ns/{n}" for n in range(5)]
HANDLES = dict(zip(KEYS, ["v", "v", "w", "x", ""], strict=True))


def asking(uid: str, *keys: str, **fields: object) -> Pod:
    return replace(Pod(uid, f"ns/{uid}", PodShape(amounts(cpu=1), volume_claims=keys), 0), **fields)


def cluster(most: int | None) -> Nodes:
    nodes = Nodes(Journal())
    nodes.put(node("a", cpu=9))
    nodes.put(node("b", cpu=9))
    if most is not None:
        nodes.put_fact(VolumeLimits("a", (("d", most),)))
    for key, handle in HANDLES.items():
        nodes.put_claim(VolumeClaim(key, driver="d", handle=handle))
    nodes.put_claim(VolumeClaim("ns/other", driver="e", handle="v"))
    nodes.put_claim(VolumeClaim("ns/none"))
    return nodes


@given(st.none() | st.integers(0, 4), st.lists(st.sampled_from(KEYS), unique=True), st.sets(st.sampled_from(KEYS)))
def test_a_node_takes_a_pod_when_its_new_volumes_are_within_the_most(
    most: int | None, there: list[str], asked: set[str]
) -> None:
    nodes = cluster(most)
    nodes.volume_claims.seat(asking("there", *there), "a")
    mask = volume_limits.mask(nodes, asking("u", *sorted(asked)).shape)
    used, wanted = ({HANDLES[key] or key for key in keys} for keys in (there, asked))
    fits = most is None or not wanted - used or len(used | wanted) <= most
    assert (mask is None or bool(mask[nodes.row_by_name["a"]])) is fits
    assert mask is None or mask[nodes.row_by_name["b"]]


def test_nothing_is_asked_where_no_node_says_a_most_or_no_claim_has_a_driver() -> None:
    assert volume_limits.mask(cluster(None), asking("u", *KEYS).shape) is None
    assert volume_limits.mask(cluster(0), asking("u", "ns/none", "ns/missing").shape) is None


def test_drivers_count_each_for_itself() -> None:
    nodes = cluster(0)
    mask = volume_limits.mask(nodes, asking("u", "ns/other").shape)
    assert mask is not None
    assert mask[nodes.row_by_name["a"]]
    nodes.drop_fact(VolumeLimits, "a")
    assert volume_limits.mask(nodes, asking("u", *KEYS).shape) is None


def test_evicting_may_help_and_people_are_told() -> None:
    nodes, one = cluster(0), asking("u", KEYS[0])
    assert Predicates().fits(nodes, one)[nodes.row_by_name["a"]] == Fit.UNSCHEDULABLE
    assert Predicates().standing(nodes, one)[nodes.row_by_name["a"]]
    assert Predicates(limits=False).fits(nodes, one)[nodes.row_by_name["a"]] == Fit.OK
    said = Predicates().refusals(nodes, one)
    assert [(r.code, r.detail, r.nodes) for r in said] == [(Code.NODE_NOT_MATCHED, "volume limit", 1)]


# what comes of it


def state_of(*nouns: Noun) -> State:
    state = State()
    for noun in (Queue("default"), node("a", cpu=9), VolumeLimits("a", (("d", 1),)), *nouns):
        state.apply(Put(noun))
    for key in KEYS:
        state.apply(Put(VolumeClaim(key, driver="d", handle=key)))
    return state


def binds(state: State) -> list[str]:
    decided = session.decide(state, 0)
    invariants.check(state)
    return [decision.pod for decision in decided if isinstance(decision, Bind)]


def test_a_pod_waits_for_a_volume_to_leave_or_the_node_to_take_more() -> None:
    state = state_of(
        asking("one", KEYS[0]), asking("two", KEYS[1], created_ms=1), asking("three", KEYS[2], created_ms=2)
    )
    assert binds(state) == ["one"]
    state.apply(Remove(Pod, "one"))
    assert binds(state) == ["two"]
    state.apply(Put(VolumeLimits("a", (("d", 2),))))
    assert binds(state) == ["three"]


def test_a_gang_is_placed_within_them_or_not_at_all() -> None:
    group = PodGroup("ns/g", "default", uid="g", least=2)
    pods = [asking(f"g{n}", KEYS[n], member=Member(group="ns/g")) for n in range(2)]
    state = state_of(group, *pods)
    assert binds(state) == []
    state.apply(Put(VolumeLimits("a", (("d", 2),))))
    assert sorted(binds(state)) == ["g0", "g1"]


def test_a_pod_that_matters_more_makes_one_volume_leave() -> None:
    running = asking("low", KEYS[0], node="a", phase="Running")
    state = state_of(running, asking("high", KEYS[1], priority=9))
    decided = session.decide(state, 0)
    assert [decision.pod for decision in decided if isinstance(decision, EvictPod)] == ["low"]
