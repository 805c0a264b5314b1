"""What every verb works with: the objects, the scheme, the only sources of time and chance, and who has a say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kumi.api.meta import format_time
from kumi.api.scheme import Scheme
from kumi.registry.authorization.live import LivePolicies
from kumi.registry.hooks import AdmissionHook
from kumi.registry.objects import Objects
from kumi.registry.quota import Quotas
from kumi.registry.webhooks.admission import Webhooks
from kumi.registry.webhooks.calling import Caller


@dataclass(frozen=True)
class Environment:
    """`clock_ms`: now, milliseconds since the epoch. `new_uid`: a UUID that was never used."""

    objects: Objects
    scheme: Scheme
    clock_ms: Callable[[], int]
    new_uid: Callable[[], str]
    hooks: Sequence[AdmissionHook] = ()
    caller: Caller | None = None
    """asks other people's webhooks; None: nobody is asked"""

    @cached_property
    def policies(self) -> LivePolicies:
        """Which rules are in force for whom."""
        return LivePolicies(self.objects.store)

    @cached_property
    def quotas(self) -> Quotas:
        """What namespaces use of what they may."""
        return Quotas(self.objects, self.scheme)

    @cached_property
    def webhooks(self) -> Webhooks:
        """Other people's say."""
        return Webhooks(self.objects, self.scheme, self.new_uid, self.caller, self.policies)

    def now(self) -> str:
        """Now, as the API writes times."""
        return format_time(self.clock_ms())
