import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.engine.model import Namespace
from kumi.engine.policy import parse
from kumi.evaluator import saving
from kumi.evaluator.engine import Run
from kumi.evaluator.model import Cancel, Load, Policy, Via
from kumi.evaluator.policies import BUILTIN
from kumi.testing.builders import door, flavor, node, pod, queue
from tests.evaluator.loads import loads, policies
from tests.evaluator.stories import START_MS, Story, job, load


def to_the_end(run: Run) -> Story:
    while run.advance(1000):
        pass
    (story,) = run.observers
    assert isinstance(story, Story)
    return story


def told(story: Story) -> object:
    return story.lines, story.decisions, story.waiting, story.closed_ms


@given(loads(), policies(), st.integers(0, 30))
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_a_run_that_was_saved_anywhere_goes_on_as_if_it_never_was(tmp_path, given_load, policy, events):
    whole = to_the_end(Run(given_load, policy, 5, (Story(),)))
    run = Run(given_load, policy, 5, (Story(),))
    run.advance(events)
    run.save(tmp_path / "run")
    played = run.played
    again = Run.resume(tmp_path / "run", given_load, policy, 5)
    assert again.played == played
    assert told(to_the_end(again)) == told(whole)
    assert told(to_the_end(run)) == told(whole)


PROGRAM = """
    import sys, time
    from pathlib import Path
    from kumi.evaluator.engine import Run
    from kumi.evaluator.model import Policy, Via
    from kumi.testing.builders import door, flavor, node, queue
    from tests.evaluator.stories import Story, job, load
    from kumi.engine.model import Namespace

    vias = list(Via)
    jobs = [
        job(f"j{n}", at_ms=n * 250, gpu=1 + n % 2, cpu=1, pods=1 + n % 3, runs_ms=700 + n % 7 * 90,
            via=vias[n % 3], queue="lq" if n % 3 == 2 else "", priority=n % 2)
        for n in range(60)
    ]
    setting = [Namespace("team"), flavor(), queue("cq", {"default": {"gpu": 6, "cpu": 6}}), door("team/lq", "cq")]
    setting += [node(f"n{n}", gpu=4, cpu=4) for n in range(3)]
    given, policy, path = load(setting, jobs), Policy("p"), Path(sys.argv[2])
    if sys.argv[1] == "begin":
        run = Run(given, policy, 1, (Story(),))
        run.advance(50)
        run.save(path)
        print("saved", flush=True)
        run.advance(30)
        time.sleep(60)
    run = Run.resume(path, given, policy, 1) if sys.argv[1] == "resume" else Run(given, policy, 1, (Story(),))
    while run.advance(50):
        pass
    (story,) = run.observers
    print("\\n".join([*story.lines, *map(str, story.decisions), str(story.waiting)]))
"""
ROOT = Path(__file__).parent.parent.parent


def program(how: str, path: Path, hash_seed: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), how, str(path)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.process
def test_a_run_that_was_killed_goes_on_in_another_process_under_another_hash_seed_to_the_same_bytes(tmp_path):
    path = tmp_path / "run"
    with program("begin", path, 1) as begun:
        assert begun.stdout is not None
        assert begun.stdout.readline() == "saved\n"
        begun.send_signal(signal.SIGKILL)
    said = []
    for how, seed in (("resume", 2), ("play", 3)):
        with program(how, path, seed) as process:
            out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        said.append(out)
    assert said[0] == said[1]
    assert "finished team/j59" in said[0]


@pytest.fixture
def saved(tmp_path):
    given_load = load([node("n", gpu=1)], [job("a", gpu=1), job("b", gpu=1, at_ms=5), Cancel(START_MS + 9, "team/b")])
    run = Run(given_load, Policy("p"), 1)
    run.advance(2)
    path = tmp_path / "run"
    run.save(path)
    return path, given_load


