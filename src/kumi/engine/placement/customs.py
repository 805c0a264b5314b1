"""Customs: how a profile reads what plug-ins say.

    agree      whom the plug-ins of a tier let go together (agreeing.py)
    taking     which tiers have a say when a queue takes back from others (agreeing.py)
    consent    who lets itself be evicted (consent.py)
    roles      what minima of roles mean for who is tried first, and for who may go (roles.py)
Not here       which actions a profile has: ways.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumi.engine.placement.agreeing import Agree, Join, as_one, as_written, by_all, starting_anew
from kumi.engine.placement.consent import KUMI as OF_GANG
from kumi.engine.placement.consent import VOLCANO as OF_POD
from kumi.engine.placement.consent import Consent
from kumi.engine.placement.roles import EACH, GANG_ONLY, Roles


@dataclass(frozen=True, slots=True)
class Customs:
    """See the module."""

    agree: Agree
    taking: Join
    roles: Roles
    consent: Consent


VOLCANO = Customs(starting_anew, as_written, GANG_ONLY, OF_POD)
KUMI = Customs(by_all, as_one, EACH, OF_GANG)
