"""Sessions of Kumi's own way, for the tests of this room."""

from __future__ import annotations

from kumi.engine.placement import rounds, ways
from kumi.engine.placement.conf import Option
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.testing.gangs import Scene, Tier, conf


def run(scene: Scene, actions: str, *tiers: Option | str | Tier) -> rounds.Round:
    return rounds.run(scene.around, conf(*tiers, actions=tuple(actions.split())), PLUGINS, ways.KUMI)


def evicted(done: rounds.Round) -> list[str]:
    return sorted(uid for uid, _ in done.outcome.evictions)
