from __future__ import annotations

import pytest

from kumi.engine.model import Pod
from kumi.testing.builders import pod
from kumi.testing.gangs import Scene, gang, line, task


@pytest.mark.parametrize(
    ("one", "goes"),
    [
        (task("a", "a"), True),
        (task("a", "a", priority_class="system-cluster-critical"), False),
        (task("a", "a", priority_class="system-node-critical"), False),
        (task("a", "a", priority_class="high"), True),
        (pod("kube-system/a"), False),
        (pod("kube-systems/a"), True),
    ],
)
def test_what_the_cluster_needs_is_not_evicted(one: Pod, goes: bool) -> None:
    scene = Scene(line(), gang("me"), task("me-0", "me"))
    at, me = scene.open("conformance"), scene.pod("me-0")
    wanted = [one] if goes else []
    assert at.preemptable(me, [one]) == at.reclaimable(me, [one]) == wanted
    assert at.evictable(scene.job("me"), [one], reclaim=True) == wanted
