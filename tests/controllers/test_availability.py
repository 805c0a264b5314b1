from __future__ import annotations

import pytest

from kumi.api.core import Pod
from kumi.controllers.availability import available_at_ms
from kumi.testing.view import decoded

from .made import NOW_MS, condition, pod


@pytest.mark.parametrize(
    ("conditions", "answer"),
    [
        ([], None),
        ([condition("Ready", "False")], None),
        ([condition("Ready", "True", seconds=-5)], NOW_MS - 5_000 + 30_000),
    ],
)
def test_a_pod_is_available_once_it_was_ready_for_long_enough(conditions: list[object], answer: int | None) -> None:
    found = decoded(pod(status={"phase": "Running", "conditions": conditions}))
    assert isinstance(found, Pod)
    assert available_at_ms(found, 30) == answer
