from __future__ import annotations

import pytest

from kumi.api import errors
from kumi.api.errors import FieldError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FieldError("spec.a", "must be less", value=3), "spec.a: Invalid value: 3: must be less"),
        (FieldError("spec.a", "", "FieldValueRequired"), "spec.a: Required value"),
        (FieldError("spec.a", "", "FieldValueDuplicate", "x"), 'spec.a: Duplicate value: "x"'),
        (FieldError("spec.a", "", "FieldValueNotFound", "x"), 'spec.a: Not found: "x"'),
        (FieldError("spec.a", "no", "FieldValueForbidden", "x"), "spec.a: Forbidden: no"),
        (
            FieldError("a", 'supported values: "b"', "FieldValueNotSupported", "c"),
            'a: Unsupported value: "c": supported values: "b"',
        ),
        (FieldError("spec.a", "no", value=True), "spec.a: Invalid value: true: no"),
        (FieldError("spec.a", "", "FieldValueDuplicate", {"name": "x"}), 'spec.a: Duplicate value: {"name":"x"}'),
        (FieldError("spec.a", "no", value=["x", None]), 'spec.a: Invalid value: ["x",null]: no'),
    ],
)
def test_a_field_error_reads_as_kubectl_s_users_know_it(error: FieldError, text: str) -> None:
    assert error.text() == text


def test_a_status_carries_what_clients_read() -> None:
    refused = errors.invalid("PyTorchJob", "x", (FieldError("spec.a", "no", value=1),), "kubeflow.org")
    status = refused.status()
    assert (status["code"], status["reason"], status["details"]["kind"]) == (422, "Invalid", "PyTorchJob")
    assert status["message"] == 'PyTorchJob.kubeflow.org "x" is invalid: spec.a: Invalid value: 1: no'
    assert status["details"]["causes"] == [
        {"reason": "FieldValueInvalid", "message": "Invalid value: 1: no", "field": "spec.a"}
    ]


def test_several_causes_are_told_together() -> None:
    causes = (FieldError("a", "", "FieldValueRequired"), FieldError("b", "", "FieldValueRequired"))
    assert errors.invalid("Pod", "x", causes).message == 'Pod "x" is invalid: [a: Required value, b: Required value]'


def test_refusals_have_their_codes_and_words() -> None:
    assert errors.not_found("pods", "x").status()["message"] == 'pods "x" not found'
    assert errors.already_exists("jobs", "x", "batch").message == 'jobs.batch "x" already exists'
    assert (errors.conflict("pods", "x").code, errors.expired("old").code, errors.bad_request("no").code) == (
        409,
        410,
        400,
    )
    assert "details" not in errors.bad_request("no").status()
