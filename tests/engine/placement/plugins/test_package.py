"""The plug-ins that a profile names."""

from __future__ import annotations

from kumi.engine.model import Profile
from kumi.engine.placement.plugins import SCORES, Scoring, of
from kumi.engine.placement.plugins.binpack import Binpack


def test_binpack_is_the_default_and_the_profile_may_name_another() -> None:
    assert of(Profile()).score == Scoring((Binpack(),))
    assert of(Profile(arguments={"scoring": "nodeorder"})).score == SCORES["nodeorder"]({})
