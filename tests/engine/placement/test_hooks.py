from __future__ import annotations

import numpy as np
import pytest

from kumi.engine.placement.conf import SWITCHES
from kumi.engine.placement.hooks import SWITCH, Fit, also, hooks_of

ALL = np.array([Fit.OK, Fit.UNSCHEDULABLE, Fit.BEYOND, Fit.UNRESOLVABLE, Fit.ERROR], dtype=np.int8)


def test_every_switch_of_a_hook_is_one_of_the_file() -> None:
    assert {s for s in SWITCH.values() if s} <= set(SWITCHES)


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        (Fit.UNSCHEDULABLE, [Fit.UNSCHEDULABLE, Fit.UNSCHEDULABLE, Fit.BEYOND, Fit.UNRESOLVABLE, Fit.ERROR]),
        (Fit.UNRESOLVABLE, [Fit.UNRESOLVABLE, Fit.BEYOND, Fit.BEYOND, Fit.UNRESOLVABLE, Fit.ERROR]),
    ],
)
def test_a_further_question_leaves_what_was_said_first(said: Fit, answers: list[Fit]) -> None:
    assert also(ALL, np.ones(5, dtype=np.bool_), said).tolist() == answers
    assert also(ALL, np.zeros(5, dtype=np.bool_), said).tolist() == ALL.tolist()


def test_a_plug_in_has_the_hooks_that_it_or_its_class_has() -> None:
    class OfClass:
        __slots__ = ()

        def job_ready(self) -> bool:
            return True

    class OfItsOwn:
        pass

    one, other = OfItsOwn(), OfItsOwn()
    one.predicate = 1  # type: ignore[attr-defined]
    assert [hooks_of(OfClass()), hooks_of(OfClass())] == [("job_ready",)] * 2
    assert [hooks_of(other), hooks_of(one), hooks_of(other)] == [(), ("predicate",), ()]
