"""Model: a pod's key is its namespace and its name."""

from __future__ import annotations

import pytest

from kumi.engine.model import Neighbours, Pod, PodShape, PodTerm, SpreadTerm


@pytest.mark.parametrize(("key", "namespace", "name"), [("team/a", "team", "a"), ("/a", "", "a")])
def test_a_pod_tells_its_namespace_and_its_name_from_its_key(key: str, namespace: str, name: str) -> None:
    pod = Pod("uid", key, PodShape(()), 0)
    assert (pod.namespace, pod.name) == (namespace, name)


TERM = PodTerm("zone", ())


@pytest.mark.parametrize(
    ("said", "binds"),
    [
        (Neighbours(near=(TERM,)), True),
        (Neighbours(apart=(TERM,)), True),
        (Neighbours(spread=(SpreadTerm("zone", ()),)), True),
        (Neighbours(spread=(SpreadTerm("zone", (), hard=False),)), False),
        (Neighbours(rather_near=((1, TERM),), rather_apart=((1, TERM),)), False),
    ],
)
def test_a_pod_is_kept_from_nodes_by_what_must_be_and_not_by_what_is_better(said: Neighbours, binds: bool) -> None:
    assert said.binds is binds
