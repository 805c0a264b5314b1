from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Pod, PodShape, VolumeClaim
from kumi.engine.placement.volume_claims import VolumeClaims

SHAPE = PodShape((), volume_claims=("ns/a", "ns/b"))


def test_a_pod_uses_its_claims_while_it_sits_somewhere() -> None:
    claims = VolumeClaims(Journal())
    pod = Pod("u", "ns/p", SHAPE, 0)
    claims.seat(pod, "n1")
    assert claims.users == {"ns/a": {"u": "n1"}, "ns/b": {"u": "n1"}}
    claims.seat(pod, "n2")
    assert claims.users == {"ns/a": {"u": "n2"}, "ns/b": {"u": "n2"}}
    claims.seat(pod, "")
    claims.seat(pod, "")
    assert claims.users == {}


def test_a_change_is_told_from_none() -> None:
    claims = VolumeClaims(Journal())
    assert not claims.put(VolumeClaim("ns/a", "unbound")), "nobody asked"
    claims.looked_at["ns/a"] = None
    assert claims.put(VolumeClaim("ns/a"))
    assert not claims.put(VolumeClaim("ns/a"))
    assert claims.put(VolumeClaim("ns/a", "deleted"))
    claims.remove("ns/a")
    claims.remove("ns/a")
    assert claims.by_key == {}


def test_a_trial_is_taken_back() -> None:
    journal = Journal()
    claims = VolumeClaims(journal)
    pod = Pod("u", "ns/p", SHAPE, 0)
    with journal.trial():
        claims.put(VolumeClaim("ns/a"))
        claims.seat(pod, "n1")
    assert (claims.by_key, claims.users) == ({}, {})
    claims.seat(pod, "n1")
    with journal.trial():
        claims.seat(pod, "")
    assert claims.users == {"ns/a": {"u": "n1"}, "ns/b": {"u": "n1"}}


def on(claims: VolumeClaims, driver: str = "d") -> dict[str, set[str]]:
    """The volumes of a driver on each node."""
    return {node: set(volumes) for node, volumes in claims.attached.get(driver, {}).items()}


def test_a_volume_is_on_a_node_once_whoever_uses_it_there() -> None:
    claims = VolumeClaims(Journal())
    claims.put(VolumeClaim("ns/a", driver="d", handle="v"))
    claims.put(VolumeClaim("ns/b", driver="d", handle="v"))
    first, second = Pod("u", "ns/u", SHAPE, 0), Pod("w", "ns/w", SHAPE, 0)
    claims.seat(first, "n1")
    claims.seat(second, "n1")
    assert on(claims) == {"n1": {"v"}}
    claims.seat(first, "")
    assert on(claims) == {"n1": {"v"}}
    claims.seat(second, "n2")
    assert on(claims) == {"n2": {"v"}}


def test_a_volume_that_is_not_made_yet_goes_by_its_claim_until_it_is() -> None:
    claims = VolumeClaims(Journal())
    claims.put(VolumeClaim("ns/a", driver="d"))
    claims.seat(Pod("u", "ns/u", SHAPE, 0), "n1")
    (known,) = on(claims)["n1"]
    claims.put(VolumeClaim("ns/a", driver="d", handle="v"))
    assert on(claims) == {"n1": {"v"}}
    assert known != "v"
    claims.remove("ns/a")
    assert on(claims) == {}
    claims.put(VolumeClaim("ns/a", driver="d", handle="v"))
    assert on(claims) == {"n1": {"v"}}


STEPS = st.lists(st.tuples(st.sampled_from("uvw"), st.sampled_from(["", "n1", "n2"]), st.booleans()), max_size=12)


@given(STEPS)
def test_what_is_attached_follows_from_who_uses_what(steps: list[tuple[str, str, bool]]) -> None:
    claims, where = VolumeClaims(Journal()), dict[str, str]()
    for uid, node, is_made in steps:
        handle = "v" if is_made else ""
        claims.put(VolumeClaim("ns/a", driver="d", handle=handle))
        claims.seat(Pod(uid, f"ns/{uid}", SHAPE, 0), node)
        where[uid] = node
        wanted = {node: {handle or "claim ns/a"} for node in where.values() if node}
        assert on(claims) == wanted
