"""What nodes and pods use: what the API server asks of whoever runs them. The kubelet implements it, the command line wires
it."""

from __future__ import annotations

from typing import Protocol

from kumi.api.metrics import Measured


class UsageSource(Protocol):
    """Measures what runs here."""

    def node(self, name: str) -> Measured | None:
        """As it was last measured; None: it is not of here, or not measured yet."""
        ...

    def pod(self, uid: str) -> Measured | None:
        """Its containers that run, as they were last measured; None: nothing of it runs here, or a container of it was not
        measured yet."""
        ...
