"""Gang: with its minimum, or not at all."""

from __future__ import annotations

import pytest

from kumi.engine.placement.tasks import Job
from kumi.engine.reasons import Code
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


def scene(least: int, least_of: tuple[tuple[str, int], ...] = (), **tasks: str) -> Scene:
    """One gang; its tasks by name: role and where, like `driver@n` or `worker`."""
    made = Scene(line(), node("n", cpu=99), gang("a", least=least, least_of=least_of))
    for name, said in tasks.items():
        role, _, where = said.partition("@")
        made.put(task(name, "a", role=role.strip("*"), node=where, cpu=0 if "*" in role else 1))
    return made


def answers(made: Scene) -> tuple[bool, bool, bool, bool]:
    """Valid, ready, pipelined, starving."""
    at, job = made.open("gang"), made.job("a")
    return at.job_valid(job) is None, at.job_ready(job), at.job_pipelined(job), at.job_starving(job)


@pytest.mark.parametrize(
    ("least", "tasks", "said"),
    [
        (2, {}, (False, False, False, True)),
        (2, {"x": "w", "y": "w"}, (True, False, False, True)),
        (2, {"x": "w@n", "y": "w"}, (True, False, False, True)),
        (2, {"x": "w@n", "y": "w@n"}, (True, True, True, False)),
        (2, {"x": "w@n", "y": "*"}, (True, True, True, True)),  # it asks for nothing: it stops nobody
        (0, {}, (True, True, True, False)),
    ],
)
def test_a_gang_waits_for_its_minimum(least: int, tasks: dict[str, str], said: tuple[bool, ...]) -> None:
    assert answers(scene(least, **tasks)) == said


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ({"d": "driver@n", "x": "w@n", "y": "w@n"}, (True, True, True, False)),
        ({"x": "w@n", "y": "w@n", "z": "w@n"}, (False, False, False, False)),
        ({"d": "driver", "x": "w@n", "y": "w@n", "z": "w@n"}, (True, False, False, False)),
    ],
)
def test_every_role_has_its_own_minimum(tasks: dict[str, str], said: tuple[bool, ...]) -> None:
    assert answers(scene(3, (("driver", 1), ("w", 2)), **tasks)) == said


def test_minima_of_roles_that_exceed_the_gangs_do_not_count() -> None:
    assert answers(scene(2, (("driver", 1), ("w", 2)), x="w@n", y="w@n")) == (True, True, True, False)


def test_the_reason_says_what_is_missing() -> None:
    made = scene(3, (("driver", 1), ("w", 2)), x="w", y="w")
    reason = made.open("gang").job_valid(made.job("a"))
    assert reason is not None
    assert (reason.code, reason.pod_set, reason.need, reason.have) == (Code.GANG_INCOMPLETE, "driver", 1, 0)


def test_a_gang_that_is_not_ready_goes_first() -> None:
    made = scene(1, x="w@n")
    made.put(gang("z"), task("z-0", "z", cpu=1))
    at = made.open("gang")
    assert at.job_less(made.job("z"), made.job("a"))


@pytest.mark.parametrize(("least", "victims"), [(3, []), (2, ["x"]), (1, ["x", "y"]), (0, ["x", "y", "z"])])
def test_a_gang_gives_what_it_has_past_its_minimum(least: int, victims: list[str]) -> None:
    made = scene(least, x="w@n", y="w@n", z="w@n")
    made.put(gang("me"), task("me-0", "me", cpu=1))
    at, me = made.open("gang"), made.pod("me-0")
    crowd = [made.pod(name) for name in "xyz"]
    for named in (at.preemptable(me, crowd), at.reclaimable(me, crowd)):
        assert [pod.uid for pod in named] == victims
    assert at.evictable(made.job("me"), crowd, reclaim=True) == crowd


def test_a_gang_that_is_not_there_asks_for_nothing() -> None:
    made = Scene(line())
    assert made.open("gang").job_ready(Job("ns/a"))
