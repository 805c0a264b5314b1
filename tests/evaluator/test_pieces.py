"""Devices: what is free of each, and the arrays give what one node after the other gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.model import PodShape
from kumi.evaluator.fragmentation import Fragmentation, fragmentation
from tests.evaluator.told import GPU, Told, shape


def at_end(told: Told) -> Fragmentation:
    return fragmentation(told.close(10), points=2)


def wanting(told: Told, *gpus: float) -> None:
    for number, many in enumerate(gpus):
        told.job(f"wants-{number}", 10, gpus=many)


def test_two_rests_on_two_devices_are_of_no_use_to_who_wants_more_than_either() -> None:
    told = Told()
    told.node("n1", gpus=2)
    told.place(told.job("a", 0, gpus=0.6, pods=2, runs=None), 0, "n1", "n1", devices=((0,), (1,)))
    assert at_end(told).percent[-1] == pytest.approx(100)


def test_of_a_node_that_has_room_what_is_on_devices_with_less_than_the_share_is_lost() -> None:
    told = Told()
    told.node("n1", gpus=2)
    told.place(told.job("a", 0, gpus=0.6, runs=None), 0, "n1", devices=((0,),))
    wanting(told, 0.6)
    # 400 of device 0 are of no use to a share of 600, all of device 1 is
    assert at_end(told).percent[-1] == pytest.approx(100 * 400 / 1400)


def test_who_wants_whole_devices_has_no_use_for_open_ones() -> None:
    told = Told()
    told.node("n1", gpus=3)
    told.place(told.job("a", 0, gpus=0.1, runs=None), 0, "n1", devices=((2,),))
    wanting(told, 2, 2, 2)
    # three of four pods want two whole devices, the fourth a tenth of one
    assert at_end(told).percent[-1] == pytest.approx(100 * 0.75 * 900 / 2900)


def test_what_nobody_knows_the_device_of_is_on_the_freest() -> None:
    told = Told()
    told.node("n1", gpus=2)
    told.place(told.job("known", 0, gpus=0.6, runs=None), 0, "n1", devices=((0,),))
    told.place(told.job("unknown", 0, gpus=1, runs=None), 0, "n1")
    wanting(told, 0.4)
    # the whole one is on device 1, and 400 of device 0 are left: enough for one of three pods
    assert at_end(told).percent[-1] == pytest.approx(100 * 2 / 3)


def test_a_share_that_leaves_gives_its_device_back() -> None:
    told = Told()
    told.node("n1", gpus=1)
    job = told.job("a", 0, gpus=0.6, runs=5)
    told.place(job, 0, "n1", devices=((0,),))
    told.end(job, 5)
    wanting(told, 0.6)
    assert at_end(told).percent.tolist() == pytest.approx([100, 0, 0])


demands = st.sampled_from([0.2, 0.5, 0.7, 1, 2])


@given(st.lists(st.tuples(demands, st.integers(0, 2), st.booleans()), min_size=1, max_size=14))
def test_the_arrays_give_what_one_node_after_the_other_gives(asked: list[tuple[float, int, bool]]) -> None:
    told, free = Told(), [[1000] * 3 for _ in range(3)]
    for number in range(3):
        told.node(f"n{number}", gpus=3)
    for number, (gpus, node, placed) in enumerate(asked):
        job = told.job(f"j{number}", 0, gpus=gpus, runs=None)
        each, many = (round(gpus * 1000), 1) if gpus < 1 else (1000, int(gpus))
        devices = tuple(d for d in range(3) if free[node][d] >= each)[:many]
        if placed and len(devices) == many:
            told.place(job, 0, f"n{node}", devices=(devices,))
            for device in devices:
                free[node][device] -= each
    lost = sum(float(np.mean([useless(of, shape(gpus)) for gpus, _, _ in asked])) for of in free)
    total = sum(map(sum, free))
    assert at_end(told).percent[-1] == pytest.approx(100 * lost / total if total else 0)


def useless(free: list[int], wants: PodShape) -> int:
    """Of what is free on the devices of a node, what such a pod can't use."""
    need, many = (wants.share, 1) if wants.share else (1000, dict(wants.requests)[GPU] // 1000)
    usable = [left for left in free if left >= need]
    return sum(free) - (sum(usable) if len(usable) >= many else 0)
