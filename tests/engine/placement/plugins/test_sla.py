from __future__ import annotations

from typing import Any

import pytest

from kumi.engine.gangs import Phase
from kumi.engine.placement.framework import Framework
from kumi.testing.gangs import Scene, gang, line, option, task

MINUTE = 60_000


def at(scene: Scene, limit: object = None) -> Framework:
    return scene.open(option("sla", **({} if limit is None else {"sla-waiting-time": limit})), "gang")


def scene(now_ms: int, **waits: int | None) -> Scene:
    made = Scene(line(), now_ms=now_ms)
    made.put(*(gang(name, waiting_ms=ms, least=9, created_ms=n) for n, (name, ms) in enumerate(waits.items())))
    return made


def order(made: Scene, limit: object = None) -> list[str]:
    session = at(made, limit)
    jobs = list(session.jobs())
    return [one.key[3:] for one in sorted(jobs, key=lambda j: sum(session.job_less(o, j) for o in jobs))]


def test_the_earlier_deadline_goes_first_and_none_last() -> None:
    assert order(scene(0, a=None, b=9, c=5)) == ["c", "b", "a"]


def test_a_gangs_own_limit_counts_before_the_plugins() -> None:
    assert order(scene(0, a=None, b=4 * MINUTE, c=MINUTE), "3m") == ["c", "a", "b"]
    assert order(scene(0, a=None, b=1), 5) == ["b", "a"]  # a number is no length


@pytest.mark.parametrize(("now_ms", "answer"), [(MINUTE - 1, False), (MINUTE, True)])
def test_from_its_deadline_on_it_is_let_in_and_kept_whatever_later_ones_say(now_ms: int, answer: bool) -> None:
    made = scene(now_ms, a=MINUTE)
    session = made.open((option("sla"),), ("gang", "proportion"))
    assert session.job_pipelined(made.job("a")) is answer


def test_before_it_has_no_opinion() -> None:
    assert at(scene(0, a=1)).job_enqueueable(scene(0, a=1).job("a"))


def wake(now_ms: int, **waits: Any) -> int | None:
    return at(scene(now_ms, **waits)).wake_ms()


def test_it_wakes_at_the_next_deadline() -> None:
    assert wake(100, a=50, b=200, c=300) == 201  # b came at 1
    assert wake(100, a=None) is None
    made = scene(0, a=5)
    made.put(gang("a", waiting_ms=5, phase=Phase.RUNNING), task("a-0", "a"))
    assert at(made).wake_ms() is None
