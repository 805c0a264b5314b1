from __future__ import annotations

import pytest

from kumi.api.scheme import load
from kumi.apiserver.discovery import groups, served, versions
from kumi.apiserver.openapi.schemas import references
from kumi.apiserver.openapi.v3 import document

SCHEME = load()
PLACES = [(g, v) for g in ("", *groups(SCHEME)) for v in versions(SCHEME, g)]


@pytest.mark.parametrize(("group", "version"), PLACES)
def test_a_document_says_all_that_it_refers_to(group: str, version: str) -> None:
    made = document(served(SCHEME, group, version), group, version, "v1")
    assert made["openapi"].startswith("3.0")
    assert set(references(made)) <= made["components"]["schemas"].keys()


def test_its_paths_are_those_of_its_version() -> None:
    made = document(served(SCHEME, "batch", "v1"), "batch", "v1", "v1")
    assert all(path.startswith("/apis/batch/v1/") for path in made["paths"])
    assert "/apis/batch/v1/namespaces/{namespace}/jobs/{name}/status" in made["paths"]


def test_the_same_kinds_make_the_same_document() -> None:
    kinds = served(SCHEME, "", "v1")
    assert document(kinds, "", "v1", "v1") == document(kinds, "", "v1", "v1")
