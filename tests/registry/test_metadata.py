"""metadata: what the server writes and what nobody changes."""

from __future__ import annotations

import pytest

from kumi.registry import metadata

OLD = {"name": "a", "uid": "u", "creationTimestamp": "2030-01-01T00:00:00Z", "generation": 3}


def test_what_says_nothing_is_left_out() -> None:
    found = {"name": "a", "labels": {}, "finalizers": [], "annotations": None, "managedFields": [], "selfLink": "/x"}
    metadata.tidy(found)
    assert found == {"name": "a"}


def test_a_new_object_has_its_own_uid_time_and_generation() -> None:
    found = {"name": "a", "uid": "x", "generation": 9, "deletionTimestamp": "t", "resourceVersion": ""}
    metadata.begin(found, uid="u", now="now", counted=True)
    assert found == {"name": "a", "uid": "u", "creationTimestamp": "now", "generation": 1}


def test_kinds_that_do_not_count_have_no_generation() -> None:
    found = {"name": "a", "generation": 9}
    metadata.begin(found, uid="u", now="now", counted=False)
    assert "generation" not in found


def test_what_an_update_leaves_out_stays() -> None:
    new = {"name": "a", "labels": {"x": "y"}, "generation": 77}
    assert metadata.keep(new, OLD) == []
    assert new == {**OLD, "labels": {"x": "y"}}


@pytest.mark.parametrize("key", ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"])
def test_what_nobody_changes_is_refused(key: str) -> None:
    (error,) = metadata.keep({"name": "a", key: "other"}, OLD)
    assert (error.path, error.detail, error.type) == (f"metadata.{key}", "field is immutable", "FieldValueInvalid")


def test_an_object_that_is_being_deleted_gets_no_new_finalizers() -> None:
    old = {**OLD, "deletionTimestamp": "t", "finalizers": ["x/a", "x/b"]}
    assert metadata.keep({"name": "a", "finalizers": ["x/b"]}, old) == []
    first, second = metadata.keep({"name": "a", "finalizers": ["x/b", "x/c", "x/d"]}, old)
    assert first == second
    assert first.text() == (
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"x/c", "x/d"}'
    )


def test_any_other_object_gets_them() -> None:
    assert metadata.keep({"name": "a", "finalizers": ["x/c"]}, OLD) == []
