from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from kumi.api.defaulting.batch import default_job
from kumi.api.wire import JsonObject


def defaulted(**spec: Any) -> JsonObject:
    job: JsonObject = {"spec": deepcopy(spec)}
    default_job(job)
    once = deepcopy(job)
    default_job(job)
    assert job == once
    return dict(job["spec"])


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ({}, {"parallelism": 1, "completions": 1}),
        ({"completions": 4}, {"parallelism": 1, "completions": 4}),
        ({"parallelism": 4}, {"parallelism": 4}),
        ({"parallelism": 0, "completions": 2}, {"parallelism": 0, "completions": 2}),
    ],
)
def test_counts_that_are_not_given(written: JsonObject, stored: JsonObject) -> None:
    found = defaulted(**written)
    assert {key: found[key] for key in ("parallelism", "completions") if key in found} == stored


def test_everything_else() -> None:
    found = defaulted(template={"spec": {"restartPolicy": "Never"}})
    assert (found["backoffLimit"], found["completionMode"], found["suspend"]) == (6, "NonIndexed", False)
    assert found["podReplacementPolicy"] == "TerminatingOrFailed"
    assert (found["template"]["spec"]["restartPolicy"], found["template"]["spec"]["dnsPolicy"]) == (
        "Never",
        "ClusterFirst",
    )


def test_policies_change_defaults() -> None:
    assert defaulted(podFailurePolicy={"rules": [{"action": "Ignore"}]})["podReplacementPolicy"] == "Failed"
    assert defaulted(backoffLimitPerIndex=1)["backoffLimit"] == 2**31 - 1
