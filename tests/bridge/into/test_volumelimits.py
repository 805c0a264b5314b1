from __future__ import annotations

from kumi.api.claims import CSINode
from kumi.bridge.into.volumelimits import volumelimits
from kumi.engine.model import VolumeLimits
from kumi.testing.view import decoded


def test_the_drivers_that_say_how_many_say_it_of_their_node() -> None:
    drivers = [
        {"name": "b.csi", "nodeID": "x", "allocatable": {"count": 25}},
        {"name": "a.csi", "nodeID": "y", "topologyKeys": ["zone"], "allocatable": {"count": 0}},
        {"name": "c.csi", "nodeID": "z"},
        {"name": "d.csi", "nodeID": "z", "allocatable": {}},
    ]
    manifest = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n1"}}
    view = decoded({**manifest, "spec": {"drivers": drivers}})
    assert isinstance(view, CSINode)
    assert volumelimits(view) == VolumeLimits("n1", (("a.csi", 0), ("b.csi", 25)))
    assert volumelimits(CSINode()) == VolumeLimits("")
