"""A patch that came with a request."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError
from kumi.api.scheme import Kind, Scheme
from kumi.registry.patching import OPERATIONS, Patch

from .world import JSON, MERGE, STRATEGIC


@pytest.fixture
def kind(scheme: Scheme) -> Kind:
    found = scheme.find("", "Pod")
    assert found is not None
    return found


def test_every_attempt_starts_from_the_patch_as_it_came(kind: Kind) -> None:
    patch = Patch(MERGE, {"spec": {"list": [1]}})
    first = patch.applied(kind, {})
    first["spec"]["list"].append(2)
    assert patch.applied(kind, {}) == {"spec": {"list": [1]}}


@pytest.mark.parametrize(
    ("type", "body", "made"),
    [
        (MERGE, {"a": {"b": 1}}, {"a": {"b": 1}}),
        (JSON, [{"op": "add", "path": "/a", "value": 1}], {"a": 1}),
        (STRATEGIC, {"metadata": {"finalizers": ["x"]}}, {"metadata": {"finalizers": ["x"]}}),
        ("Application/Merge-Patch+JSON; charset=utf-8", {"a": 1}, {"a": 1}),
    ],
)
def test_the_content_type_says_which_rule(kind: Kind, type: str, body: object, made: dict) -> None:
    patch = Patch(type, body)
    patch.check(kind)
    assert patch.applied(kind, {}) == made


def test_more_operations_than_are_taken_are_too_large() -> None:
    with pytest.raises(ApiError, match="allowed maximum operations") as refused:
        Patch(JSON, [{}] * (OPERATIONS + 1))
    assert refused.value.code == 413


@pytest.mark.parametrize(("type", "body", "code"), [(MERGE, [], 400), (JSON, [{"op": "x", "path": ""}], 422)])
def test_failures_have_their_codes(kind: Kind, type: str, body: object, code: int) -> None:
    with pytest.raises(ApiError) as refused:
        Patch(type, body).applied(kind, {})
    assert refused.value.code == code
