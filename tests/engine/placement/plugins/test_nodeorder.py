"""Node order: the emptiest first."""

from __future__ import annotations

import numpy as np

from kumi.engine.journal import Journal
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.nodeorder import NodeOrder
from kumi.testing.builders import GPU, node, shape


def test_the_score_is_what_stays_free() -> None:
    nodes = Nodes(Journal())
    for name in ("n1", "n2"):
        nodes.put(node(name, gpu=8))
    nodes.use("n1", ((GPU, 1000),), 3)
    scores = NodeOrder().score(nodes, shape(gpu=1).requests, np.ones(8, dtype=np.int64))
    assert [scores[nodes.row_by_name[n]] for n in ("n1", "n2")] == [50.0, 87.5]
