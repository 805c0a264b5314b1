"""The kinds of apps/v1: names that users know, and views that read what users write."""

from __future__ import annotations

import msgspec
import pytest

from kumi.api.apps import ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet
from kumi.api.meta import Object
from kumi.api.scheme import load


@pytest.mark.parametrize(
    ("type_", "plural", "short"),
    [
        (Deployment, "deployments", ("deploy",)),
        (ReplicaSet, "replicasets", ("rs",)),
        (StatefulSet, "statefulsets", ("sts",)),
        (DaemonSet, "daemonsets", ("ds",)),
        (ControllerRevision, "controllerrevisions", ()),
    ],
)
def test_a_kind_has_the_names_that_users_know(type_: type[Object], plural: str, short: tuple[str, ...]) -> None:
    kind = load().of(type_)
    assert (kind.group, kind.version, kind.plural, kind.short_names) == ("apps", "v1", plural, short)


def test_a_deployment_is_read_with_its_strategy() -> None:
    written = {"spec": {"replicas": 3, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}}}}
    spec = msgspec.convert(written, Deployment).spec
    assert spec.replicas == 3
    assert spec.strategy.type == "RollingUpdate"
