from __future__ import annotations

import msgspec

from kumi.api.kueue import Topology
from kumi.bridge.into.topology import topology
from kumi.engine import model


def test_levels_keep_their_order() -> None:
    view = {"metadata": {"name": "dc"}, "spec": {"levels": [{"nodeLabel": "block"}, {"nodeLabel": "rack"}]}}
    assert topology(msgspec.convert(view, Topology)) == model.Topology("dc", ("block", "rack"))
