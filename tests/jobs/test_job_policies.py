"""What failures mean: by rule, by index; and success before the end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.core import Pod
from kumi.jobs.indexes import text_of
from kumi.jobs.job import JobReplicas
from kumi.jobs.job_plan import Plan
from kumi.jobs.job_policies import FAILURES_KEY, IGNORED_KEY, success
from tests.jobs.world import World, batch_job, phase


def started(**spec: Any) -> World:
    made = World(JobReplicas(), batch_job(**spec))
    made.settle()
    return made


def rules(*found: dict[str, Any]) -> dict[str, Any]:
    return {"podFailurePolicy": {"rules": list(found)}, "podReplacementPolicy": "Failed"}


def codes(action: str, *values: int, operator: str = "In") -> dict[str, Any]:
    return {"action": action, "onExitCodes": {"operator": operator, "values": list(values)}}


def reason(w: World, kind: str) -> tuple[str, str]:
    found = next(c for c in w.status["conditions"] if c["type"] == kind)
    return found["reason"], found["message"]


def fail(w: World, code: int = 1) -> str:
    """The first pod that lives fails; its name."""
    name: str = w.live()[0]["metadata"]["name"]
    w.end(name, code, "c")
    w.settle()
    return name


def index(pod: dict[str, Any]) -> str:
    found: str = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
    return found


def patient(w: World) -> None:
    w.advance(3600)
    w.settle()


def test_a_rule_may_fail_the_job_at_once() -> None:
    w = started(backoffLimit=6, **rules(codes("FailJob", 42)))
    name = fail(w, 42)
    assert w.is_true("Failed")
    assert reason(w, "Failed") == (
        "PodFailurePolicy",
        f"Container c for pod ns/{name} failed with exit code 42 matching FailJob rule at index 0",
    )


def test_a_rule_may_count_nothing() -> None:
    w = started(backoffLimit=0, **rules(codes("Ignore", 7)))
    for _ in range(3):
        fail(w, 7)
        assert not w.is_true("Failed")
        assert len(w.live()) == 1
    assert w.status.get("failed", 0) == 0
    fail(w, 8)
    assert w.is_true("Failed")


def test_the_first_rule_that_is_met_decides() -> None:
    w = started(backoffLimit=6, **rules(codes("Count", 42), codes("FailJob", 1, operator="NotIn")))
    fail(w, 42)
    assert (w.status["failed"], w.is_true("Failed")) == (1, False)
    patient(w)
    fail(w, 9)
    assert w.is_true("Failed")


def test_a_success_meets_no_rule_about_codes() -> None:
    w = started(**rules(codes("FailJob", 1, operator="NotIn")))
    w.end(w.live()[0]["metadata"]["name"], 0, "c")
    w.settle()
    assert w.is_true("Complete")


def test_conditions_are_met_at_their_status() -> None:
    rule = {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    w = started(**rules(rule))
    w.disrupt(w.live()[0]["metadata"]["name"])
    w.settle()
    assert reason(w, "Failed")[0] == "PodFailurePolicy"


def test_without_a_rule_a_disrupted_pod_counts_as_nothing() -> None:
    w = started(backoffLimit=0)
    w.disrupt(w.live()[0]["metadata"]["name"])
    w.settle()
    assert not w.is_true("Failed")
    assert len(w.live()) == 1


@pytest.mark.parametrize("grace", [False, True])
@pytest.mark.parametrize("replacement", ["TerminatingOrFailed", "Failed"])
def test_a_pod_that_is_evicted_counts_as_nothing_whenever_its_processes_end(replacement: str, grace: bool) -> None:
    w = started(backoffLimit=0, podReplacementPolicy=replacement)
    w.grace = grace
    meta = w.live()[0]["metadata"]
    name, uid = meta["name"], meta["uid"]
    w.run(name)
    w.patch(Pod, name, {"status": {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}})
    w.delete(Pod, name)
    w.settle()
    if any(pod["metadata"]["uid"] == uid for pod in w.objects.values()):
        w.end(name, 143)
        w.settle()
    (again,) = w.live()
    assert again["metadata"]["uid"] != uid
    assert not w.is_true("Failed")


def indexed(completions: int = 3, limit: int = 1, **spec: Any) -> World:
    given = {"completions": completions, "parallelism": completions, "completionMode": "Indexed", **spec}
    return started(**given, backoffLimit=2**31 - 1, backoffLimitPerIndex=limit)


def test_an_index_fails_when_its_own_limit_is_used_up_and_the_others_go_on() -> None:
    w = indexed(limit=1)
    for tries in range(2):
        [mine] = [pod for pod in w.live() if index(pod) == "1"]
        assert mine["metadata"]["annotations"][FAILURES_KEY] == str(tries)
        w.end(mine["metadata"]["name"], 1, "c")
        w.settle()
        patient(w)
    assert w.status["failedIndexes"] == "1"
    assert sorted(index(pod) for pod in w.live()) == ["0", "2"]
    for pod in w.live():
        w.end(pod["metadata"]["name"], 0, "c")
    w.settle()
    assert reason(w, "Failed") == ("FailedIndexes", "Job has failed indexes")
    assert (w.status["completedIndexes"], w.status["failedIndexes"]) == ("0,2", "1")


def test_too_many_failed_indexes_end_the_job() -> None:
    w = indexed(limit=0, maxFailedIndexes=1)
    fail(w)
    assert not w.is_true("Failed")
    fail(w)
    assert reason(w, "Failed")[0] == "MaxFailedIndexesExceeded"


def test_an_index_waits_for_itself_only() -> None:
    w = indexed(completions=4, limit=5, parallelism=2)
    first, second = w.live()
    w.end(first["metadata"]["name"], 1, "c")
    w.end(second["metadata"]["name"], 0, "c")
    w.settle()
    assert [index(pod) for pod in w.live()] == ["2", "3"]


def test_a_rule_may_fail_an_index_at_once_and_ignored_failures_are_told_apart() -> None:
    w = indexed(limit=3, **rules(codes("FailIndex", 3), codes("Ignore", 4)))
    [zero, one, _] = w.live()
    w.end(zero["metadata"]["name"], 3, "c")
    w.end(one["metadata"]["name"], 4, "c")
    w.settle()
    patient(w)
    assert w.status["failedIndexes"] == "0"
    [again] = [pod for pod in w.live() if index(pod) == "1"]
    marks = again["metadata"]["annotations"]
    assert (marks[FAILURES_KEY], marks[IGNORED_KEY]) == ("0", "1")


def test_a_job_without_the_limit_has_no_failed_indexes() -> None:
    w = started(completions=2, parallelism=2, completionMode="Indexed", backoffLimit=9)
    fail(w)
    assert "failedIndexes" not in w.status


@pytest.mark.parametrize(
    ("rule", "done"),
    [
        ({"succeededCount": 1}, "1"),
        ({"succeededIndexes": "1-2", "succeededCount": 1}, "2"),
        ({"succeededIndexes": "0"}, "0"),
    ],
)
def test_a_success_policy_ends_the_job_and_its_other_pods(rule: dict[str, Any], done: str) -> None:
    w = started(
        completions=3,
        parallelism=3,
        completionMode="Indexed",
        successPolicy={"rules": [{"succeededIndexes": "0-2"}, rule]},
    )
    [pod] = [pod for pod in w.live() if index(pod) == done]
    w.end(pod["metadata"]["name"], 0, "c")
    w.settle()
    assert reason(w, "SuccessCriteriaMet") == ("SuccessPolicy", "Matched rules at index 1")
    assert w.is_true("Complete")
    assert [phase(pod) for pod in w.pods()] == ["Succeeded"]


INDEXES = st.frozensets(st.integers(0, 9))


@given(INDEXES, INDEXES.filter(bool), st.integers(1, 10) | st.none())
def test_a_rule_is_met_by_all_or_by_as_many_as_it_says(
    completed: frozenset[int], meant: frozenset[int], count: int | None
) -> None:
    rule = {"succeededIndexes": text_of(meant), **({"succeededCount": count} if count is not None else {})}
    plan = Plan(10, 10, True, 6, "Never", False, False, success_rules=(rule,))
    needed = len(meant) if count is None else count
    assert bool(success(plan, completed)) == (len(meant & completed) >= needed)
