"""Domains: where a gang may be placed as a whole, the best first.

The rule   a gang that asks for no closeness has one domain: the whole cluster
Source     Volcano: gradients of hypernodes for eviction.
Not here   what is done in a domain: whole_gang.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumi.engine.placement.framework import Framework
from kumi.engine.placement.tasks import Job


@dataclass(frozen=True, slots=True)
class Domain:
    """Nodes that a gang is looked for together on."""

    nodes: frozenset[str]


def domains(framework: Framework, job: Job) -> list[Domain]:
    """Of the gang; see the module."""
    return [Domain(frozenset(framework.nodes.row_by_name))]
