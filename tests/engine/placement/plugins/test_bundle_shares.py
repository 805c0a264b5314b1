from __future__ import annotations

from kumi.engine.gangs import Phase
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


def test_of_other_queues_what_is_past_their_share_and_within_a_queue_no_opinion() -> None:
    made = Scene(line("a"), line("b"), node("n", cpu=4))
    made.put(gang("x", "a", least=0, phase=Phase.RUNNING), *(task(f"x-{n}", "x", cpu=1, node="n") for n in range(4)))
    made.put(gang("y", "b", least=4), *(task(f"y-{n}", "y", cpu=1) for n in range(4)))
    at = made.open("bundle-shares")
    pods = [made.pod(f"x-{n}") for n in range(4)]
    assert [p.uid for p in at.evictable(made.job("y"), pods, reclaim=True)] == ["x-0", "x-1"]
    assert at.evictable(made.job("y"), [], reclaim=True) == []
    both = made.open("priority", "bundle-shares")
    assert both.evictable(made.job("y"), pods, reclaim=False) == made.open("priority").evictable(
        made.job("y"), pods, reclaim=False
    )
