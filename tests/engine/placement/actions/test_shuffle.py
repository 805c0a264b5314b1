from __future__ import annotations

from dataclasses import replace

from kumi.engine.gangs import DisruptionBudget
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


def scene() -> Scene:
    made = Scene(line(), node("n", cpu=9), gang("a", least=0))
    made.put(*(replace(task(f"a-{n}", "a", cpu=1, node="n"), labels=(("app", "x"),)) for n in (2, 1)))
    made.put(replace(task("a-3", "a", cpu=1), labels=(("app", "x"),)))
    return made


def test_running_tasks_leave_that_a_plugin_names() -> None:
    done = scene().run("shuffle", "pdb")
    assert done.outcome.evictions == [("a-1", ""), ("a-2", "")]
    assert [done.status[uid] for uid in ("a-1", "a-2", "a-3")] == [Status.RELEASING, Status.RELEASING, Status.PENDING]


def test_nobody_leaves_where_no_plugin_names_anybody() -> None:
    assert scene().run("shuffle", "gang").outcome.evictions == []
    held = scene()
    held.put(DisruptionBudget("ns/b", (), 0))
    assert len(held.run("shuffle", "pdb").outcome.evictions) == 2
