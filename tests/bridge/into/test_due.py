from __future__ import annotations

from kumi.api.meta import ObjectMeta, parse_time
from kumi.bridge.into.due import turn_ms
from kumi.engine.settings import UNSAID_MS, QueueOrder

CREATED = "2026-01-01T00:00:00Z"
AT = parse_time(CREATED) or 0


def latest(workload: dict[str, str], *templates: dict[str, str], order: QueueOrder = QueueOrder.LEAST_SLACK) -> int:
    meta = ObjectMeta(name="x", creation_timestamp=CREATED, annotations=workload)
    return turn_ms(order, meta, [{"metadata": {"annotations": t}} for t in templates], 7)


def test_the_latest_start_is_the_deadline_less_the_execution_time() -> None:
    assert latest({"a/deadline-duration": "1m", "a/execution-duration": "20s"}) == AT + 40_000
    assert latest({"a/deadline-duration": "1m"}) == AT + 60_000


def test_templates_say_it_where_the_object_does_not() -> None:
    pods = ({"a/deadline-duration": "2m", "a/execution-duration": "30s"}, {"a/deadline-duration": "1m"}, {})
    assert latest({}, *pods) == AT + 30_000
    assert latest({"a/deadline-duration": "3m", "a/execution-duration": "1s"}, *pods) == AT + 179_000


def test_without_a_deadline_it_is_past_all_that_have_one_in_its_usual_order() -> None:
    assert latest({"a/execution-duration": "1m"}, {}) == UNSAID_MS + 7


def test_the_turn_is_what_the_order_counts_of_what_is_said() -> None:
    said = {"a/deadline-duration": "1m", "a/execution-duration": "20s"}
    assert latest(said, order=QueueOrder.SHORTEST) == 20_000
    assert latest(said, order=QueueOrder.DEADLINE) == AT + 60_000
    assert latest(said, order=QueueOrder.FAIR) == 7
    assert latest({}, said, {"a/execution-duration": "30s"}, order=QueueOrder.SHORTEST) == 30_000
