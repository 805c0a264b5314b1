"""ReplicationController (v1), what ReplicaSets were before: stored for its users and for clients that walk all kinds
(`kubectl apply --prune`); no loop of Kumi's makes its pods."""

from __future__ import annotations

from msgspec import field

from kumi.api.columns.replication import REPLICATION_CONTROLLER
from kumi.api.defaulting.replication import default_replication_controller
from kumi.api.meta import Object, View
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation.replication import validate_replication_controller
from kumi.api.wire import JsonObject


class ReplicationControllerSpec(View):
    """A ReplicationController's spec; its selector is plain labels."""

    replicas: int | None = None
    selector: dict[str, str] = {}
    template: JsonObject = {}
    min_ready_seconds: int = 0


class ReplicationControllerStatus(View):
    """A ReplicationController's status."""

    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0


class ReplicationController(Object):
    """v1 ReplicationController."""

    spec: ReplicationControllerSpec = field(default_factory=ReplicationControllerSpec)
    status: ReplicationControllerStatus = field(default_factory=ReplicationControllerStatus)


SCHEME.register(
    Kind(
        "",
        "v1",
        "ReplicationController",
        "replicationcontrollers",
        ReplicationController,
        short_names=("rc",),
        categories=("all",),
        subresources=("status", "scale"),
        columns=REPLICATION_CONTROLLER,
        schema="io.k8s.api.core.v1.ReplicationController",
        default=default_replication_controller,
        validate=validate_replication_controller,
    )
)
