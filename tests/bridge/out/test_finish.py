from __future__ import annotations

from kumi.bridge.out.finish import finish
from kumi.engine.decisions import Finish
from kumi.runtime.reconcile import Patch

from .made import NOW_MS, condition, said, workload


def test_one_whose_place_is_taken_is_over() -> None:
    view = workload({"conditions": [condition("Admitted", "True")]})
    step = finish("t", Finish("n/w", "WorkloadSliceReplaced", "n/next"), view, NOW_MS)
    (patch,) = step.writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert said(patch.body["status"]) == {"Admitted": ("True", "R"), "Finished": ("True", "WorkloadSliceReplaced")}
    assert "n/next" in step.notes[0].message
