from __future__ import annotations

import msgspec

from kumi.api.replication import ReplicationController
from kumi.api.scheme import load


def test_it_is_a_kind_of_the_core_group_that_can_be_scaled() -> None:
    kind = load().of(ReplicationController)
    assert (kind.group, kind.plural, kind.short_names) == ("", "replicationcontrollers", ("rc",))
    assert kind.subresources == ("status", "scale")


def test_its_selector_is_plain_labels() -> None:
    obj = {"metadata": {"name": "a"}, "spec": {"replicas": 2, "selector": {"a": "b"}}, "status": {"replicas": 1}}
    found = msgspec.convert(obj, ReplicationController)
    assert (found.spec.replicas, found.spec.selector, found.status.replicas) == (2, {"a": "b"}, 1)
