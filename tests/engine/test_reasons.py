"""Reasons: every code says its layer and what would help."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.reasons import Code, Layer, Reason


@pytest.mark.parametrize("code", Code, ids=lambda code: code.name)
def test_every_code_names_a_layer_and_what_would_help(code: Code) -> None:
    assert isinstance(code.layer, Layer)
    assert code.helps
    assert Code[code.name] is code


def test_layers_are_in_the_order_in_which_an_attempt_meets_them() -> None:
    met = [Code.INACTIVE, Code.NO_LOCAL_QUEUE, Code.QUOTA_IN_USE, Code.NODES_FULL, Code.NODE_TOO_SMALL]
    assert [code.layer for code in met] == sorted({code.layer for code in met})


def test_how_many_nodes_say_no_is_no_difference() -> None:
    reason = Reason(Code.NODES_FULL, nodes=3)
    assert reason == replace(reason, nodes=4)
    assert reason != replace(reason, detail="taint")
