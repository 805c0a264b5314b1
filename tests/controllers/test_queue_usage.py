from __future__ import annotations

from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.kueue import Workload
from kumi.controllers.queue_usage import Part, Usage, part_of

from .made import GPU, admission, admitted, at, condition, workload

held = st.lists(st.tuples(st.tuples(st.sampled_from("ab"), st.just(GPU)), st.integers(0, 5)), max_size=2).map(tuple)
parts = st.one_of(
    st.builds(Part, st.just("n/q"), pending=st.booleans()),
    st.builds(Part, st.just("n/q"), cluster_queue=st.just("c"), admitted=st.booleans(), held=held),
)


@given(st.lists(st.tuples(parts, st.booleans()), max_size=8))
def test_what_is_added_and_taken_off_again_is_as_if_it_had_never_been(changes: list[tuple[Part, bool]]) -> None:
    kept, fresh = Usage(), Usage()
    for part, _ in changes:
        kept.add(part, 1)
    for part, stays in changes:
        if stays:
            fresh.add(part, 1)
        else:
            kept.add(part, -1)
    assert (kept.pending, kept.reserving, kept.admitted) == (fresh.pending, fresh.reserving, fresh.admitted)
    assert +kept.reserved == +fresh.reserved
    assert +kept.used == +fresh.used


def part(**fields: object) -> Part:
    return part_of(msgspec.convert(workload(**fields), Workload))


def test_one_that_waits_is_pending_unless_it_is_held_or_going() -> None:
    assert part().pending
    assert not part(spec={"active": False}).pending
    assert not part(deletionTimestamp=at(0)).pending


def test_one_that_holds_quota_reserves_and_is_admitted_when_it_says_so() -> None:
    assert part(status=admitted()) == Part("team/lq", "gpus", admitted=True, held=((("default", GPU), 4000),))
    assert part(status={"admission": admission()}).admitted is False


def test_a_finished_one_counts_as_nothing() -> None:
    assert part(status=admitted(conditions=[condition("Finished", "True")])) == Part("team/lq")


def test_resources_without_a_flavor_hold_nothing() -> None:
    got = {"clusterQueue": "gpus", "podSetAssignments": [{"name": "main", "resourceUsage": {"cpu": "1"}}]}
    usage = Usage()
    usage.add(part(status={"admission": got}), 1)
    assert usage.reserved == Counter()
    assert usage.reserving == 1


def test_what_is_reserved_is_used_only_once_it_is_admitted() -> None:
    usage = Usage()
    usage.add(part(status={"admission": admission()}), 1)
    assert (usage.reserved["default", GPU], usage.used["default", GPU]) == (4000, 0)
    usage.add(part(status=admitted()), 1)
    assert (usage.reserved["default", GPU], usage.used["default", GPU]) == (8000, 4000)


def test_pods_that_are_given_back_or_no_longer_wanted_hold_nothing() -> None:
    def reserved(count: int, reclaimed: int) -> int:
        status = {**admitted(), "reclaimablePods": [{"name": "main", "count": reclaimed}]}
        usage = Usage()
        usage.add(part(gpus=count, status=status), 1)
        return usage.used["default", GPU]

    assert [reserved(4, 0), reserved(4, 1), reserved(3, 0), reserved(3, 2), reserved(9, 0)] == [
        4000,
        3000,
        3000,
        1000,
        4000,
    ]
