"""Pods that say something of each other, and small clusters for them: strategies, and terms in a line each.

here("app", "a")             a term about pods with app=a on one host; zone("app", "a"): in one zone
clusters()                   nodes of a few zones, some without labels
looking()                    pods that look at others, ns/p<number>; placed(): where some of them are already
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from kumi.engine.model import HostPort, Neighbours, Node, Pod, PodShape, PodTerm, Requirement, SpreadTerm
from kumi.testing.builders import amounts

HOST, ZONE = "kubernetes.io/hostname", "zone"
APPS = ("a", "b")
selectors = st.sampled_from(
    [
        None,
        (),
        (Requirement("app", "In", ("a",)),),
        (Requirement("app", "In", ("a", "b")),),
        (Requirement("app", "NotIn", ("a",)),),
        (Requirement("tier", "Exists"),),
    ]
)
spaces = st.sampled_from([((), None), (("other",), None), ((), ()), ((), (Requirement("team", "In", ("x",)),))])
keys = st.sampled_from([HOST, ZONE, ZONE, "none"])


def about(key: str, label: str, value: str) -> PodTerm:
    """A term about pods with that label, in the domain of that key."""
    return PodTerm(key, (Requirement(label, "In", (value,)),))


def here(label: str, value: str) -> PodTerm:
    """On one host."""
    return about(HOST, label, value)


def zone(label: str, value: str) -> PodTerm:
    """In one zone."""
    return about(ZONE, label, value)


@st.composite
def terms(draw: st.DrawFn) -> PodTerm:
    """Any term."""
    namespaces, selector = draw(spaces)
    return PodTerm(draw(keys), draw(selectors), namespaces, selector)


@st.composite
def spreads(draw: st.DrawFn) -> SpreadTerm:
    """Any constraint."""
    return SpreadTerm(
        draw(keys),
        draw(selectors),
        draw(st.integers(1, 2)),
        draw(st.booleans()),
        draw(st.integers(1, 3)),
        draw(st.booleans()),
        draw(st.booleans()),
    )


def _some(one: st.SearchStrategy[PodTerm]) -> st.SearchStrategy[tuple[PodTerm, ...]]:
    return st.lists(one, max_size=2).map(tuple)


neighbours = st.builds(
    Neighbours,
    _some(terms()),
    _some(terms()),
    st.lists(st.tuples(st.integers(1, 3), terms()), max_size=2).map(tuple),
    st.lists(st.tuples(st.integers(1, 3), terms()), max_size=2).map(tuple),
    st.lists(spreads(), max_size=2).map(tuple),
)
ports = st.lists(
    st.builds(
        HostPort, st.sampled_from([80, 81]), st.sampled_from(["TCP", "UDP"]), st.sampled_from(["0.0.0.0", "10.0.0.1"])
    ),
    max_size=2,
    unique=True,
).map(tuple)
labels = st.sampled_from([(), (("app", "a"),), (("app", "b"),), (("app", "a"), ("tier", "1"))])


@st.composite
def looking(draw: st.DrawFn, most: int = 6) -> list[Pod]:
    """Pods, some of which look at others."""
    made = []
    for number in range(draw(st.integers(1, most))):
        shape = PodShape(
            amounts(cpu=draw(st.integers(0, 2))),
            node_selector=draw(st.sampled_from([(), (), ((ZONE, "z0"),)])),
            neighbours=draw(st.none() | neighbours),
            ports=draw(st.sampled_from([()]) | ports),
            scored=draw(st.sampled_from([None, (500, 10)])),
        )
        space = draw(st.sampled_from(["ns", "ns", "other"]))
        leaving = draw(st.sampled_from([False, False, True]))
        made.append(Pod(f"u{number}", f"{space}/p{number}", shape, number, labels=draw(labels), terminating=leaving))
    return made


@st.composite
def clusters(draw: st.DrawFn) -> list[Node]:
    """Nodes, most of them with a host name and a zone."""
    made = []
    for number in range(draw(st.integers(1, 5))):
        told = draw(st.sampled_from([True, True, True, False]))
        at = ((HOST, f"n{number}"), (ZONE, f"z{draw(st.integers(0, 1))}")) if told else ()
        made.append(Node(f"n{number}", at, amounts(cpu=draw(st.integers(1, 6)), pods=110)))
    return made


def places(nodes: Sequence[Node], count: int) -> st.SearchStrategy[list[str]]:
    """For each of so many pods a node, or none."""
    return st.lists(st.sampled_from(["", *(n.name for n in nodes)]), min_size=count, max_size=count)
