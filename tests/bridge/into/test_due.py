from __future__ import annotations

import pytest

from kumi.api.meta import ObjectMeta, parse_time
from kumi.bridge.into.due import Due, due, length_ms, turn_ms
from kumi.engine.settings import UNSAID_MS, QueueOrder

CREATED = "2026-01-01T00:00:00Z"
AT = parse_time(CREATED) or 0


def said(**annotations: str) -> Due:
    by_name = {key.replace("__", "/").replace("_", "-").replace("-dot-", "."): v for key, v in annotations.items()}
    return due(ObjectMeta(name="x", creation_timestamp=CREATED, annotations=by_name))


def test_a_deadline_is_a_time_and_an_execution_time_a_length() -> None:
    found = said(kumi_dot_dev__deadline="2026-01-01T00:00:05Z", kumi_dot_dev__execution_duration="2s")
    assert found == Due(AT + 5000, 2000)


def test_the_evaluators_words_count_from_the_creation_whatever_their_domain() -> None:
    assert said(any_dot_org__deadline_duration="1m", any_dot_org__execution_duration="30") == Due(AT + 60_000, 30_000)


def test_kumis_own_words_come_first_and_what_cannot_be_read_is_not_said() -> None:
    both = {"a_dot_b__deadline_duration": "1m", "a_dot_b__execution_duration": "1m"}
    assert said(kumi_dot_dev__deadline="2026-01-01T00:00:05Z", kumi_dot_dev__execution_duration="2s", **both) == Due(
        AT + 5000, 2000
    )
    assert said(kumi_dot_dev__deadline="soon", kumi_dot_dev__execution_duration="long", **both) == Due(
        AT + 60_000, 60_000
    )


def test_of_two_domains_the_smaller_one_counts() -> None:
    assert said(b__deadline_duration="2m", a__deadline_duration="1m").deadline_ms == AT + 60_000


@pytest.mark.parametrize(
    ("text", "ms"),
    [("1h30m", 5_400_000), ("90", 90_000), ("1.5", 1500), ("", None), ("0", None), ("-1", None), ("x", None)],
)
def test_lengths_are_written_like_1h30m_or_in_seconds(text: str, ms: int | None) -> None:
    assert length_ms(text) == ms


def test_nothing_said_is_nothing_known() -> None:
    assert said() == Due()
    assert due(ObjectMeta(name="x", annotations={"a/deadline-duration": "1m"})) == Due()


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
