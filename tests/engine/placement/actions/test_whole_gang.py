from __future__ import annotations

import pytest

from kumi.engine.gangs import Phase
from kumi.engine.placement.actions.bundles import Bundle
from kumi.engine.placement.actions.domains import domains
from kumi.engine.placement.actions.whole_gang import MAX_DOMAINS, Evictor, free, make_room, waiting
from kumi.engine.placement.conf import Arguments
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


def evictor(**said: object) -> Evictor:
    return Evictor.configured(Arguments(said), lambda one, other: 0, reclaims=False)


def hall(least: int, count: int, *cpus: int) -> Scene:
    """Nodes that a gang's tasks fill, one of 1 cpu for each; another gang waits with `count` tasks."""
    made = Scene(line(), *(node(f"n{n}", cpu=c) for n, c in enumerate(cpus)))
    made.put(gang("v", least=least), *(task(f"v-{n}", "v", cpu=c, node=f"n{n}") for n, c in enumerate(cpus)))
    made.put(gang("p", least=count, phase=Phase.INQUEUE), *(task(f"p-{n}", "p", cpu=1) for n in range(count)))
    return made


def attempt(made: Scene, **said: object) -> tuple[bool, list[str], Framework]:
    at, outcome = made.open("gang"), Outcome()
    candidates = [made.pod(uid) for uid in sorted(made.job("v").tasks)]
    done = make_room(at, outcome, evictor(**said), made.job("p"), lambda: candidates)
    return done, [uid for uid, _ in outcome.evictions], at


def test_all_that_wait_are_promised_a_place() -> None:
    done, gone, at = attempt(hall(1, 2, 1, 1, 1))
    assert (done, gone) == (True, ["v-0", "v-1"])
    assert [at.tasks.status[f"p-{n}"] for n in range(2)] == [Status.PIPELINED] * 2


def test_a_safe_bundle_leaves_as_it_is_also_where_less_would_do() -> None:
    assert attempt(hall(1, 1, 1, 1, 1))[1] == ["v-0", "v-1"]


def test_whole_bundles_are_taken_only_where_there_is_no_safe_one() -> None:
    assert attempt(hall(2, 2, 1, 1, 1))[0] is False
    assert attempt(hall(2, 2, 1, 1))[1] == ["v-0", "v-1"]
    assert attempt(hall(2, 2, 1, 1), allowWholeBundle=False)[0] is False


def test_without_room_for_all_everything_is_as_it_was() -> None:
    done, gone, at = attempt(hall(0, 3, 1, 1))
    assert (done, gone) == (False, [])
    assert {at.tasks.status[uid] for uid in ("v-0", "v-1")} == {Status.RUNNING}
    assert (at.nodes.releasing.sum(), at.nodes.pipelined.sum()) == (0, 0)


def test_free_counts_what_is_leaving() -> None:
    made = hall(0, 1, 2, 3)
    made.put(node("n0", cpu=5))
    at = made.open("gang")
    (domain,) = domains(at, made.job("p"))
    assert free(at, domain)["cpu"] == 3000
    with at.journal.trial():
        at.nodes.evict("n1", made.pod("v-1").shape.requests, 1)
        assert free(at, domain)["cpu"] == 6000


@pytest.mark.parametrize(
    ("said", "most"), [({}, MAX_DOMAINS), ({"maxDomains": 3}, 3), ({"maxDomains": 0}, MAX_DOMAINS)]
)
def test_the_scheduler_file_says_how_many_domains(said: dict[str, int], most: int) -> None:
    assert evictor(**said).max_domains == most


def test_of_safe_and_whole_bundles_only_the_safe_ones_may_go() -> None:
    made = hall(1, 1, 1, 1)
    job, tasks = made.job("v"), [made.pod("v-0"), made.pod("v-1")]
    safe, whole = Bundle(job, (tasks[0],), safe=True), Bundle(job, (tasks[1],), safe=False)
    assert evictor().allowed([safe, whole]) == [safe]
    assert evictor().allowed([whole]) == [whole]
    assert evictor(allowWholeBundle=False).allowed([whole]) == []


def test_tasks_that_ask_for_nothing_do_not_wait_for_a_node() -> None:
    made = hall(1, 2, 1)
    made.put(task("p-5", "p"))
    assert [pod.uid for pod in waiting(made.open("gang"), made.job("p"))] == ["p-0", "p-1"]
