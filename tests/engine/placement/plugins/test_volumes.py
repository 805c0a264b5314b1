"""Where a pod finds its volumes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Exclusive, Node, Pod, PodShape, Requirement, VolumeClaim
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins import volumes
from kumi.engine.placement.plugins.predicates import Predicates
from kumi.engine.reasons import Code

NAMES = ("n1", "n2", "n3")
SHAPE = PodShape((), volume_claims=("ns/a",))


def cluster(*claims: VolumeClaim) -> Nodes:
    nodes = Nodes(Journal())
    for name in NAMES:
        nodes.put(Node(name, (("host", name),), (("pods", 10_000),)))
    for claim in claims:
        nodes.put_claim(claim)
    return nodes


def on(*names: str) -> tuple[tuple[Requirement, ...], ...]:
    return ((Requirement("host", "In", names),),)


def taking(nodes: Nodes, shape: PodShape = SHAPE) -> set[str]:
    mask = Predicates().mask(nodes, Pod("", "ns/p", shape, 0))
    return {name for name in NAMES if mask[nodes.row_by_name[name]]}


def use(nodes: Nodes, claim: str, node: str, uid: str = "u") -> None:
    nodes.volume_claims.seat(Pod(uid, f"ns/{uid}", PodShape((), volume_claims=(claim,)), 0), node)


SETS = st.none() | st.sets(st.sampled_from(NAMES))
CLAIMS = st.lists(
    st.tuples(SETS, st.sampled_from(list(Exclusive)), st.sets(st.sampled_from(NAMES)), st.booleans()), max_size=3
)


@given(CLAIMS)
def test_a_node_is_taken_when_every_claim_lets_it(
    given_claims: list[tuple[set[str] | None, Exclusive, set[str], bool]],
) -> None:
    nodes = cluster()
    wanted = {*NAMES}
    for number, (reach, exclusive, used_on, waits) in enumerate(given_claims):
        key = f"ns/{number}"
        terms = None if reach is None else on(*sorted(reach))
        nodes.put_claim(VolumeClaim(key, "unbound" if waits else "", terms, exclusive))
        for name in sorted(used_on):
            use(nodes, key, name, f"{number}-{name}")
        wanted &= {*NAMES} if reach is None else reach
        if waits or (exclusive is Exclusive.POD and used_on):
            wanted = set()
        if exclusive is Exclusive.NODE and used_on:
            wanted &= used_on
    shape = PodShape((), volume_claims=tuple(f"ns/{n}" for n in range(len(given_claims))))
    assert taking(nodes, shape) == wanted


def test_a_claim_that_is_not_there_or_not_ready_says_which_it_is() -> None:
    reason = volumes.refusal(cluster(), SHAPE)
    assert reason is not None
    assert (reason.code, reason.where) == (Code.CLAIM_NOT_FOUND, "ns/a")
    reason = volumes.refusal(cluster(VolumeClaim("ns/a", "deleted")), SHAPE)
    assert reason is not None
    assert (reason.code, reason.detail) == (Code.CLAIM_NOT_READY, "deleted")


def test_a_volume_of_one_pod_is_free_when_that_pod_is_gone() -> None:
    nodes = cluster(VolumeClaim("ns/a", exclusive=Exclusive.POD))
    use(nodes, "ns/a", "n1")
    (reason,) = Predicates().refusals(nodes, Pod("", "ns/p", SHAPE, 0))
    assert reason.code is Code.CLAIM_IN_USE
    use(nodes, "ns/a", "")
    assert taking(nodes) == {*NAMES}


def test_a_change_of_a_claim_is_a_gain_for_every_node() -> None:
    nodes = cluster(VolumeClaim("ns/a", "unbound"))
    assert taking(nodes) == set()
    before = nodes.changed
    nodes.put_claim(VolumeClaim("ns/a", "unbound"))
    assert nodes.changed == before
    nodes.put_claim(VolumeClaim("ns/a"))
    assert {*nodes.gained_since(before).tolist()} == {nodes.row_by_name[name] for name in NAMES}


def test_nodes_that_do_not_reach_it_and_those_that_are_not_its_own_are_counted() -> None:
    nodes = cluster(VolumeClaim("ns/a", nodes=on("n1", "n2"), exclusive=Exclusive.NODE))
    nodes.put(Node("n1", (("host", "n1"),), (("pods", 0),)))
    use(nodes, "ns/a", "n1")
    found = Predicates().refusals(nodes, Pod("", "ns/p", SHAPE, 0))
    assert [(r.code, r.detail, r.nodes) for r in found][:2] == [
        (Code.NODE_NOT_MATCHED, "volume", 1),
        (Code.NODE_NOT_MATCHED, "volume in use", 1),
    ]
    assert found[2].code is Code.NODE_TOO_SMALL


def test_where_every_volume_can_be_reached() -> None:
    nodes = cluster(VolumeClaim("ns/a", "deleted", on("n2")))
    assert {n for n in NAMES if volumes.reached(nodes, SHAPE)[nodes.row_by_name[n]]} == {"n2"}
