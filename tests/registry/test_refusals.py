"""Refusals as they go on the wire."""

from __future__ import annotations

import pytest

from kumi.api.errors import FieldError
from kumi.api.scheme import Kind, Scheme
from kumi.registry import refusals


@pytest.fixture
def job(scheme: Scheme) -> Kind:
    found = scheme.find("batch", "Job")
    assert found is not None
    return found


def test_what_two_checks_say_alike_is_said_once_and_counted_twice(job: Kind) -> None:
    error = FieldError("spec.x", "no", "FieldValueForbidden")
    told = refusals.invalid_object(job, "j", [error, error])
    assert told.message == 'Job.batch "j" is invalid: spec.x: Forbidden: no'
    assert len(told.status()["details"]["causes"]) == 2


def test_several_errors_stand_in_brackets(job: Kind) -> None:
    errors = [FieldError("a", "no", value=1), FieldError("b", "", "FieldValueRequired")]
    told = refusals.invalid_object(job, "j", errors)
    assert told.message == 'Job.batch "j" is invalid: [a: Invalid value: 1: no, b: Required value]'


def test_causes_that_are_no_field_errors_go_out_as_they_are(job: Kind) -> None:
    cause = {"reason": "R", "message": "m", "field": "f"}
    status = refusals.forbidden(job, "j", "because", [cause]).status()
    assert status["details"] == {"name": "j", "group": "batch", "kind": "jobs", "causes": [cause]}
    assert status["message"] == 'jobs.batch "j" is forbidden: because'


def test_options_are_invalid_in_the_meta_group() -> None:
    told = refusals.invalid_options("ListOptions", FieldError("x", "no", value="v"))
    assert told.message == 'ListOptions.meta.k8s.io "" is invalid: x: Invalid value: "v": no'


@pytest.mark.parametrize(
    ("content_type", "message"),
    [
        ("text/plain", "415: Unsupported Media Type"),
        (
            refusals.STRATEGIC_PATCH,
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
        ),
    ],
)
def test_patches_that_are_not_taken(job: Kind, content_type: str, message: str) -> None:
    told = refusals.unsupported_patch(job, content_type)
    assert (told.code, told.reason) == (415, "UnsupportedMediaType")
    assert message in told.message


def test_a_precondition_names_the_kind_with_its_group(job: Kind) -> None:
    told = refusals.precondition_failed(job, "j", "UID", "a", "b")
    assert told.message.startswith('Operation cannot be fulfilled on Job.batch "j": the UID in the precondition (a)')
