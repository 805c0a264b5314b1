"""Cohort -> Cohort: the cohort above it, quota of its own in base units, its fair share."""

from __future__ import annotations

from kumi.api import kueue
from kumi.bridge.into.quotas import groups, weight
from kumi.engine import model


def cohort(view: kueue.Cohort) -> model.Cohort:
    """See the module. KumiError for a quantity that can't be read."""
    spec = view.spec
    return model.Cohort(
        name=view.metadata.name,
        parent=spec.parent_name,
        groups=groups(spec.resource_groups),
        weight=weight(spec.fair_sharing),
    )
