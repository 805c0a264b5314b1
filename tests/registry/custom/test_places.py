"""Places: written as Kubernetes writes them, found again in values."""

from __future__ import annotations

from kumi.registry.custom.places import MISSING, Key, at, dotted, text_of


def test_a_key_of_a_map_stands_in_brackets_or_like_a_member() -> None:
    path = ("spec", "items", 1, "labels", Key("a/b"))
    assert text_of(path) == "spec.items[1].labels[a/b]"
    assert dotted(path) == "spec.items[1].labels.a/b"


def test_what_is_at_a_place() -> None:
    value = {"spec": {"items": [{"a": 1}]}}
    assert at(value, ("spec", "items", 0, "a")) == 1
    assert at(value, ("spec", "items", 1)) is MISSING
    assert at(value, ("spec", "none", "a")) is MISSING
    assert at(value, ("spec", 0)) is MISSING
