"""Assignment: modes, what is contended, where the next search goes on, and the admission that comes of it."""

from __future__ import annotations

from kumi.engine.admission.assignment import LAST, Assignment, Chosen, Mode, NoFit, PodSetChosen
from kumi.engine.model import Admission, PodSetAssigned

MAIN = PodSetChosen(
    "main",
    2,
    {"memory": 4, "cpu": 2000, "disk": 0},
    Mode.PREEMPT,
    {"memory": Chosen("a", Mode.FIT, tried=0), "cpu": Chosen("a", Mode.PREEMPT, tried=0)},
    nodes=(("n1", 2),),
)
SIDE = PodSetChosen("side", 1, {"cpu": 1000}, Mode.RECLAIM, {"cpu": Chosen("b", Mode.RECLAIM)})
BOTH = Assignment("cq", Mode.PREEMPT, (MAIN, SIDE), {("a", "cpu"): 2000})


def test_modes_are_in_order_and_those_between_no_and_fit_evict() -> None:
    assert sorted(Mode) == [Mode.NO_FIT, Mode.NO_CANDIDATES, Mode.PREEMPT, Mode.RECLAIM, Mode.FIT]
    assert [mode for mode in Mode if mode.evicts] == [Mode.NO_CANDIDATES, Mode.PREEMPT, Mode.RECLAIM]


def test_no_fit_reasons_go_from_mild_to_bad() -> None:
    assert [no.badness for no in NoFit] == [0, 1, 2, 3, 4]
    assert NoFit.NO_MATCHING_FLAVOR.badness > NoFit.EXCEEDS_MAX_QUOTA.badness > NoFit.WAITING_FOR_QUOTA.badness


def test_contended_is_what_others_would_have_to_go_for() -> None:
    assert BOTH.contended == (("a", "cpu"), ("b", "cpu"))


def test_the_next_search_goes_on_where_flavors_are_left() -> None:
    assert BOTH.resume == ((("cpu", 0), ("memory", 0)), (("cpu", LAST),))
    assert BOTH.pending_flavors
    assert not Assignment("cq", Mode.FIT, (SIDE,), {}).pending_flavors


def test_an_admission_has_flavors_and_usage_by_resource_and_nothing_without_a_flavor() -> None:
    assert BOTH.admission() == Admission(
        "cq",
        (
            PodSetAssigned("main", 2, (("cpu", "a"), ("memory", "a")), (("cpu", 2000), ("memory", 4)), (("n1", 2),)),
            PodSetAssigned("side", 1, (("cpu", "b"),), (("cpu", 1000),)),
        ),
    )
