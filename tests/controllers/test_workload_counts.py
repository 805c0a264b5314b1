from __future__ import annotations

from typing import Any

import msgspec

from kumi.api.kueue import Workload
from kumi.api.measures import Histogram
from kumi.controllers.workload_counts import COUNTERS, HISTOGRAMS, WorkloadCounts

from .made import admission, condition, workload

CLASS = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}


def view(*conditions: dict[str, str], **status: Any) -> Workload:
    made = workload(spec={"priorityClassRef": CLASS}, status={"conditions": list(conditions), **status})
    return msgspec.convert(made, Workload)


def told(counts: WorkloadCounts) -> dict[str, dict[tuple[str, ...], Any]]:
    return {f.name: {s.labels: s.value for s in f.samples} for f in counts.measures() if f.samples}


RESERVED = condition("QuotaReserved", "True", seconds=30)
ADMITTED = condition("Admitted", "True", seconds=40)


def test_an_admission_counts_once_with_how_long_it_took() -> None:
    counts = WorkloadCounts()
    after = view(RESERVED, ADMITTED, admission=admission(), admissionChecks=[{"name": "c", "state": "Ready"}])
    counts.observe(view(), after)
    counts.observe(after, view(RESERVED, ADMITTED, condition("PodsReady", "True"), admission=admission()))
    found = told(counts)
    assert found["kueue_admitted_workloads_total"] == {("gpus", "high"): 1}
    assert found["kueue_local_queue_admitted_workloads_total"] == {("lq", "team", "high"): 1}
    waits = {name: found[f"kueue_{name}_seconds"]["gpus", "high"] for name in WAITS}
    assert all(isinstance(h, Histogram) for h in waits.values())
    assert {name: h.total for name, h in waits.items()} == dict(zip(WAITS, (30.0, 40.0, 10.0), strict=True))


WAITS = ("quota_reserved_wait_time", "admission_wait_time", "admission_checks_wait_time")


def test_what_was_so_from_the_start_does_not_count() -> None:
    counts = WorkloadCounts()
    counts.observe(None, view(RESERVED, ADMITTED, admission=admission()))
    counts.observe(view(RESERVED), None)
    assert told(counts) == {}


def test_one_that_was_put_back_waits_from_then_on() -> None:
    counts = WorkloadCounts()
    back = condition("Requeued", "True", seconds=35)
    counts.observe(view(back), view(back, ADMITTED, RESERVED, admission=admission()))
    assert told(counts)["kueue_admission_wait_time_seconds"]["gpus", "high"].total == 5.0


def test_evictions_by_reason_and_cause() -> None:
    counts = WorkloadCounts()
    evicted = condition("Evicted", "True", "PodsReadyTimeout")

    def stats(n: int) -> dict[str, Any]:
        return {"evictions": [{"reason": "PodsReadyTimeout", "underlyingCause": "WaitForStart", "count": n}]}

    for n in (1, 2):
        counts.observe(view(), view(evicted, admission=admission(), schedulingStats=stats(n)))
    labels = ("gpus", "PodsReadyTimeout", "WaitForStart", "high")
    assert told(counts)["kueue_evicted_workloads_total"] == {labels: 2}
    assert told(counts)["kueue_evicted_workloads_once_total"] == {labels: 1}
    deactivated = condition("Evicted", "True", "DeactivatedDueToAdmissionCheck")
    counts.observe(view(), view(deactivated, admission=admission()))
    assert ("gpus", "Deactivated", "AdmissionCheck", "high") in told(counts)["kueue_evicted_workloads_total"]


def test_the_end_counts_for_the_queue_that_it_ran_in() -> None:
    counts = WorkloadCounts()
    counts.observe(view(admission=admission()), view(condition("Finished", "True"), admission=admission()))
    assert told(counts)["kueue_finished_workloads_total"] == {("gpus", "high"): 1}


def test_every_family_is_told_even_when_it_is_empty() -> None:
    names = [f.name for f in WorkloadCounts().measures()]
    assert names == [name for name, _, _ in (*COUNTERS, *HISTOGRAMS)]
    assert len(set(names)) == len(names)
