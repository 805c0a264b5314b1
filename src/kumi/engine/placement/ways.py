"""Ways: what a profile decides differently from Volcano, one strategy each, picked once a session.

    actions    those that evict: as Volcano does, or so that nobody goes in vain (actions/attempt.py)
    agree      whom the plug-ins of a tier let go together (agreeing.py)
Not here       the scheduler's file: conf.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kumi.engine.placement.actions import ACTIONS, LEAST, Action
from kumi.engine.placement.agreeing import Agree, by_all, starting_anew


@dataclass(frozen=True, slots=True)
class Ways:
    """See the module."""

    actions: Mapping[str, Action]
    agree: Agree


VOLCANO = Ways(ACTIONS, starting_anew)
KUMI = Ways(LEAST, by_all)


def of(profile: str) -> Ways:
    """Those of a profile."""
    return VOLCANO if profile == "volcano" else KUMI
