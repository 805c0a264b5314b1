"""Strict: nobody passes the first that finds no room.

The rule   in their order, those that wait start as long as each finds room. The first that finds none keeps all behind it waiting
           one that would find no room were nothing on the nodes keeps nobody waiting: no end of anything helps it
           one that something else holds back (its queue has had its share) keeps nobody waiting either
Why        whoever came first starts first, however large it is; nothing has to be known of how long anything takes.
Cost       a try for each that starts, and one for the first that doesn't.
Source     first come, first served.
Not here   reservations: easy.py, conservative.py; the order: ../../waiting.py, ../plugins.
"""

from __future__ import annotations

from collections.abc import Iterable

from kumi.engine.placement.line.asking import Asker, No, Seen, Try
from kumi.engine.placement.line.timeline import Timeline


def run(askers: Iterable[Asker], timeline: Timeline) -> Seen:
    """Goes through the line until somebody has to wait; who is behind isn't in what is seen."""
    seen = Seen()
    hopeless: dict[object, None] = {}
    for asker in askers:
        if asker.kind is not None and asker.kind in hopeless:
            seen.refuse(asker, No.ASIDE)
            continue
        tried = asker.start(None)
        if tried is Try.STARTED:
            continue
        if tried is Try.ASIDE or (tried is Try.FULL and not timeline.ever(asker)):
            seen.refuse(asker, No.ASIDE)
            if tried is Try.FULL:
                hopeless[asker.kind] = None
            continue
        seen.refuse(asker, No.FULL)
        break
    return seen
