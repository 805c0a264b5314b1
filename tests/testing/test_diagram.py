"""Diagrams: what is drawn is what is there, and the other way round."""

from __future__ import annotations

import pytest

from kumi.testing.diagram import Cluster, parse

DRAWN = """n1 | A A B .
n2 | B x . cordoned
n3 | . down
n4 |"""


def test_a_cluster_is_drawn_as_it_was_given() -> None:
    assert Cluster.drawn(DRAWN).draw().replace("n4 | ", "n4 |") == DRAWN


def test_labels_and_taints_stand_behind_the_cells() -> None:
    (node,) = parse("n1 | A . zone=a !dedicated").nodes
    assert dict(node.labels) == {"zone": "a"}
    assert [(t.key, t.effect) for t in node.taints] == [("dedicated", "NoSchedule")]


@pytest.mark.parametrize("row", ["n1 A .", "n1 | a", "n1 | 3"])
def test_a_row_that_can_not_be_read_is_told(row: str) -> None:
    with pytest.raises(ValueError, match="n1"):
        parse(row)
