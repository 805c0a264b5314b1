from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import FieldError
from kumi.api.validation.metadata import ANNOTATIONS_BYTES, validate_metadata, with_metadata
from kumi.api.validation.names import label, subdomain

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u"}


def wrong(**metadata: Any) -> list[tuple[str, str]]:
    return [(error.path, error.type.removeprefix("FieldValue")) for error in validate_metadata(metadata, subdomain)]


@pytest.mark.parametrize(
    ("metadata", "paths"),
    [
        ({"name": "a.b", "namespace": "n"}, []),
        ({"name": "A"}, ["metadata.name"]),
        ({"generateName": "job-", "name": "job-x"}, []),
        ({"generateName": "Job-"}, ["metadata.generateName"]),
        ({"labels": {"a": "x y"}}, ["metadata.labels"]),
        ({"annotations": {"a b": ""}}, ["metadata.annotations"]),
        ({"ownerReferences": [OWNER]}, []),
        ({"ownerReferences": [{"kind": "Pod", "name": "a", "uid": "u"}]}, ["metadata.ownerReferences[0].apiVersion"]),
        ({"ownerReferences": [OWNER | {"controller": True}] * 2}, ["metadata.ownerReferences"]),
        ({"finalizers": ["example.com/a", "a b"]}, ["metadata.finalizers[1]"]),
    ],
)
def test_metadata(metadata: dict[str, Any], paths: list[str]) -> None:
    assert [path for path, _ in wrong(**metadata)] == paths


def test_annotations_together_have_a_size() -> None:
    assert wrong(annotations={"a": "x" * (ANNOTATIONS_BYTES - 1)}) == []
    assert wrong(annotations={"a": "x" * ANNOTATIONS_BYTES}) == [("metadata.annotations", "TooLong")]


def test_a_kind_s_own_rules_come_after_its_metadata() -> None:
    validate = with_metadata(label, lambda new, old: [FieldError("spec", "own" if old is None else "update")])
    assert [error.detail for error in validate({"metadata": {"name": "a"}}, None)] == ["own"]
    assert [error.path for error in validate({"metadata": {"name": "a.b"}}, {})] == ["metadata.name", "spec"]
