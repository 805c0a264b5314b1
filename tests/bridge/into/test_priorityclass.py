from __future__ import annotations

from kumi.api import scheduling
from kumi.api.meta import ObjectMeta
from kumi.bridge.into.priorityclass import priorityclass
from kumi.engine import gangs


def test_a_name_for_a_number() -> None:
    view = scheduling.PriorityClass(metadata=ObjectMeta(name="high"), value=7, global_default=True)
    assert priorityclass(view) == gangs.PriorityClass("high", 7, default=True)
