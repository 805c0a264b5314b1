"""Bundles: what gangs can spare, and what they can't."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.placement.actions.bundles import Asks, Bundle, bundles, in_line, listed, of_job, pays, total
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task


def scene(least: int, running: int, least_of: tuple[tuple[str, int], ...] = (), roles: str = "") -> Scene:
    made = Scene(line(), node("n", cpu=99), gang("a", least=least, least_of=least_of))
    said = roles or "w" * running
    made.put(*(task(f"a-{n}", "a", cpu=1, node="n", role=r, priority=n) for n, r in enumerate(said)))
    return made


def split(made: Scene) -> list[tuple[bool, list[str]]]:
    found = of_job(made.job("a"), [made.pod(uid) for uid in sorted(made.job("a").tasks)])
    return [(b.safe, [p.uid for p in b.tasks]) for b in found]


@given(least=st.integers(0, 6), running=st.integers(1, 6))
def test_what_a_gang_can_spare_is_safe_and_the_rest_is_whole(least: int, running: int) -> None:
    found = split(scene(least, running))
    safe = sum(len(uids) for is_safe, uids in found if is_safe)
    assert safe == (running if running < least else running - least)
    assert sorted(uid for _, uids in found for uid in uids) == sorted(f"a-{n}" for n in range(running))


def test_the_least_important_tasks_are_the_safe_ones() -> None:
    assert split(scene(2, 3)) == [(True, ["a-0"]), (False, ["a-1", "a-2"])]


def test_a_role_keeps_its_own_minimum() -> None:
    assert split(scene(3, 4, (("d", 1), ("w", 2)), "dwww")) == [(True, ["a-1"]), (False, ["a-0", "a-2", "a-3"])]


def test_roles_whose_minima_the_gangs_own_does_not_cover_do_not_count() -> None:
    assert split(scene(2, 3, (("d", 1), ("w", 2)), "dww"))[0] == (True, ["a-0"])


def asks(made: Scene, at: Framework, reclaims: bool = False) -> Asks:
    return Asks(made.job("p"), {"cpu": 4000}, reclaims, lambda one, other: 0)


def hall() -> Scene:
    made = Scene(line(), node("n", cpu=99), gang("p", least=1), task("p-0", "p", cpu=4))
    for name, least, count in (("a", 2, 2), ("b", 1, 3), ("c", 4, 4)):
        made.put(gang(name, least=least), *(task(f"{name}-{n}", name, cpu=1, node="n") for n in range(count)))
    return made


def running(made: Scene) -> list[str]:
    return sorted(uid for uid in made.state.tasks.pods if not uid.startswith("p"))


def taken(made: Scene, *plugins: Option | str, reclaims: bool = False) -> list[tuple[bool, str, int]]:
    at = made.open(*plugins)
    found = bundles(at, asks(made, at, reclaims), [made.pod(uid) for uid in running(made)])
    return [(b.safe, b.job.key, len(b.tasks)) for b in found]


def test_safe_bundles_come_first_then_what_pays_most_then_by_gang() -> None:
    assert taken(hall(), "gang") == [(True, "ns/b", 2), (False, "ns/a", 2), (False, "ns/c", 4), (False, "ns/b", 1)]


def test_the_action_says_whose_bundles_go_first() -> None:
    made = hall()
    at = made.open("gang")
    backwards = Asks(made.job("p"), {"cpu": 1}, False, lambda one, other: -1 if one.key > other.key else 1)
    found = bundles(at, backwards, [made.pod(uid) for uid in running(made)])
    assert [b.job.key for b in found] == ["ns/b", "ns/c", "ns/b", "ns/a"]


def test_a_safe_bundle_is_cut_and_a_whole_one_is_out_where_a_plugin_spares_one_of_it() -> None:
    made = hall()
    for uid in ("b-1", "c-3"):
        made.put(task(uid, uid[0], cpu=1, node="n", priority_class="system-node-critical"))
    assert taken(made, "conformance") == [(True, "ns/b", 1), (False, "ns/a", 2), (False, "ns/b", 1)]


@pytest.mark.parametrize(
    ("bundle", "need", "whole", "said"),
    [
        (2, {"cpu": 2000}, {"cpu": 2000}, 1.0),
        (2, {"cpu": 2000}, {"cpu": 4000}, 0.5),
        (4, {"cpu": 2000}, {"cpu": 4000}, 0.5),
        (2, {"cpu": 2000, "nvidia.com/gpu": 1000}, {"cpu": 2000, "nvidia.com/gpu": 1000}, 0.5),
        (2, {"memory": 5}, {"cpu": 2000}, float("inf")),
    ],
)
def test_a_bundle_pays_by_what_of_it_is_needed_over_all_that_its_gang_has(
    bundle: int, need: dict[str, int], whole: dict[str, int], said: float
) -> None:
    made = scene(9, bundle)
    one = Bundle(made.job("a"), tuple(made.pod(uid) for uid in sorted(made.job("a").tasks)), safe=False)
    assert pays(one, need, whole) == said
    assert pays(Bundle(one.job, one.tasks, safe=True), need, whole) == float("inf")


def test_of_equal_bundles_the_smaller_first_uid_goes_first() -> None:
    made = scene(2, 2)
    job = made.job("a")
    one, other = (Bundle(job, (made.pod(uid),), safe=True) for uid in ("a-0", "a-1"))
    assert in_line([other, one], Asks(job, {}, False, lambda a, b: 0), {"ns/a": {}}) == [one, other]


def test_pods_are_counted_in_what_tasks_ask_for() -> None:
    made = scene(2, 2)
    tasks = [made.pod("a-0"), made.pod("a-1")]
    assert total(tasks) == dict(listed(tasks)) == {"pods": 2000, "cpu": 2000}


def test_plugins_hear_whether_it_is_for_another_queue() -> None:
    made = hall()
    assert taken(made, option("priority"), reclaims=True) != []
    assert taken(made, option("priority"), reclaims=False) == []
