"""Steps and their order."""

from __future__ import annotations

from collections.abc import Iterator

from kumi.evaluator.model import START_MS, Cancel
from kumi.evaluator.scenarios.steps import Moment, Step, Told, in_order, seed_of, together


def source(*times: int) -> object:
    def moments(seed: int) -> Iterator[Moment]:
        return (Step(at, "create", {"of": times, "seed": seed}, "") for at in times)

    return moments


def test_sources_come_together_by_time_and_at_one_instant_in_their_order() -> None:
    found = list(together([source(1, 3), source(1, 2, 3)], 7))  # type: ignore[list-item]
    assert [(m.at_ms, m.object["of"]) for m in found if isinstance(m, Step)] == [
        (1, (1, 3)),
        (1, (1, 2, 3)),
        (2, (1, 2, 3)),
        (3, (1, 3)),
        (3, (1, 2, 3)),
    ]
    assert all(m.object["seed"] == 7 for m in found if isinstance(m, Step))


def test_an_event_is_at_its_own_time() -> None:
    told = Told(Cancel(START_MS, "a"))
    assert in_order([Step(START_MS + 1, "delete", {}, ""), told])[0] is told


def test_each_source_has_a_seed_of_its_own_the_same_each_time() -> None:
    assert len({seed_of(run, place) for run in range(10) for place in range(10)}) == 100
    assert seed_of(1, 2) == seed_of(1, 2)
