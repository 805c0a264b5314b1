from __future__ import annotations

from kumi.engine.placement.actions.domains import Domain, domains
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line


def test_a_gang_that_asks_for_no_closeness_has_the_whole_cluster() -> None:
    scene = Scene(line(), node("n1"), node("n2"), gang("a"))
    assert domains(scene.open("gang"), scene.job("a")) == [Domain(frozenset({"n1", "n2"}))]
