"""TDM: lent nodes are used while they are lent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import Phase
from kumi.engine.placement import rounds
from kumi.engine.placement.conf import Option
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.plugins.tdm import DAY_MS, LABEL, MINUTE_MS, Window, budget
from kumi.engine.placement.ways import KUMI, VOLCANO, Ways
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, conf, gang, line, option, task

times = st.integers(0, 24 * 60 - 1)
HOUR = 60 * MINUTE_MS


def written(start: int, end: int) -> str:
    return f"{start // 60}:{start % 60:02}-{end // 60}:{end % 60:02}"


@given(times, times, times)
def test_a_window_holds_from_its_start_to_its_end_also_over_midnight(start: int, end: int, now: int) -> None:
    window = Window.parse(written(start, end))
    assert window is not None
    inside = start <= now <= end if start < end else now >= start or now <= end
    assert window.holds(now * MINUTE_MS) is inside
    assert window.holds((now + 3 * 24 * 60) * MINUTE_MS) is inside


@given(times, times, st.integers(0, DAY_MS - 1))
def test_nothing_changes_before_the_time_that_is_said(start: int, end: int, now_ms: int) -> None:
    window = Window.parse(written(start, end))
    assert window is not None
    change = window.changes_ms(now_ms)
    assert now_ms < change <= now_ms + DAY_MS
    assert window.holds(change - 1) is window.holds(now_ms)
    if window.length_ms < DAY_MS:
        assert window.holds(change) is not window.holds(now_ms)


@pytest.mark.parametrize(
    "text", ["0:00", "0:00_1:00", "24:00-1:00", "0:60-1:00", "0:0-1:00", "a:00-1:00", "-0:00-1:00", ""]
)
def test_what_is_no_window_is_none(text: str) -> None:
    assert Window.parse(text) is None


def test_an_end_that_is_not_after_the_start_is_of_the_next_day() -> None:
    assert [w.length_ms for t in ("1:00-0:00", "5:00-5:00", "0:00-0:01") if (w := Window.parse(t))] == [
        23 * HOUR,
        DAY_MS,
        MINUTE_MS,
    ]


TDM = option(
    "tdm", **{"tdm.revocable-zone.day": "8:00-20:00", "tdm.revocable-zone.wrong": "8-20", "tdm.evict.period": "1m"}
)


def hall(hour: int = 12, cleared_ms: int | None = None) -> Scene:
    """A node of each kind: plain, of the zone `day`, of a zone with a wrong window, of one that nobody knows."""
    scene = Scene(line(), now_ms=hour * HOUR, cleared_ms=cleared_ms)
    scene.put(node("plain", cpu=9))
    return scene_with(scene, day="day", wrong="wrong", strange="strange")


def scene_with(scene: Scene, **zones: str) -> Scene:
    scene.put(*(node(name, {LABEL: zone}, cpu=9) for name, zone in zones.items()))
    return scene


def fits(scene: Scene, zone: str) -> dict[str, Fit]:
    said = scene.open(TDM).predicate(task("x", "x", zone=zone))
    return {name: Fit(int(said[row])) for name, row in scene.state.nodes.row_by_name.items()}


NEVER = Fit.UNRESOLVABLE


@pytest.mark.parametrize(
    ("hour", "zone", "day"), [(12, "*", Fit.OK), (12, "", NEVER), (21, "*", NEVER), (7, "*", NEVER), (8, "*", Fit.OK)]
)
def test_a_node_of_a_zone_takes_who_may_use_one_while_it_is_open(hour: int, zone: str, day: Fit) -> None:
    assert fits(hall(hour), zone) == {"plain": Fit.OK, "day": day, "wrong": NEVER, "strange": NEVER}


def test_lent_nodes_are_the_best_for_who_may_use_them() -> None:
    scene = hall()
    at, rows = scene.open(TDM), scene.state.nodes.by_name()
    names = scene.state.nodes.names()
    scores = at.node_scores(task("x", "x", zone="*"), rows, np.zeros_like(rows))
    assert dict(zip(names, scores.tolist(), strict=True)) == {"plain": 0, "day": 100, "wrong": 0, "strange": 0}
    assert not at.node_scores(task("x", "x"), rows, np.zeros_like(rows)).any()


def test_gangs_that_do_not_give_way_go_first_and_starve_with_a_pending_task() -> None:
    scene = hall()
    scene.put(gang("a", preemptable=True), gang("b"), task("a-0", "a"), task("b-0", "b"), gang("c", preemptable=False))
    at = scene.open(TDM)
    assert at.job_less(scene.job("b"), scene.job("a"))
    assert at.job_less(scene.job("c"), scene.job("a"))
    assert [at.job_starving(scene.job(name)) for name in "abc"] == [False, True, False]


@pytest.mark.parametrize(("least", "answer"), [(1, True), (2, False)])
def test_a_gang_is_kept_once_it_reaches_its_minimum(least: int, answer: bool) -> None:
    scene = hall()
    scene.put(gang("a", least=least), task("a-0", "a", node="plain"), task("a-1", "a"))
    assert scene.open(TDM).job_pipelined(scene.job("a")) is answer


def test_a_task_that_stays_takes_from_those_that_give_way_on_nodes_of_no_zone() -> None:
    scene = hall()
    scene.put(gang("a", unavailable="9"), gang("me"))
    scene.put(
        task("a-0", "a", node="plain"), task("a-1", "a", node="day"), task("a-2", "a", node="plain", preemptable=False)
    )
    scene.put(replace(task("a-3", "a", node="plain", phase="Pending")))
    crowd = [scene.pod(f"a-{n}") for n in range(4)]
    for me, victims in (
        (task("me-0", "me", preemptable=False), ["a-0"]),
        (task("me-0", "me"), []),
        (task("me-0", "me", preemptable=False, zone="*"), []),
    ):
        scene.put(me)
        assert [pod.uid for pod in scene.open(TDM).preemptable(scene.pod("me-0"), crowd)] == victims


@pytest.mark.parametrize(
    ("fields", "victims"),
    [
        ({}, 1),
        ({"unavailable": "30%"}, 2),
        ({"unavailable": "2"}, 2),
        ({"unavailable": "0"}, 0),
        ({"unavailable": "x"}, 0),
        ({"available": "3"}, 2),
        ({"available": "50%"}, 2),
        ({"available": "9"}, 1),
        ({"available": "4", "unavailable": "3"}, 3),
    ],
)
def test_a_gang_gives_within_its_budget(fields: dict[str, str], victims: int) -> None:
    scene = hall(hour=21)
    scene.put(gang("a", **fields), *(task(f"a-{n}", "a", node="day") for n in range(5)))
    assert budget(scene.job("a")) == victims
    assert len(scene.open(TDM).victim_tasks([scene.pod(f"a-{n}") for n in range(5)])) == victims


def test_tasks_that_do_not_run_use_up_the_budget_and_ended_ones_do_not() -> None:
    scene = hall()
    scene.put(gang("a", unavailable="2"), task("a-0", "a"), task("a-1", "a", node="day"), task("a-2", "a", node="day"))
    assert budget(scene.job("a")) == 1
    scene.put(task("a-0", "a", node="day", phase="Succeeded"))
    assert budget(scene.job("a")) == 2


def shuffled(scene: Scene, plugin: Option = TDM) -> list[str]:
    return [uid for uid, _ in scene.run("shuffle", plugin).outcome.evictions]


def test_who_gives_way_leaves_a_zone_that_closes() -> None:
    scene = hall(hour=21)
    scene.put(
        gang("a", unavailable="9", phase=Phase.RUNNING), task("a-0", "a", node="day"), task("a-1", "a", node="plain")
    )
    scene.put(task("a-2", "a", node="day", preemptable=False), task("a-3", "a", node="strange"))
    assert shuffled(scene) == ["a-0", "a-3"]
    scene.now_ms = 12 * HOUR
    assert shuffled(scene) == ["a-3"]


@pytest.mark.parametrize(("ago_ms", "victims"), [(59_999, []), (60_000, ["a-0"])])
def test_nobody_has_to_go_just_after_somebody_had_to(ago_ms: int, victims: list[str]) -> None:
    scene = hall(hour=21, cleared_ms=21 * HOUR - ago_ms)
    scene.put(gang("a"), task("a-0", "a", node="day"))
    assert shuffled(scene) == victims


def test_it_wakes_when_a_zone_opens_or_closes_or_somebody_may_have_to_go_again() -> None:
    assert hall(hour=12).open(TDM).wake_ms() == 20 * HOUR + 1
    assert hall(hour=21).open(TDM).wake_ms() == 32 * HOUR
    assert hall(hour=21, cleared_ms=21 * HOUR).open(TDM).wake_ms() == 21 * HOUR + MINUTE_MS
    assert hall().open("tdm").wake_ms() is None


@pytest.mark.parametrize(("ways", "victims"), [(VOLCANO, ["a-0", "a-1"]), (KUMI, ["a-0"])], ids=["volcano", "kumi"])
def test_one_of_a_gang_that_does_not_give_way_leaves_a_zone_that_closes_as_its_profile_has_it(
    ways: Ways, victims: list[str]
) -> None:
    scene = hall(hour=21)
    scene.put(gang("a", unavailable="9", preemptable=False, phase=Phase.RUNNING))
    scene.put(task("a-0", "a", node="day", preemptable=True), task("a-1", "a", node="day"))
    done = rounds.run(scene.around, conf(TDM, actions=("shuffle",)), PLUGINS, ways)
    assert [uid for uid, _ in done.outcome.evictions] == victims
