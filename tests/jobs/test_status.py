"""A status as JSON, and the patch between two."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.batch import JobStatus
from kumi.api.kubeflow import ReplicaStatus, TrainingStatus
from kumi.api.meta import Condition
from kumi.jobs.status import status_patch, to_json
from tests.jobs.world import merged

CONDITIONS = st.lists(
    st.builds(
        Condition,
        type=st.sampled_from(["A", "B"]),
        status=st.sampled_from(["True", "False", "Unknown"]),
        last_transition_time=st.none() | st.just("2026-01-01T00:00:00Z"),
    ),
    max_size=2,
)
JOB = st.builds(
    JobStatus,
    active=st.integers(0, 2),
    ready=st.none() | st.integers(0, 2),
    completed_indexes=st.sampled_from(["", "0-1"]),
    start_time=st.none() | st.just("2026-01-01T00:00:00Z"),
    conditions=CONDITIONS,
    uncounted_terminated_pods=st.none() | st.dictionaries(st.sampled_from(["failed", "succeeded"]), st.just(["u"])),
)
TRAINING = st.builds(
    TrainingStatus,
    conditions=CONDITIONS,
    replica_statuses=st.dictionaries(
        st.sampled_from(["Master", "Worker"]),
        st.builds(ReplicaStatus, active=st.integers(0, 1), failed=st.integers(0, 1)),
    ),
)


@given(JOB, JOB)
def test_the_patch_leads_from_one_status_to_the_other(old: JobStatus, new: JobStatus) -> None:
    assert merged(to_json(old), status_patch(old, new) or {}) == to_json(new)


@given(TRAINING, TRAINING)
def test_nested_counters_are_patched_too(old: TrainingStatus, new: TrainingStatus) -> None:
    assert merged(to_json(old), status_patch(old, new) or {}) == to_json(new)


@given(JOB)
def test_no_change_is_no_patch(status: JobStatus) -> None:
    assert status_patch(status, msgspec.structs.replace(status)) is None


@given(JOB)
def test_what_is_written_reads_back_the_same(status: JobStatus) -> None:
    assert msgspec.convert(to_json(status), JobStatus) == status


def test_a_counter_that_falls_to_zero_vanishes_and_a_known_zero_stays() -> None:
    assert status_patch(JobStatus(active=1, ready=1), JobStatus(active=0, ready=0)) == {"active": None, "ready": 0}


def test_a_condition_of_unknown_status_keeps_saying_so() -> None:
    assert to_json(Condition(type="A")) == {"type": "A", "status": "Unknown"}
