"""Seating: binds that are assumed at once leave what those assumed one by one leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.decisions import Bind
from kumi.engine.gangs import Phase
from kumi.engine.model import Exclusive, Pod, VolumeClaim
from kumi.engine.placement import seating
from kumi.engine.state import State
from kumi.testing.builders import node, shape
from kumi.testing.diagram import _plain
from kumi.testing.gangs import Scene, gang, line, task
from kumi.testing.neighbours import labels, neighbours

SHAPES = (shape(cpu=1), shape(cpu=1, memory="1Gi"), replace(shape(cpu=1), scored=(2000, 10)))


@st.composite
def crowds(draw: st.DrawFn) -> tuple[list[Pod], list[Bind]]:
    """Tasks that wait, and where each goes."""
    said = draw(st.none() | neighbours)
    pods = []
    for number in range(draw(st.integers(1, 6))):
        asked = replace(draw(st.sampled_from(SHAPES)), neighbours=said if draw(st.booleans()) else None)
        if draw(st.booleans()):
            asked = replace(asked, volume_claims=("ns/claim",))
        one = task(f"p-{number}", draw(st.sampled_from("ab")), role=draw(st.sampled_from(["", "w"])))
        pods.append(replace(one, shape=asked, labels=draw(labels), priority=draw(st.integers(0, 1))))
    binds = [Bind(one.uid, draw(st.sampled_from(["n1", "n2"]))) for one in draw(st.permutations(pods))]
    return pods, binds


def room(pods: list[Pod], *, layered: bool = True) -> State:
    """They wait. `layered`: somebody looked for victims, so that layers are kept."""
    made = Scene(node("n1", {"zone": "a"}, cpu=9, memory="9Gi"), node("n2", cpu=9, memory="9Gi"), line())
    made.put(VolumeClaim("ns/claim", exclusive=Exclusive.NO))
    made.put(*(gang(name, phase=Phase.INQUEUE) for name in "ab"), *pods)
    if layered:
        everywhere = np.ones(made.state.nodes.used.shape[1], dtype=np.bool_)
        list(made.state.layers.mended(SHAPES[0].requests, everywhere, 9))
    return made.state


def kept(state: State) -> object:
    """All that is kept, but the stamps and what counts how often nodes gained something."""
    nodes, tasks = state.nodes, state.tasks
    return (
        {name: nodes.used[:, row].tolist() for name, row in nodes.row_by_name.items()},
        {name: bool(nodes.gained[row] > 2) for name, row in nodes.row_by_name.items()},
        (tasks.status, tasks.node, tasks.ranks, tasks.waiting, tasks.allocated, tasks.asked),
        {key: (job.by_status, job.roles, job.allocated, job.held, job.asked) for key, job in tasks.jobs.items()},
        (state.pods.node_of, state.pods.on_node, state.binding, state.holdings.by_resource),
        {p: layer.amounts[:, :2].tolist() for p, layer in state.layers.by_priority.items()},
        _plain(nodes.volume_claims.users),
        {kind: met.rows for kind, met in nodes.residents._kinds.items()},
        {group: counter.counts[:2].tolist() for group, counter in nodes.residents._groups.items()},
        {term: counter.counts[:2].tolist() for term, counter in nodes.residents._owned.items()},
        nodes.residents.little().tolist(),
    )


@given(crowds(), st.booleans())
@settings(max_examples=80)
def test_all_at_once_is_one_by_one(crowd: tuple[list[Pod], list[Bind]], layered: bool) -> None:
    pods, binds = crowd
    at_once, singly = room(pods, layered=layered), room(pods, layered=layered)
    seating.assume(at_once, binds)
    for bind in binds:
        singly.assume(bind)
    assert kept(at_once) == kept(singly)
    invariants.check(at_once)


@given(crowds())
@settings(max_examples=30)
def test_a_trial_takes_it_back(crowd: tuple[list[Pod], list[Bind]]) -> None:
    pods, binds = crowd
    state = room(pods)
    before = _plain(state.tasks), _plain(state.pods), _plain(state.nodes.used), _plain(state.holdings.by_resource)
    with state.trial():
        seating.assume(state, binds)
    after = _plain(state.tasks), _plain(state.pods), _plain(state.nodes.used), _plain(state.holdings.by_resource)
    assert after == before


def test_what_was_said_of_a_pod_is_forgotten_and_so_is_the_place_that_was_kept_for_it() -> None:
    one = task("p-0", "a", cpu=1)
    state = room([one])
    state.journal.put(state.refusals, one.uid, ())
    state.nominations.put(one, "n2")
    seating.assume(state, [Bind(one.uid, "n1")])
    assert state.refusals == {}
    assert state.nominations.node_of == {}
