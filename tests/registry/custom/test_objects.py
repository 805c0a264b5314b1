"""What an object must keep to: metadata, schema, rules; and rules wait until values are fit to look at."""

from __future__ import annotations

from kumi.api.scheme import ScalePaths
from kumi.registry.custom.objects import wrong_object
from tests.registry.custom.made import NUMBER, TEXT, compiled, of, ruled

SCHEMA = compiled(spec=ruled({**of(a=NUMBER, b=TEXT), "required": ["a"]}, "self.a > 1"))


def paths(spec: object, name: str = "w") -> list[str]:
    """Where the faults of an object are."""
    return [error.path for error in wrong_object(SCHEMA, {"metadata": {"name": name}, "spec": spec}, None)]


def test_metadata_is_checked_as_everybodys() -> None:
    assert paths({"a": 2}, "Not a name") == ["metadata.name"]


def test_rules_run_on_values_that_are_fit() -> None:
    assert paths({"a": 2}) == []
    assert paths({"a": 1}) == ["spec"]


def test_rules_wait_for_values_that_are_not() -> None:
    assert paths({"b": "x"}) == ["spec.a", "<nil>"]


def test_a_rule_that_was_broken_before_may_stay_broken_where_nothing_changes() -> None:
    old = {"metadata": {"name": "w"}, "spec": {"a": 1, "b": "x"}}
    same = {"metadata": {"name": "w", "labels": {"x": "y"}}, "spec": {"a": 1, "b": "x"}}
    touched = {"metadata": {"name": "w"}, "spec": {"a": 1, "b": "y"}}
    assert wrong_object(SCHEMA, same, old) == []
    assert [error.path for error in wrong_object(SCHEMA, touched, old)] == ["spec"]


def test_replicas_fit_in_a_scale() -> None:
    scale = ScalePaths(".spec.n", ".status.n")
    schema = compiled(spec=of(n=NUMBER), status=of(n=NUMBER))
    obj = {"metadata": {"name": "w"}, "spec": {"n": -1}, "status": {"n": 2**31}}
    assert [error.path for error in wrong_object(schema, obj, None, scale)] == ["spec.n", "status.n"]
