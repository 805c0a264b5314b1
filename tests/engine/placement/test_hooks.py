from __future__ import annotations

import numpy as np
import pytest

from kumi.engine.placement.conf import SWITCHES
from kumi.engine.placement.hooks import SWITCH, Fit, also

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
