from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.validation import names

LETTERS = st.text("abz09-._/A=%\n é", max_size=70)


@given(LETTERS)
def test_a_label_is_a_subdomain_and_a_subdomain_fits_in_a_path(name: str) -> None:
    if not names.label_1035(name):
        assert names.label(name) == ""
    if not names.label(name):
        assert names.subdomain(name) == ""
    if not names.subdomain(name):
        assert names.path_segment(name) == ""


@given(LETTERS)
def test_a_label_value_that_is_not_empty_is_the_name_part_of_a_key(value: str) -> None:
    assert (names.label_value(value) == "") is (value == "" or ("/" not in value and names.qualified(value) == ""))


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (names.label, ["a", "1", "a-b", "a" * 63], ["", "-a", "a-", "A", "a.b", "a_b", "a" * 64, "a\n"]),
        (names.label_1035, ["a", "a-1"], ["1a", "", "a.b"]),
        (names.subdomain, ["a", "a.b", "1.2", "a" * 253], ["", "a..b", ".a", "A", "a/b", "a" * 254]),
        (names.label_value, ["", "a", "A.b_c-1", "a" * 63], ["-a", "a b", "a/b", "a" * 64]),
        (names.qualified, ["a", "A_b", "x.y/A", "nvidia.com/gpu"], ["", "/a", "a/", "X.y/a", "a b", "x/y/z", "a" * 64]),
        (names.config_key, ["a.b", "KEY", "_"], ["", "a/b", "a b"]),
        (names.path_segment, ["A b", "x.y"], [".", "..", "a/b", "a%"]),
        (names.env_name, ["A", "a.b", "1"], ["", "A=B", "é"]),
        (names.port_name, ["http", "a-1", "80a"], ["", "80", "a--b", "-a", "A", "a" * 16]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_each_grammar(rule: names.Rule, good: list[str], bad: list[str]) -> None:
    assert [name for name in good if rule(name)] == []
    assert [name for name in bad if not rule(name)] == []


def test_labels_are_told_at_their_map_keys_and_values() -> None:
    found = names.labels({"a b": "x", "ok": "no way", "fine": "1"}, "metadata.labels")
    assert [(error.path, error.value) for error in found] == [("metadata.labels", "a b"), ("metadata.labels", "no way")]


def test_annotations_have_keys_of_any_case_and_any_value() -> None:
    assert names.labels({"Example.com/a": "any thing\n"}, "metadata.annotations", keys=True) == []
    assert len(names.labels({"a b": ""}, "metadata.annotations", keys=True)) == 1
