"""Volume zone: what the labels of volumes allow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Pod, PodShape, Requirement, VolumeClaim
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins import volume_zone
from kumi.engine.placement.plugins.predicates import Predicates
from kumi.engine.reasons import Code
from kumi.testing.builders import node


def cluster(*claims: VolumeClaim) -> Nodes:
    nodes = Nodes(Journal())
    for name in "abc":
        nodes.put(node(name, {"zone": name}, cpu=1))
    for claim in claims:
        nodes.put_claim(claim)
    return nodes


def claim(key: str, *zones: str) -> VolumeClaim:
    return VolumeClaim(key, zones=((Requirement("zone", "In", zones),),))


def asking(*keys: str) -> Pod:
    return Pod("u", "ns/u", PodShape((), volume_claims=keys), 0)


@given(st.lists(st.sets(st.sampled_from("abc"), min_size=1), max_size=3))
def test_a_node_is_taken_where_all_volumes_are(zones: list[set[str]]) -> None:
    keys = [f"ns/{n}" for n in range(len(zones))]
    nodes = cluster(*(claim(key, *sorted(zone)) for key, zone in zip(keys, zones, strict=True)))
    mask = volume_zone.mask(nodes, asking(*keys).shape)
    found = {name for name in "abc" if mask[nodes.row_by_name[name]]}
    assert found == set("abc").intersection(*zones)


def test_a_claim_without_a_zone_or_that_is_not_there_stands_in_nobodys_way() -> None:
    nodes = cluster(VolumeClaim("ns/a"))
    assert volume_zone.mask(nodes, asking("ns/a", "ns/none").shape).all()


def test_evicting_does_not_help_and_people_are_told() -> None:
    nodes, one = cluster(claim("ns/a", "b")), asking("ns/a")
    fits = Predicates().fits(nodes, one)
    assert [fits[nodes.row_by_name[name]] for name in "abc"] == [Fit.UNRESOLVABLE, Fit.OK, Fit.UNRESOLVABLE]
    assert [(r.code, r.detail, r.nodes) for r in Predicates().refusals(nodes, one)] == [
        (Code.NODE_NOT_MATCHED, "zone", 2)
    ]
    standing = Predicates().standing(nodes, one)
    assert [bool(standing[nodes.row_by_name[name]]) for name in "abc"] == [False, True, False]


def test_its_switch_turns_it_off() -> None:
    nodes, one = cluster(claim("ns/a", "b")), asking("ns/a")
    assert Predicates(zones=False).mask(nodes, one)[nodes.by_name()].all()
    assert Predicates(zones=False).standing(nodes, one)[nodes.by_name()].all()
    assert not Predicates(volumes=False).standing(nodes, one)[nodes.by_name()].all()
