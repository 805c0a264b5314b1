"""Sessions of Kumi's own way, for the tests of this room."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from kumi.engine.gangs import Phase, PriorityClass
from kumi.engine.model import Pod
from kumi.engine.placement import rounds, ways
from kumi.engine.placement.actions.victims import mendable
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.nodes import Mask
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, Tier, conf, gang, line, task

CLASSES = [PriorityClass(f"p{n}", n) for n in (1, 5, 9)]


def run(scene: Scene, actions: str, *tiers: Option | str | Tier) -> rounds.Round:
    return rounds.run(scene.around, conf(*tiers, actions=tuple(actions.split())), PLUGINS, ways.KUMI)


def evicted(done: rounds.Round) -> list[str]:
    return sorted(uid for uid, _ in done.outcome.evictions)


def is_mendable(framework: Framework, task: Pod) -> Mask:
    """Which rows take the task, or would were others evicted, whatever room they have."""
    mask = np.zeros(framework.nodes.used.shape[1], dtype=np.bool_)
    mask[mendable(framework, task)] = True
    return mask


@st.composite
def crowds(draw: st.DrawFn) -> Scene:
    """Gangs that matter differently, of two queues, on nodes that they fill; one that matters more waits."""
    made = Scene(line(), line("r"), *CLASSES, *(node(f"n{n}", cpu=3) for n in range(4)))
    left = dict.fromkeys(range(4), 3)
    for name in "abcd":
        queue, said = draw(st.sampled_from(["q", "q", "r"])), draw(st.sampled_from(["p1", "p5", ""]))
        made.put(gang(name, queue, least=0, priority_class=said, phase=Phase.RUNNING))
        for number in range(draw(st.integers(0, 3))):
            where, cpu = draw(st.integers(0, 3)), draw(st.integers(1, 2))
            if cpu <= left[where]:
                left[where] -= cpu
                own = draw(st.sampled_from([None, 2]))
                made.put(task(f"{name}-{number}", name, cpu=cpu, node=f"n{where}", priority=own or 0))
    made.put(*(task(f"x-{n}", "x", cpu=free, node=f"n{n}") for n, free in left.items() if free and draw(st.booleans())))
    count = draw(st.integers(1, 3))
    made.put(gang("h", least=count, priority_class="p9", phase=Phase.INQUEUE))
    made.put(*(task(f"h-{n}", "h", cpu=draw(st.integers(1, 3))) for n in range(count)))
    return made
