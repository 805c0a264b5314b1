from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.controllers.unwritten import GANG_MS, REFRESH_AT_ONCE, REFRESH_MS, Unwritten
from kumi.engine.decisions import Hold, Unplaced
from kumi.engine.reasons import Code, Reason, Record

NOW_MS = 1_000_000
KEYS = [f"n/w{i:03}" for i in range(REFRESH_AT_ONCE * 2 + 1)]


def hold(key: str, have: int = 0) -> Hold:
    return Hold(key, Record(Reason(Code.NODES_FULL, resource="cpu", have=have)))


def waits(pod: str, missing: int = 1) -> Unplaced:
    return Unplaced(pod, (Reason(Code.GANG_INCOMPLETE, pods=missing),))


@given(st.lists(st.sampled_from(KEYS), min_size=1))
def test_everyone_has_a_turn_and_says_the_newest_however_often_it_is_put(keys: list[str]) -> None:
    kept, told = Unwritten(), dict[str, Hold | Unplaced]()
    for number, key in enumerate(keys):
        kept.put(hold(key, number), NOW_MS)
    for turn in range(3):
        for decision in kept.take(NOW_MS + turn * REFRESH_MS):
            assert isinstance(decision, Hold)
            assert decision.workload not in told
            told[decision.workload] = decision
    assert told == {key: hold(key, number) for number, key in enumerate(keys)}
    assert kept.wake_at_ms(NOW_MS) is None


def test_the_longest_unwritten_go_first() -> None:
    kept = Unwritten()
    for key in KEYS:
        kept.put(hold(key), NOW_MS)
    assert [d.workload for d in kept.take(NOW_MS) if isinstance(d, Hold)] == KEYS[:REFRESH_AT_ONCE]
    for key in KEYS:
        kept.put(hold(key, 1), NOW_MS)
    assert kept.take(NOW_MS + REFRESH_MS - 1) == []
    assert kept.wake_at_ms(NOW_MS) == NOW_MS + REFRESH_MS
    second = [d.workload for d in kept.take(NOW_MS + REFRESH_MS) if isinstance(d, Hold)]
    assert second == KEYS[REFRESH_AT_ONCE : REFRESH_AT_ONCE * 2]


def test_a_pod_is_told_when_its_gang_stays_incomplete() -> None:
    kept = Unwritten()
    kept.put(waits("p", 3), NOW_MS)
    kept.put(waits("p", 2), NOW_MS + 500)
    assert kept.wake_at_ms(NOW_MS + 500) == NOW_MS + GANG_MS
    assert kept.take(NOW_MS + GANG_MS - 1) == []
    assert kept.take(NOW_MS + GANG_MS) == [waits("p", 2)]
    assert kept.take(NOW_MS + GANG_MS) == []


def test_what_is_answered_otherwise_is_not_told() -> None:
    kept = Unwritten()
    kept.put(hold("n/w"), NOW_MS)
    kept.put(waits("p"), NOW_MS)
    kept.drop_workload("n/w")
    kept.drop_pod("p")
    assert kept.take(NOW_MS + GANG_MS) == []
    assert kept.wake_at_ms(NOW_MS) is None


def test_what_was_refused_has_its_turn_again_unless_there_is_a_newer_answer() -> None:
    kept = Unwritten()
    kept.put_back(hold("n/w", 1), NOW_MS)
    kept.put(hold("n/v", 2), NOW_MS)
    kept.put_back(hold("n/v", 1), NOW_MS)
    kept.put_back(waits("p"), NOW_MS)
    assert kept.take(NOW_MS) == [hold("n/w", 1), hold("n/v", 2)]
    assert kept.take(NOW_MS + GANG_MS) == [waits("p")]
