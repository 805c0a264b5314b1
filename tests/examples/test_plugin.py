"""The example of a plug-in of one's own, read as `kumi up --policy` reads it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from kumi.cli.plugins import command
from kumi.engine.decisions import Bind
from kumi.engine.gangs import Member, PodGroup, Queue
from kumi.engine.model import Put
from kumi.engine.placement import session
from kumi.engine.state import State
from kumi.runtime.policy_files import read_policy
from kumi.testing.builders import node, pod

POLICY = Path(__file__).parent.parent.parent / "examples" / "plugin" / "policy.yaml"


def test_pods_go_to_the_nodes_with_the_label_first_and_to_the_others_afterwards() -> None:
    state = State(read_policy(POLICY))
    cheap = {"example.com/cheap": "yes"}
    for noun in (Queue("default"), node("a", cpu=2), node("z", cheap, cpu=2), PodGroup("ns/g", "default", least=3)):
        state.apply(Put(noun))
    for n in range(3):
        state.apply(Put(replace(pod(f"ns/p-{n}", cpu=1), member=Member(group="ns/g"))))
    bound = [d.node for d in session.decide(state, 0) if isinstance(d, Bind)]
    assert bound == ["z", "z", "a"]


def test_it_is_listed_with_its_hook_its_arguments_and_its_file() -> None:
    done = CliRunner().invoke(command, ["--policy", str(POLICY), "-o", "json"], catch_exceptions=False)
    (listed,) = [one for one in json.loads(done.stdout) if one["name"] == "prefers_label"]
    assert listed["hooks"] == ["node_order"]
    assert listed["arguments"] == {"key": "kumi.dev/preferred", "weight": 1000.0}
    assert listed["source"].endswith("prefers_label.py")
    assert listed["about"] == "Prefers label: nodes with a label go before the others."
