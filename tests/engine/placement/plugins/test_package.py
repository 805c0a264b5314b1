"""The plug-ins that a profile names."""

from __future__ import annotations

from kumi.engine.model import Profile
from kumi.engine.placement.plugins import SCORES, of
from kumi.engine.placement.plugins.binpack import Binpack
from kumi.engine.placement.plugins.nodeorder import NodeOrder


def test_binpack_is_the_default_and_the_profile_may_name_another() -> None:
    assert of(Profile()).score == Binpack()
    assert of(Profile(arguments={"scoring": "nodeorder"})).score == NodeOrder()


def test_every_score_is_made_without_arguments() -> None:
    assert [kind() for kind in SCORES.values()] == [Binpack(), NodeOrder()]
