from __future__ import annotations

import pytest

from kumi.api.meta import ObjectMeta
from kumi.api.metrics import NodeLoad
from kumi.bridge.into import POLLED, TYPES, Deltas, removal
from kumi.bridge.into.nodeload import nodeload
from kumi.engine import model


@pytest.mark.parametrize(("cpu", "memory"), [(12.5, 80.0), (None, 1.0), (0.0, None)])
def test_a_load_is_what_the_engine_knows_of_a_node(cpu: float | None, memory: float | None) -> None:
    view = NodeLoad(metadata=ObjectMeta(name="n1"), cpu=cpu, memory=memory, measured_ms=5)
    assert nodeload(view) == model.NodeUsage("n1", cpu, memory, 5)
    assert Deltas().put(view) == model.Put(model.NodeUsage("n1", cpu, memory, 5))
    assert removal(view) == model.Remove(model.NodeUsage, "n1")


def test_it_is_told_only_where_somebody_asks_for_it() -> None:
    assert NodeLoad in POLLED
    assert NodeLoad not in TYPES
