"""Random: as likely as another, and the same again."""

from __future__ import annotations

from collections import Counter

import numpy as np

from kumi.engine.decisions import Bind
from kumi.engine.model import PodShape, Profile, Put
from kumi.engine.placement import session
from kumi.engine.placement.conf import Arguments, Option
from kumi.engine.placement.plugins.at_random import AtRandom
from kumi.engine.state import State
from kumi.testing.builders import GPU, node, pod

from .test_binpack import table


def best(seed: int, uid: str, names: list[str]) -> str:
    nodes = table(*(node(name, cpu=4) for name in names))
    rows = nodes.by_name()
    scores = AtRandom(seed).by_load(nodes, nodes.seen, pod(uid), rows, np.zeros(rows.size, dtype=np.int64))
    assert ((scores >= 0) & (scores < 100)).all()
    return nodes.names()[int(np.argmax(scores))]


def test_every_node_is_as_likely_as_another() -> None:
    names = [f"n{i}" for i in range(4)]
    counts = Counter(best(7, f"ns/{i}", names) for i in range(400))
    assert len(counts) == 4
    assert all(60 <= count <= 140 for count in counts.values()), counts


def test_who_is_drawn_depends_on_seed_pod_and_names_alone() -> None:
    names = [f"n{i}" for i in range(9)]
    drawn = [best(1, f"ns/{i}", names) for i in range(20)]
    assert drawn == [best(1, f"ns/{i}", names[::-1]) for i in range(20)]
    assert drawn != [best(2, f"ns/{i}", names) for i in range(20)]
    kept = [name for name in names if name != "n0"]
    assert [best(1, f"ns/{i}", kept) for i, name in enumerate(drawn) if name != "n0"] == [d for d in drawn if d != "n0"]


def test_a_share_gets_any_device_that_has_so_much() -> None:
    state = State(Profile(arguments={"scoring": "random", "seed": "3"}))
    state.apply(Put(node("n", gpu=8)))
    devices: list[int] = []
    for number in range(8):
        state.apply(Put(pod(f"ns/{number}", shape=PodShape(((GPU, 600),), share=600), created_ms=number)))
        (bound,) = [d for d in session.decide(state, 0) if isinstance(d, Bind)]
        devices += bound.devices
    assert sorted(devices) == list(range(8))
    assert devices != sorted(devices)


def test_the_seed_is_an_argument() -> None:
    assert AtRandom.configured(Option("random", arguments=Arguments({"random.seed": 5}))) == AtRandom(5)
