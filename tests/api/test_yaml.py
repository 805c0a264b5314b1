"""YAML is read as Kubernetes' users mean it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.api.yaml import Lenient, Loader, load_all, load_objects, repeated_keys, roots


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-01-01", "2024-01-01"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("yes", True),
        ("0x1f", 31),
        ("0o17", 15),
        ("017", 15),
        ("08", 8),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-3", -3),
        ("'1'", "1"),
        ("12345678901234567890", 12345678901234567890),
        ("null", None),
    ],
)
def test_a_scalar_is_what_its_writer_meant(text: str, value: object) -> None:
    assert list(load_all(f"a: {text}")) == [{"a": value}]


@given(st.integers(-(2**70), 2**70))
def test_an_integer_is_itself(number: int) -> None:
    assert list(load_all(f"a: {number}")) == [{"a": number}]


def test_a_repeated_key_is_an_error_with_its_line() -> None:
    with pytest.raises(KumiError, match="line 3: key 'a' is given twice"):
        list(load_all("x:\n  a: 1\n  a: 2"))


def test_a_lenient_reader_takes_the_last_of_repeated_keys_and_is_told_of_them() -> None:
    text = "x:\n  a: 1\n  a: 2\ny: &y [{b: 1, c: 2, b: 3}]\nz: *y\nx: {d: 4}"
    assert list(load_all(text, Lenient)) == [{"x": {"d": 4}, "y": [{"b": 3, "c": 2}], "z": [{"b": 3, "c": 2}]}]
    assert repeated_keys(text) == [
        'line 3: key "a" already set in map',
        'line 4: key "b" already set in map',
        'line 6: key "x" already set in map',
    ]
    assert repeated_keys("base: &b {x: 1}\nmore: {<<: *b, x: 2}") == []


@pytest.mark.parametrize("reader", [Loader, Lenient])
@pytest.mark.parametrize(
    "text",
    [
        "!!set {x}",
        "!!binary aGk=",
        "!!omap [b: 1]",
        "!!pairs [b: 1]",
        "!!timestamp 2024-01-01",
        "!!int ''",
        "!!int x",
        "1" * 5000,
        "!!float x",
        "!!float .nan",
        "1e999",
        "!!bool x",
        "{[a]: b}",
        "{? {a: b} : c}",
    ],
)
def test_what_json_cannot_say_is_an_error_with_its_line(text: str, reader: type[Loader]) -> None:
    with pytest.raises(KumiError, match=r"^line 2: "):
        list(load_all(f"a: 1\nb: {text}", reader))


@pytest.mark.parametrize("text", ["&x [*x]", "&x {y: *x}", "[" * 500, "[" * 100_000])
def test_what_has_no_end_is_no_yaml(text: str) -> None:
    with pytest.raises(KumiError, match="this is not YAML"):
        list(load_all(f"a: {text}"))


@given(st.lists(st.sampled_from(["", "~", "null", "a: 1", "[]", "''", "!!null x"]), max_size=5))
def test_a_document_that_is_null_is_none_for_whoever_reads(documents: list[str]) -> None:
    text = "".join(f"---\n{document}\n" for document in documents)
    said = [n for n, document in enumerate(documents) if document in ("a: 1", "[]", "''")]
    assert [root.start_mark.line for root in roots(text)] == [2 * n + 1 for n in said]
    assert list(load_all(text)) == [{"a: 1": {"a": 1}, "[]": [], "''": ""}[documents[n]] for n in said]


def test_what_a_merge_key_brings_may_be_said_otherwise() -> None:
    [document] = load_all("base: &b {x: 1, y: 2}\nmore: {<<: *b, x: 3}")
    assert document["more"] == {"x": 3, "y": 2}
    with pytest.raises(KumiError, match="line 2: key 'x' is given twice"):
        list(load_all("base: &b {x: 1}\nmore: {<<: *b, x: 3, x: 4}"))


def test_anchors_and_merge_keys_work() -> None:
    [document] = load_all("base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  z: 3")
    assert document["more"] == {"x": 1, "y": 2, "z": 3}


def test_text_that_is_no_yaml_is_an_error() -> None:
    with pytest.raises(KumiError, match="not YAML"):
        list(load_all("a: [1"))


def test_a_list_gives_its_items_and_empty_documents_nothing() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n---\n---\napiVersion: v1\nkind: Node\n"
    assert [o["kind"] for o in load_objects(text)] == ["Pod", "Node"]


def test_a_document_that_is_no_object_is_named_by_its_number() -> None:
    with pytest.raises(KumiError, match="document 2: apiVersion and kind are missing"):
        load_objects("apiVersion: v1\nkind: Pod\n---\nname: x\n")
