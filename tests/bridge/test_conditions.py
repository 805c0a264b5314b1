from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.api.kueue import Workload
from kumi.api.meta import Condition, ObjectMeta, format_time
from kumi.api.scheme import SCHEME
from kumi.bridge.conditions import MESSAGE_BYTES_AT_MOST, Wanted, cut, says, set_all, status_patch, to_json

OLD, NOW_MS = "2026-01-01T00:00:00Z", 1_800_000_000_000
words = st.sampled_from(["A", "B", "C"])
wanted = st.builds(Wanted, words, st.sampled_from(["True", "False"]), words, st.text(max_size=5))


@given(st.lists(wanted, max_size=8))
def test_each_type_is_there_once_and_says_what_was_wanted_last(all_wanted: list[Wanted]) -> None:
    made = set_all([], all_wanted, NOW_MS)
    last = {w.type: w for w in all_wanted}
    assert sorted(c.type for c in made) == sorted(last)
    assert all(says(made, w) for w in last.values())


@given(st.lists(wanted, max_size=8))
def test_setting_twice_changes_nothing(all_wanted: list[Wanted]) -> None:
    last = list({w.type: w for w in all_wanted}.values())
    made = set_all([], last, NOW_MS)
    assert set_all(made, last, NOW_MS + 60_000) == made


def test_the_time_moves_only_with_the_status() -> None:
    before = [Condition(type="A", status="False", reason="X", message="x", last_transition_time=OLD)]
    assert set_all(before, [Wanted("A", "False", "Y", "y")], NOW_MS)[0].last_transition_time == OLD
    assert set_all(before, [Wanted("A", "True", "Y", "y")], NOW_MS)[0].last_transition_time == format_time(NOW_MS)


def test_conditions_of_others_stay() -> None:
    before = [Condition(type="Theirs", status="True", reason="R", message="m", last_transition_time=OLD)]
    made = to_json(set_all(before, [Wanted("Ours", "True", "R")], NOW_MS))
    assert made[0] == {"type": "Theirs", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": OLD}
    assert made[1]["type"] == "Ours"
    assert made[1]["message"] == ""


def test_a_long_message_is_cut_at_what_the_api_takes() -> None:
    assert len(cut("ö" * MESSAGE_BYTES_AT_MOST).encode()) <= MESSAGE_BYTES_AT_MOST
    assert says(set_all([], [Wanted("A", "True", "R", "x" * 40_000)], NOW_MS), Wanted("A", "True", "R", "x" * 40_000))


def test_a_status_patch_is_conditional_on_the_version_that_was_read() -> None:
    workload = Workload(metadata=ObjectMeta(namespace="n", name="w", resource_version="7"))
    patch = status_patch(SCHEME.of(Workload), workload, {"conditions": []})
    assert patch.subresource == "status"
    assert patch.body == {"metadata": {"resourceVersion": "7"}, "status": {"conditions": []}}
