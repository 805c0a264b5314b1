"""Logging of the edges: one line an event on standard error, for people."""

from __future__ import annotations

import logging
import sys


def set_up(verbose: bool) -> None:
    """Warnings and what a cluster's owner wants to know; `verbose` tells every write."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname).1s %(name)s: %(message)s",
    )
    logging.getLogger("asyncio").setLevel(logging.WARNING)
