from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.kubelet.pod_plan import Backoff, Restart, Role, containers_of, plan_of, quality_of
from tests.kubelet.stage import container, pod


def test_init_containers_come_first_and_sidecars_are_known() -> None:
    found = pod("p", "a", initContainers=[container("i", "init"), container("s", "side", restartPolicy="Always")])
    plan = plan_of(found, Backoff())
    assert plan.roles == {"init": Role.INIT, "side": Role.SIDECAR, "main": Role.MAIN}
    assert list(plan.roles) == list(containers_of(found)) == ["init", "side", "main"]


def test_times_are_in_milliseconds_and_have_kubernetes_defaults() -> None:
    plan = plan_of(pod("p", "a", restartPolicy="OnFailure"), Backoff())
    assert (plan.restart, plan.grace_ms, plan.deadline_ms) == (Restart.ON_FAILURE, 30_000, None)
    plan = plan_of(pod("p", "a", terminationGracePeriodSeconds=0, activeDeadlineSeconds=5), Backoff())
    assert (plan.grace_ms, plan.deadline_ms) == (0, 5_000)


@given(st.integers(0, 1000))
def test_waits_never_shrink_and_never_pass_their_bound(n: int) -> None:
    backoff = Backoff()
    assert backoff.after_crash(n) <= backoff.after_crash(n + 1) <= 300_000
    assert backoff.after_refusal(n) <= backoff.after_refusal(n + 1) <= 15_000


def test_the_first_waits_are_kubernetes_own() -> None:
    assert [Backoff().after_crash(n) for n in range(7)] == [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000]


@pytest.mark.parametrize(
    ("resources", "wanted"),
    [
        ({}, "BestEffort"),
        ({"requests": {"nvidia.com/gpu": "1"}}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    ],
)
def test_the_quality_of_service_class(resources: dict[str, Any], wanted: str) -> None:
    assert quality_of(pod("p", container("a", resources=resources))) == wanted
