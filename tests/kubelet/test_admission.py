from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.kubelet.admission import Room
from tests.kubelet.stage import container, pod


def asks(name: str, **requests: str) -> dict[str, object]:
    return pod(name, container("true", resources={"requests": {k.replace("_", "/"): v for k, v in requests.items()}}))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5000), st.booleans())))
def test_what_is_admitted_never_asks_for_more_than_there_is(steps: list[tuple[int, int, bool]]) -> None:
    room, live = Room({"cpu": 8000, "pods": 4000}), dict[str, int]()
    for number, cpu, comes in steps:
        uid = str(number)
        if not comes:
            room.remove(uid)
            live.pop(uid, None)
        elif uid not in live:
            refusal = room.refusal(asks(uid, cpu=f"{cpu}m"))
            fits = sum(live.values()) + cpu <= 8000 and len(live) < 4
            assert (refusal is None) == fits
            if fits:
                room.add(uid, asks(uid, cpu=f"{cpu}m"))
                live[uid] = cpu


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5000), st.sampled_from(["bind", "force", "die"]))))
def test_whoever_fits_by_what_the_api_has_is_admitted_and_nothing_starts_without_room(
    steps: list[tuple[int, int, str]],
) -> None:
    room, bound, held, waits = Room({"cpu": 8000, "pods": 4000}), dict[str, int](), dict[str, int](), dict[str, int]()

    def start() -> None:
        for uid in list(waits):
            free = sum(held.values()) + waits[uid] <= 8000 and len(held) < 4
            assert (room.hindrance(asks(uid, cpu=f"{waits[uid]}m")) is None) == free
            if free:
                held[uid] = waits.pop(uid)
                room.hold(uid, asks(uid, cpu=f"{held[uid]}m"))

    for number, cpu, what in steps:
        uid = str(number)
        if what == "force":
            room.leave(uid)
            bound.pop(uid, None)
            if waits.pop(uid, None) is not None:
                room.remove(uid)
        elif what == "die":
            if uid in held and uid not in bound:
                room.remove(uid)
                del held[uid]
        elif uid not in bound and uid not in held:
            fits = sum(bound.values()) + cpu <= 8000 and len(bound) < 4
            assert (room.refusal(asks(uid, cpu=f"{cpu}m")) is None) == fits
            if fits:
                room.add(uid, asks(uid, cpu=f"{cpu}m"))
                bound[uid] = waits[uid] = cpu
        start()
        assert room.leaving == any(uid not in bound for uid in held)
    for uid in [uid for uid in held if uid not in bound]:
        room.remove(uid)
        del held[uid]
    start()
    assert not waits


def test_the_reason_names_the_resource_and_the_numbers() -> None:
    room = Room({"cpu": 4000, "pods": 110_000, "nvidia.com/gpu": 2000})
    room.add("a", asks("a", cpu="3"))
    refusal = room.refusal(asks("b", cpu="1500m"))
    assert refusal is not None
    assert refusal.reason == "OutOfcpu"
    assert refusal.message == "Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000"
    refusal = room.refusal(asks("c", **{"nvidia.com_gpu": "3"}))
    assert refusal is not None
    assert refusal.message == "Node didn't have enough resource: nvidia.com/gpu, requested: 3, used: 0, capacity: 2"


def test_an_extended_resource_that_the_node_does_not_have_is_missing() -> None:
    refusal = Room({"cpu": 4000, "pods": 1000}).refusal(asks("a", **{"example.com_dongle": "1"}))
    assert refusal is not None
    assert refusal.reason == "OutOfexample.com/dongle"


def test_a_resource_that_is_not_counted_here_does_not_block() -> None:
    assert Room({"cpu": 4000, "pods": 1000}).refusal(asks("a", **{"ephemeral-storage": "1Gi"})) is None


def test_every_pod_takes_one_place() -> None:
    room = Room({"pods": 1000})
    room.add("a", pod("a", "true"))
    refusal = room.refusal(pod("b", "true"))
    assert refusal is not None
    assert refusal.reason == "OutOfpods"
