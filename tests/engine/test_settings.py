"""Settings: what an order of the line counts."""

from __future__ import annotations

import pytest

from kumi.engine.settings import UNSAID_MS, QueueOrder


@pytest.mark.parametrize(
    ("order", "counts"),
    [
        (QueueOrder.TIME, None),
        (QueueOrder.FAIR, None),
        (QueueOrder.SHORTEST, 20),
        (QueueOrder.DEADLINE, 100),
        (QueueOrder.LEAST_SLACK, 80),
    ],
)
def test_each_order_counts_its_own(order: QueueOrder, counts: int | None) -> None:
    assert order.counts_ms(100, 20) == counts


def test_who_does_not_say_what_counts_is_not_counted() -> None:
    assert QueueOrder.SHORTEST.counts_ms(100, None) is None
    assert QueueOrder.DEADLINE.counts_ms(None, 20) is None
    assert QueueOrder.LEAST_SLACK.counts_ms(None, 20) is None
    assert QueueOrder.LEAST_SLACK.counts_ms(100, None) == 100


def test_a_turn_is_a_time_that_is_never_zero_and_the_unsaid_are_past_all_others() -> None:
    assert QueueOrder.TIME.turn_ms(100, 20, 7) == QueueOrder.FAIR.turn_ms(100, 20, 7) == 7
    assert QueueOrder.LEAST_SLACK.turn_ms(100, 20, 7) == 80
    assert QueueOrder.LEAST_SLACK.turn_ms(20, 20, 7) == 1
    assert QueueOrder.SHORTEST.turn_ms(100, None, 7) == UNSAID_MS + 7
