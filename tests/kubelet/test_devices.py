from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.kubelet.devices import Devices, is_device
from kumi.kubelet.gpus import Card
from tests.kubelet.stage import pod

GPU = "nvidia.com/gpu"


def asks(count: int, name: str = "main", **fields: Any) -> dict[str, Any]:
    return {"name": name, "resources": {"limits": {GPU: str(count)}} if count else {}, **fields}


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.lists(st.integers(0, 3), min_size=1, max_size=3), st.booleans())))
def test_live_containers_never_share_a_device(steps: list[tuple[str, list[int], bool]]) -> None:
    devices, live = Devices({GPU: 8}), dict[str, list[int]]()
    for uid, counts, takes in steps:
        if not takes:
            devices.release(uid)
            live.pop(uid, None)
            continue
        if uid in live:
            continue
        free = 8 - sum(len(v) for v in live.values())
        wanted = pod(uid, *(asks(n, f"c{i}") for i, n in enumerate(counts)))
        if sum(counts) > free:
            with pytest.raises(KumiError):
                devices.take(uid, wanted)
            continue
        given_ = devices.take(uid, wanted)
        assert [len(given_[f"c{i}"][GPU]) for i in range(len(counts))] == counts
        live[uid] = [n for c in given_.values() for n in c[GPU]]
        numbers = [n for v in live.values() for n in v]
        assert len(set(numbers)) == len(numbers)
        assert set(numbers) <= set(range(8))


def test_init_containers_share_with_those_that_run_after_them() -> None:
    devices = Devices({GPU: 3})
    given_ = devices.take("p", pod("p", asks(1, "a"), asks(1, "b"), initContainers=[asks(3, "i")]))
    assert given_ == {"i": {GPU: [0, 1, 2]}, "a": {GPU: [0]}, "b": {GPU: [1]}}


def test_devices_from_before_a_restart_are_not_given_again() -> None:
    devices = Devices({GPU: 2})
    devices.restore("old", {"main": {GPU: [0]}})
    assert devices.take("new", pod("new", asks(1))) == {"main": {GPU: [1]}}


@pytest.mark.parametrize(
    ("given_", "offered", "visible", "wanted"),
    [
        ({GPU: [1, 3]}, {GPU: 4}, None, ("1,3", "1,3")),
        ({}, {GPU: 4}, None, ("", "void")),
        ({GPU: [1]}, {GPU: 2}, "6,7", ("7", "7")),
        ({GPU: [1]}, {GPU: 2}, "6", ("1", "1")),
    ],
)
def test_a_container_sees_its_devices_and_no_others(
    given_: dict[str, list[int]], offered: dict[str, int], visible: str | None, wanted: tuple[str, str]
) -> None:
    found = Devices(offered).variables_of(given_, visible)
    assert (found["CUDA_VISIBLE_DEVICES"], found["NVIDIA_VISIBLE_DEVICES"]) == wanted


def test_nothing_is_hidden_on_a_node_without_devices() -> None:
    assert Devices({}).variables_of({}, "0") == {}


def test_extended_resources_with_gpu_in_their_name_are_devices() -> None:
    assert [n for n in (GPU, "amd.com/gpu", "example.com/GPU-shared", "cpu", "example.com/dongle") if is_device(n)] == [
        GPU,
        "amd.com/gpu",
        "example.com/GPU-shared",
    ]


CARDS = [Card(f"GPU-{name}", "A100", 1 << 30, minor) for name, minor in (("a", 4), ("b", 2), ("c", 0))]


def test_cards_that_are_known_go_by_their_uuid_and_their_own_device_node() -> None:
    devices = Devices({GPU: 3}, CARDS)
    assert devices.variables_of({GPU: [0, 2]}, "6,7")["CUDA_VISIBLE_DEVICES"] == "GPU-a,GPU-c"
    assert devices.minors_of({GPU: [0, 2]}) == [4, 0]
    assert Devices({GPU: 3}).minors_of({GPU: [0, 2]}) == [0, 2]


def test_an_ill_card_is_given_to_nobody_until_it_is_well() -> None:
    devices = Devices({GPU: 3}, CARDS)
    assert devices.avoid(["GPU-a", "GPU-of-another-node"]) == 1
    assert devices.take("p", pod("p", asks(2))) == {"main": {GPU: [1, 2]}}
    with pytest.raises(KumiError, match="0 free"):
        devices.take("q", pod("q", asks(1)))
    assert devices.avoid([]) == 0
    assert devices.take("q", pod("q", asks(1))) == {"main": {GPU: [0]}}


def told(uid: str, numbers: str, *containers: dict[str, Any]) -> dict[str, Any]:
    made = pod(uid, *containers)
    made["metadata"]["annotations"] = {"kumi.dev/gpu-index": numbers}
    return made


def test_pods_that_share_a_device_see_it_all_and_nobody_gets_it_whole() -> None:
    devices = Devices({GPU: 2})
    for uid in ("p", "q"):
        assert devices.take(uid, told(uid, "0", asks(0, "a"), asks(0, "b"))) == {"a": {GPU: [0]}, "b": {GPU: [0]}}
    assert devices.take("w", pod("w", asks(1))) == {"main": {GPU: [1]}}
    with pytest.raises(KumiError):
        devices.take("x", pod("x", asks(1)))


def test_whole_devices_are_those_that_the_pod_was_bound_with() -> None:
    devices = Devices({GPU: 4})
    assert devices.take("p", told("p", "2,3", asks(1, "a"), asks(1, "b"))) == {"a": {GPU: [2]}, "b": {GPU: [3]}}
    assert devices.take("q", told("q", "2,7", asks(2))) == {"main": {GPU: [0, 1]}}
