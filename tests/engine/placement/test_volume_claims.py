from __future__ import annotations

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
