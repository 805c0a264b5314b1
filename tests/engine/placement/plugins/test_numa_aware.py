"""NUMA aware: guaranteed pods get cpus that are near each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.gangs import Phase
from kumi.engine.model import Cpu, NumaTopology
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Fit
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task

CPUS = tuple(Cpu(n, n // 2, n // 4, n // 4) for n in range(8))


def machine(name: str, policy: str, free: object = range(8), *, static: bool = True, kept: int = 0) -> NumaTopology:
    return NumaTopology(name, CPUS, tuple(free), kept, policy, static)  # type: ignore[arg-type]


def scene(*machines: NumaTopology) -> Scene:
    nodes = [node(name, cpu=8) for name in ("n1", "n2", "n3")]
    return Scene(*nodes, line(), gang("g", phase=Phase.INQUEUE), *machines)


def wanting(name: str, *cpus: int, policy: str = "") -> object:
    made = task(name, "g", cpu=max(1, sum(cpus)), numa_policy=policy)
    return replace(made, shape=replace(made.shape, whole_cpus=cpus))


def said(session: Framework, name: str) -> list[Fit]:
    found = session.predicate(session.tasks.pods[name])
    return [Fit(int(found[row])) for row in session.nodes.by_name()]


def test_pods_that_are_not_guaranteed_go_anywhere() -> None:
    made = scene(machine("n1", "single-numa-node", ()))
    made.put(task("t", "g", cpu=1, numa_policy="restricted"))
    session = made.open("numa-aware")
    assert said(session, "t") == [Fit.OK] * 3
    assert session.is_steady(made.pod("t"))


def test_who_names_a_policy_needs_a_node_that_has_it() -> None:
    made = scene(
        machine("n1", "restricted"), machine("n2", "restricted", static=False), machine("n3", "restricted", ())
    )
    made.put(
        wanting("t", 2, policy="restricted"), wanting("u", 2, policy="best-effort"), wanting("v", 2, policy="none")
    )
    session = made.open("numa-aware")
    assert said(session, "t") == [Fit.OK, Fit.ERROR, Fit.ERROR]
    assert said(session, "u") == [Fit.ERROR] * 3
    assert said(session, "v") == [Fit.OK, Fit.OK, Fit.UNRESOLVABLE]
    assert not session.is_steady(made.pod("t"))


@pytest.mark.parametrize(
    ("policy", "fits"),
    [("none", True), ("", True), ("best-effort", True), ("restricted", False), ("single-numa-node", False)],
)
def test_the_nodes_policy_says_what_is_admitted(policy: str, fits: bool) -> None:
    made = scene(machine("n1", policy, (0, 1, 2, 4, 5)))
    made.put(wanting("t", 4))
    assert said(made.open("numa-aware"), "t")[0] is (Fit.OK if fits else Fit.UNRESOLVABLE)


def test_containers_share_what_is_there_and_parts_of_a_cpu_need_nothing() -> None:
    made = scene(machine("n1", "single-numa-node"), machine("n2", "single-numa-node", kept=1000))
    made.put(wanting("t", 4, 4), wanting("u", 0, 0), wanting("v", 3, 3, 3))
    session = made.open("numa-aware")
    assert said(session, "t") == [Fit.OK, Fit.UNRESOLVABLE, Fit.OK]
    assert said(session, "u") == [Fit.OK] * 3
    assert said(session, "v") == [Fit.UNRESOLVABLE, Fit.UNRESOLVABLE, Fit.OK]


def test_fewer_numa_nodes_are_better_and_what_offers_nothing_counts_none() -> None:
    made = scene(machine("n1", "best-effort"), machine("n2", "best-effort", (0, 1, 4, 5)))
    made.put(wanting("t", 4, policy="best-effort"), wanting("u", 4))
    session = made.open(option("numa-aware", weight=10))
    said(session, "t")
    said(session, "u")
    rows = session.nodes.by_name()
    scores = session.batch_scores(made.pod("t"), rows)
    assert scores is not None
    assert scores.tolist() == [500.0, 0.0, 1000.0]
    assert session.batch_scores(made.pod("u"), rows) is None


def test_cpus_that_were_given_are_gone_until_it_is_taken_back() -> None:
    made = scene(machine("n1", "single-numa-node", range(4)))
    made.put(wanting("t", 3), wanting("u", 3))
    session = made.open("numa-aware")
    assert said(session, "t")[0] is Fit.OK
    with session.journal.trial():
        session.seated(made.pod("t"), "n1", 1)
        assert said(session, "u")[0] is Fit.UNRESOLVABLE
        session.seated(made.pod("t"), "n1", -1)
        assert said(session, "u")[0] is Fit.OK
        session.seated(made.pod("t"), "n1", 1)
    assert said(session, "u")[0] is Fit.OK


@pytest.mark.parametrize("apart", [False, True])
def test_a_gang_finds_places_one_after_the_other(apart: bool) -> None:
    """Whether its tasks are a run or not."""
    names = ("a-b-0", "a-b-1", "a-b-2")
    made = scene(machine("n1", "single-numa-node", range(4)), machine("n2", "single-numa-node"))
    made.put(gang("g", least=3, phase=Phase.INQUEUE))
    one = task("a", "g", cpu=3, numa_policy="single-numa-node")
    one = replace(one, shape=replace(one.shape, whole_cpus=(3,)))
    for name in names:
        made.put(replace(one, uid=name, key=f"ns/{name}", shape=replace(one.shape) if apart else one.shape))
    done = made.run("allocate", "gang", "predicates", "numa-aware")
    assert sorted(node for _, node in done.outcome.binds) == ["n1", "n2", "n2"]
