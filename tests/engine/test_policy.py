"""Policy: what may be written, and how wrong fields are told."""

from __future__ import annotations

import pytest

from kumi.engine.model import Profile
from kumi.engine.placement.plugins import of
from kumi.engine.policy import PolicyError, parse


def test_nothing_written_is_the_default() -> None:
    default = Profile("kumi", True, {"scoring": "binpack"})
    assert parse(None) == parse({}) == default
    assert of(parse({})) == of(Profile())


def test_everything_written_is_taken() -> None:
    assert parse({"profile": "kumi", "placement": "none", "scoring": "nodeorder"}) == Profile(
        "kumi", False, {"scoring": "nodeorder"}
    )


def test_every_wrong_field_is_told_with_its_path() -> None:
    with pytest.raises(PolicyError) as caught:
        parse({"profile": "tetris", "scoring": 3, "actions": "allocate"})
    assert [(e.path, e.type) for e in caught.value.errors] == [
        ("actions", "FieldValueForbidden"),
        ("profile", "FieldValueNotSupported"),
        ("scoring", "FieldValueNotSupported"),
    ]
    assert 'scoring: Unsupported value: 3: supported values: "binpack", "nodeorder"' in str(caught.value)
    assert '"profile", "placement", "scoring"' in str(caught.value)


@pytest.mark.parametrize("raw", ["kumi", 3, [], True])
def test_what_is_no_mapping_is_told_as_such(raw: object) -> None:
    with pytest.raises(PolicyError, match="must be a mapping"):
        parse(raw)


def test_a_value_that_can_not_be_compared_is_wrong_and_no_crash() -> None:
    with pytest.raises(PolicyError):
        parse({"profile": {"name": "kumi"}})
