from __future__ import annotations

import msgspec

from kumi.api.kueue import ResourceFlavor
from kumi.bridge.into.flavor import flavor
from kumi.engine import model


def test_labels_taints_and_tolerations() -> None:
    view = msgspec.convert(
        {
            "metadata": {"name": "spot"},
            "spec": {
                "nodeLabels": {"b": "2", "a": "1"},
                "nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}],
                "tolerations": [{"key": "spot", "operator": "Exists"}],
            },
        },
        ResourceFlavor,
    )
    assert flavor(view) == model.Flavor(
        "spot",
        (("a", "1"), ("b", "2")),
        (model.Taint("spot", "true", "NoSchedule"),),
        (model.Toleration("spot", "Exists", "", ""),),
    )


def test_the_topology_of_its_nodes() -> None:
    view = msgspec.convert({"metadata": {"name": "f"}, "spec": {"topologyName": "racks"}}, ResourceFlavor)
    assert flavor(view).topology == "racks"
    assert flavor(msgspec.convert({"metadata": {"name": "f"}}, ResourceFlavor)).topology == ""
