from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kumi.api.meta import OwnerReference
from kumi.api.scheme import load
from kumi.controllers.ownership import ABSENT_MS, Graph, Owned, Owner
from kumi.testing.view import decoded

from .made import NOW_MS, at, namespace, node, pod

uids = st.sampled_from([f"uid-{c}" for c in "abcd"])


def reference(uid: str, kind: str = "Pod", version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "name": uid.removeprefix("uid-"), "uid": uid}


def put(graph: Graph, name: str, *owners: str, **fields: Any) -> Owned:
    return graph.put(decoded(pod(name, ownerReferences=[reference(owner) for owner in owners], **fields)))


@given(st.lists(st.tuples(st.booleans(), uids, st.lists(uids, max_size=2, unique=True)), max_size=12))
def test_dependents_are_those_that_are_there_and_name_the_owner(changes: list[tuple[bool, str, list[str]]]) -> None:
    graph = Graph(load())
    for there, uid, owners in changes:
        if there:
            put(graph, uid.removeprefix("uid-"), *owners)
        else:
            graph.remove(uid)
    for uid in {u for _, u, _ in changes}:
        expected = sorted(o.uid for o in graph.objects.values() if any(r.uid == uid for r in o.owners))
        assert sorted(d.uid for d in graph.dependents_of(uid)) == expected


def owner_of(graph: Graph, dependent: Owned, now_ms: int = NOW_MS) -> Owner:
    return graph.owner(dependent.owners[0], dependent, now_ms)


def test_an_owner_that_is_there_is_solid() -> None:
    graph = Graph(load())
    put(graph, "a")
    assert owner_of(graph, put(graph, "b", "uid-a")) is Owner.SOLID


def test_one_that_waits_for_its_dependents_is_waiting() -> None:
    graph = Graph(load())
    put(graph, "a", deletionTimestamp=at(0), finalizers=["foregroundDeletion"])
    assert owner_of(graph, put(graph, "b", "uid-a")) is Owner.WAITING


def test_one_that_was_seen_to_go_is_absent_at_once() -> None:
    graph = Graph(load())
    put(graph, "a")
    dependent = put(graph, "b", "uid-a")
    graph.remove("uid-a")
    assert owner_of(graph, dependent) is Owner.ABSENT


def test_an_unknown_one_is_uncertain_for_a_while() -> None:
    graph = Graph(load())
    dependent = put(graph, "b", "uid-a")
    assert owner_of(graph, dependent) is Owner.UNCERTAIN
    assert owner_of(graph, dependent, NOW_MS + ABSENT_MS - 1) is Owner.UNCERTAIN
    assert owner_of(graph, dependent, NOW_MS + ABSENT_MS) is Owner.ABSENT


def test_an_unknown_one_that_comes_is_solid() -> None:
    graph = Graph(load())
    dependent = put(graph, "b", "uid-a")
    owner_of(graph, dependent)
    put(graph, "a")
    assert owner_of(graph, dependent, NOW_MS + ABSENT_MS) is Owner.SOLID


def test_an_owner_of_a_kind_that_nobody_watches_is_solid() -> None:
    graph = Graph(load())
    dependent = put(graph, "b", "uid-a")
    foreign = OwnerReference(api_version="example.com/v1", kind="Thing", name="x", uid="y")
    assert graph.owner(foreign, dependent, NOW_MS) is Owner.SOLID


def test_an_owner_in_another_namespace_is_absent_and_a_cluster_wide_one_is_not() -> None:
    graph = Graph(load())
    graph.put(decoded(pod("a", namespace="elsewhere")))
    graph.put(decoded(node("n")))
    assert owner_of(graph, put(graph, "b", "uid-a")) is Owner.ABSENT
    made = graph.put(decoded(pod("c", ownerReferences=[reference("uid-n", "Node")])))
    assert owner_of(graph, made) is Owner.SOLID


def test_nothing_is_kept_of_what_went_without_dependents() -> None:
    graph = Graph(load())
    graph.put(decoded(namespace("x")))
    graph.remove("uid-x")
    put(graph, "b", "uid-a")
    owner_of(graph, graph.objects["uid-b"])
    graph.remove("uid-b")
    assert (graph.objects, graph.dependents, graph.gone, graph.unknown_ms) == ({}, {}, {}, {})


def test_a_watch_that_has_come_to_the_dependents_revision_tells_at_once_and_one_that_has_not_never_does() -> None:
    graph = Graph(load())
    dependent = put(graph, "b", "uid-a", resourceVersion="7")
    graph.seen["", "Pod"] = "6"
    assert owner_of(graph, dependent, NOW_MS + 100 * ABSENT_MS) is Owner.UNCERTAIN
    graph.seen["", "Pod"] = "7"
    assert owner_of(graph, dependent) is Owner.ABSENT


def test_revisions_that_are_no_numbers_tell_nothing() -> None:
    graph = Graph(load())
    graph.seen["", "Pod"] = "abc"
    dependent = put(graph, "b", "uid-a", resourceVersion="def")
    assert owner_of(graph, dependent) is Owner.UNCERTAIN
    assert owner_of(graph, dependent, NOW_MS + ABSENT_MS) is Owner.ABSENT
