from __future__ import annotations

import pytest

from kumi.registry.webhooks.calling import CallFailed, Refused, response_in

ANSWER = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {"uid": "u", "allowed": True}}


def test_an_answer_to_what_was_asked_is_one() -> None:
    assert response_in(ANSWER, "u")["allowed"]


@pytest.mark.parametrize("answer", [None, [], {}, {**ANSWER, "kind": "Pod"}, {**ANSWER, "response": {"uid": "other"}}])
def test_everything_else_is_none(answer: object) -> None:
    with pytest.raises(CallFailed):
        response_in(answer, "u")


def test_who_refuses_without_a_word_gives_400() -> None:
    refused = Refused("one.example.com", {})
    assert (refused.code, str(refused)) == (
        400,
        'admission webhook "one.example.com" denied the request without explanation',
    )
