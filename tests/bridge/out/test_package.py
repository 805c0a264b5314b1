from __future__ import annotations

import pytest

from kumi.bridge.out import step
from kumi.engine.decisions import Admit, Bind, Decision, Evict, Hold, Unplaced
from kumi.engine.model import Admission
from kumi.engine.reasons import Code, Reason, Record

from .made import NOW_MS, pod, workload

OF_WORKLOADS = [
    Admit("n/w", Admission("q", ())),
    Hold("n/w", Record(Reason(Code.NO_NODES))),
    Evict("n/w", "Deactivated"),
]
OF_PODS = [Bind("pu", "node"), Unplaced("pu", ())]


@pytest.mark.parametrize("decision", OF_WORKLOADS, ids=lambda d: type(d).__name__)
def test_a_decision_about_a_workload_becomes_a_step(decision: Decision) -> None:
    made = step("token", decision, workload(), NOW_MS)
    assert made.token == "token"
    assert made.writes
    with pytest.raises(TypeError):
        step("token", decision, pod(), NOW_MS)


@pytest.mark.parametrize("decision", OF_PODS, ids=lambda d: type(d).__name__)
def test_a_decision_about_a_pod_becomes_a_step(decision: Decision) -> None:
    assert step("token", decision, pod(), NOW_MS).writes
    with pytest.raises(TypeError):
        step("token", decision, workload(), NOW_MS)
