from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.apiserver.negotiate import PLAIN, Form, clauses, negotiate

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"


@given(st.text())
def test_any_header_is_a_form_or_a_406(accept: str) -> None:
    with suppress(ApiError):
        assert isinstance(negotiate(accept), Form)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", PLAIN),
        ("*/*", PLAIN),
        ("application/*", PLAIN),
        ("APPLICATION/JSON", PLAIN),
        ("application/json;charset=utf-8", PLAIN),
        (TABLE, Form("table")),
        (f"{TABLE},application/json", Form("table")),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", Form("table", "v1beta1")),
        (PARTIAL, Form("partial")),
        (PARTIAL.replace("Metadata;", "MetadataList;"), Form("partial")),
        ("application/vnd.kubernetes.protobuf,application/json", PLAIN),
        (f"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,{TABLE},application/json", Form("table")),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", PLAIN),
        ("application/json;as=Unheard;v=v1;g=meta.k8s.io,application/json", PLAIN),
        ("application/yaml", Form(media_type="application/yaml")),
        ("application/yaml;q=0.5, application/json", PLAIN),
        ("application/yaml;q=nonsense", Form(media_type="application/yaml")),
    ],
)
def test_the_best_clause_that_is_spoken_decides(accept: str, form: Form) -> None:
    assert negotiate(accept) == form


@pytest.mark.parametrize(
    "accept", ["text/html", "application/vnd.kubernetes.protobuf", "application/json;q=0", f"{TABLE[:-3]}other"]
)
def test_nothing_acceptable_is_a_406(accept: str) -> None:
    with pytest.raises(ApiError) as refused:
        negotiate(accept)
    assert (refused.value.code, refused.value.reason) == (406, "NotAcceptable")


def test_clauses_come_best_first_and_else_as_written() -> None:
    found = [c.media_type for c in clauses("a/a;q=0.1, b/b, c/c;q=0.5, d/d, e/e;q=0")]
    assert found == ["b/b", "d/d", "c/c", "a/a"]
