"""AdmissionCheck -> AdmissionCheck: who answers it, and whether somebody does (condition Active is True)."""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import is_true
from kumi.engine import model


def admissioncheck(view: kueue.AdmissionCheck) -> model.AdmissionCheck:
    """See the module."""
    return model.AdmissionCheck(
        view.metadata.name, view.spec.controller_name, active=is_true(view.status.conditions, "Active")
    )
