"""Ways: what a profile decides differently from Volcano, one strategy each, picked once a session.

    actions    those that evict: as Volcano does, or so that nobody goes in vain (actions/attempt.py)
    customs    how it reads what plug-ins say (customs.py)
Not here       the scheduler's file: conf.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kumi.engine.placement import customs
from kumi.engine.placement.actions import ACTIONS, LEAST, Action
from kumi.engine.placement.customs import Customs


@dataclass(frozen=True, slots=True)
class Ways:
    """See the module."""

    actions: Mapping[str, Action]
    customs: Customs


VOLCANO = Ways(ACTIONS, customs.VOLCANO)
KUMI = Ways(LEAST, customs.KUMI)


def of(profile: str) -> Ways:
    """Those of a profile."""
    return VOLCANO if profile == "volcano" else KUMI
