from __future__ import annotations

from kumi.api.scheme import load
from kumi.cli.loops import ALL, BARE, NONE

load()


def test_bare_is_a_part_of_all_and_none_is_nothing() -> None:
    bare = {controller.name for controller in BARE()[0]}
    everything = {controller.name for controller in ALL()[0]}
    assert bare < everything
    assert {"job-controller", "replicaset-controller", "deployment-controller", "kumi-namespaces"} <= bare
    assert NONE() == ((), ())


def test_all_loops_have_names_of_their_own() -> None:
    names = [controller.name for controller in ALL()[0]]
    assert len(names) == len(set(names))
