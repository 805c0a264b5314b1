"""Policy: the policy file, parsed and checked.

    profile: kumi                      which strategies decide
    placement: kumi | none             Kumi places pods itself, or the cluster's own scheduler does (only quota is decided)
    scoring: binpack | nodeorder       which node is best: the fullest that fits, or the emptiest

All fields may be left out; what is here is the default but for the alternatives after it.
Errors        every wrong field at once, with its path and what it may be.
Not here      actions and tiers of plug-ins come with pod groups and queues; what the words mean: placement/plugins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumi.api.errors import FieldError, KumiError
from kumi.engine.model import Profile
from kumi.engine.placement.plugins import SCORES

FIELDS = {
    "profile": ("kumi",),
    "placement": ("kumi", "none"),
    "scoring": ("binpack", *sorted(set(SCORES) - {"binpack"})),
}
"""what each field may be; the first is the default"""


class PolicyError(KumiError):
    """The policy can't be read; `errors` has every wrong field."""

    def __init__(self, errors: tuple[FieldError, ...]) -> None:
        super().__init__("; ".join(error.text() for error in errors))
        self.errors = errors


def parse(raw: Any) -> Profile:
    """The profile that a policy (what YAML or JSON gave) asks for. PolicyError."""
    if raw is None:
        raw = {}
    if not isinstance(raw, Mapping):
        raise PolicyError((FieldError("policy", "must be a mapping", "FieldValueTypeInvalid"),))
    errors = [_unknown(str(key)) for key in raw if key not in FIELDS]
    chosen = {}
    for key, values in FIELDS.items():
        chosen[key] = raw.get(key, values[0])
        if chosen[key] not in values:
            errors.append(
                FieldError(key, f"supported values: {_quoted(values)}", "FieldValueNotSupported", chosen[key])
            )
    if errors:
        raise PolicyError(tuple(errors))
    return Profile(chosen["profile"], chosen["placement"] == "kumi", {"scoring": chosen["scoring"]})


def _unknown(key: str) -> FieldError:
    return FieldError(key, f"unknown field; known are {_quoted(tuple(FIELDS))}", "FieldValueForbidden")


def _quoted(values: tuple[str, ...]) -> str:
    return ", ".join(f'"{value}"' for value in values)