def test_it_goes_on_with_the_same_only(saved):
    path, given_load = saved
    assert Run.resume(path, given_load, Policy("p"), 1).played == 2
    others = [
        (given_load, Policy("q"), 1),
        (given_load, Policy("p", as_gangs=True), 1),
        (given_load, Policy("p", nouns=(pod("ns/p"),)), 1),
        (given_load, Policy("p"), 2),
        (replace(given_load, name="other"), Policy("p"), 1),
        (replace(given_load, setting=(node("n", gpu=2),)), Policy("p"), 1),
    ]
    for other_load, policy, seed in others:
        with pytest.raises(KumiError, match="of another load, policy or seed"):
            Run.resume(path, other_load, policy, seed)


def test_the_events_that_were_played_must_be_the_same(saved):
    path, given_load = saved
    for other in ([job("a", gpu=1), job("c", gpu=1, at_ms=5)], [job("a", gpu=1)]):
        changed = Load(
            given_load.name, given_load.setting, load([], [*other, job("z", at_ms=9)]).events, size=given_load.size
        )
        with pytest.raises(KumiError, match="are not those of load test"):
            Run.resume(path, changed, Policy("p"), 1)


def test_what_is_damaged_or_no_saved_run_or_of_another_version_is_told_so(saved, monkeypatch, tmp_path):
    path, given_load = saved
    whole = path.read_bytes()
    head = json.loads(whole.partition(b"\n")[0])
    wrong = {
        "is damaged": whole[:-1],
        "is no saved run": b"hello\nworld",
        "saved by Kumi 0.0.0": json.dumps({**head, "Kumi": "0.0.0"}).encode() + b"\n",
        "saved by kumi-run 0": json.dumps({**head, "kumi-run": 0}).encode() + b"\n",
    }
    for said, content in wrong.items():
        path.write_bytes(content)
        with pytest.raises(KumiError, match=said):
            Run.resume(path, given_load, Policy("p"), 1)
    with pytest.raises(KumiError, match="can't be read"):
        Run.resume(tmp_path / "nowhere", given_load, Policy("p"), 1)


def test_a_save_that_is_cut_short_leaves_the_one_before(saved, monkeypatch):
    path, given_load = saved
    before = path.read_bytes()
    run = Run(given_load, Policy("p"), 1)

    def fails(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(saving.os, "fsync", fails)
    with pytest.raises(OSError, match="no space left"):
        run.save(path)
    assert path.read_bytes() == before


def test_the_fingerprint_is_the_same_in_every_process():
    code = (
        "from kumi.evaluator.saving import fingerprint; from kumi.evaluator.model import Policy;"
        "from tests.evaluator.stories import job, load; from kumi.testing.builders import node;"
        "print(fingerprint(load([node('n', gpu=1)], [job('a')]), Policy('p'), 1))"
    )
    said = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        said.add(subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True).stdout)
    assert len(said) == 1


def test_gangs_and_workloads_are_saved_as_well(tmp_path):
    given_load = load(
        [node("n", gpu=2)], [job("g", pods=2, gpu=1, via=Via.GANG), job("h", pods=2, gpu=1, via=Via.GANG)]
    )
    run = Run(given_load, Policy("p"), 1, (Story(),))
    run.advance(1)
    run.save(tmp_path / "run")
    story = to_the_end(Run.resume(tmp_path / "run", given_load, Policy("p"), 1))
    assert story.of("team/h")[-1] == "2000 finished 1000"


@pytest.mark.parametrize("profile", ["kumi", "kueue", "volcano"])
@pytest.mark.parametrize("name", list(BUILTIN))
def test_runs_of_every_profile_and_built_in_policy_are_saved(tmp_path, name, profile):
    policy = Policy(name, parse({"profile": profile, **BUILTIN[name]}))
    setting = [
        Namespace("team"),
        flavor(),
        queue("cq", {"default": {"gpu": 2}}),
        door("team/lq", "cq"),
        node("n", gpu=2),
    ]
    events = [job(str(via.value), at_ms=n, pods=2, gpu=1, via=via, queue="lq") for n, via in enumerate(Via)]
    run = Run(load(setting, events), policy, 1, (Story(),))
    run.advance(2)
    run.save(tmp_path / "run")
    again = Run.resume(tmp_path / "run", load(setting, events), policy, 1)
    assert told(to_the_end(again)) == told(to_the_end(run))
