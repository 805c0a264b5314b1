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
