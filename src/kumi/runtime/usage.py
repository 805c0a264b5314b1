"""What nodes and pods use: what the API server asks of whoever runs them. The kubelet implements it, the command line wires
it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kumi.api.metrics import Usage, Used


class UsageSource(Protocol):
    """Measures what runs here."""

    def node(self, name: str) -> Usage[Used] | None:
        """As it was last measured; None: it is not of here, or not measured yet."""
        ...

    def pod(self, uid: str) -> Usage[Mapping[str, Used]] | None:
        """Its containers that run, as they were last measured; None: nothing of it runs here, or a container of it was not
        measured yet."""
        ...
