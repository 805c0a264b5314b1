from __future__ import annotations

import msgspec
import pytest

from kumi.api.nodeinfo import Numatopology
from kumi.bridge.into.numatopology import numatopology, numbers
from kumi.engine import model


def test_cpus_are_read_with_what_they_are_part_of() -> None:
    view = {
        "metadata": {"name": "n1"},
        "spec": {
            "policies": {"CPUManagerPolicy": "static", "TopologyManagerPolicy": "restricted"},
            "resReserved": {"cpu": "1500m"},
            "numares": {"cpu": {"allocatable": "1,3-4", "capacity": 8}},
            "cpuDetail": {"10": {"numa": 1, "core": 5, "socket": 1}, "2": {"numa": 0}, "x": {}},
        },
    }
    assert numatopology(msgspec.convert(view, Numatopology)) == model.NumaTopology(
        "n1", (model.Cpu(2, 0, 0, 0), model.Cpu(10, 5, 1, 1)), (1, 3, 4), 1500, "restricted", True
    )


def test_what_is_not_said_is_nothing() -> None:
    view = msgspec.convert({"metadata": {"name": "n1"}}, Numatopology)
    assert numatopology(view) == model.NumaTopology("n1")


@pytest.mark.parametrize(
    ("text", "members"), [("", set()), ("3", {3}), ("0-2,5", {0, 1, 2, 5}), (" 1 , x, -2, 4-", {1, 4}), ("5-3", set())]
)
def test_a_set_is_numbers_and_ranges(text: str, members: set[int]) -> None:
    assert numbers(text) == members
