from __future__ import annotations

from kumi.api.claims import PersistentVolumeClaim
from kumi.controllers.consumers import consumers, named_by
from kumi.testing.view import FakeView, decoded
from tests.controllers.storage import claim, pod


def test_pods_with_a_node_that_have_not_ended_are_consumers() -> None:
    ended = {**pod("ended"), "status": {"phase": "Succeeded"}}
    view = FakeView(
        claim(), pod("a"), pod("b", ("data", "more")), pod("other", ("more",)), pod("waits", node=""), ended
    )
    (found,) = view.list(PersistentVolumeClaim)
    assert [p.metadata.name for p in consumers(view, found)] == ["a", "b"]


def test_a_claim_that_is_made_with_its_pod_is_named_by_it() -> None:
    own = pod("p", ())
    own["spec"]["volumes"] = [
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        {"name": "e", "emptyDir": {}},
        {"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
    ]
    assert named_by(decoded(own)) == ("ns/p-scratch", "ns/data")
