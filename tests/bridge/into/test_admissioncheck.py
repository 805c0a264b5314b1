from __future__ import annotations

import msgspec
import pytest

from kumi.api.kueue import AdmissionCheck
from kumi.bridge.into.admissioncheck import admissioncheck
from kumi.engine import model


@pytest.mark.parametrize(
    ("conditions", "active"),
    [
        ([], False),
        ([{"type": "Active", "status": "False", "reason": "R"}], False),
        ([{"type": "Active", "status": "True", "reason": "R"}], True),
    ],
)
def test_a_check_is_active_once_somebody_answers_it(conditions: list[dict[str, str]], active: bool) -> None:
    view = {"metadata": {"name": "c"}, "spec": {"controllerName": "x/y"}, "status": {"conditions": conditions}}
    assert admissioncheck(msgspec.convert(view, AdmissionCheck)) == model.AdmissionCheck("c", "x/y", active)
