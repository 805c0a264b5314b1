"""What the options of `kumi evaluate` ask for, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kumi.api.errors import KumiError
from kumi.cli.experiment import Asked, Seeds, Span, Varied, asked, options
from kumi.evaluator.external import External
from kumi.evaluator.remote_write import Receiver
from kumi.evaluator.sources import ScenarioFile, Shape, Stated, Trace
from tests.evaluator import tiny

SCENARIO = """
name: two
seeds: 3
parameters: {gpus: 2}
cluster: {nodes: [{name: n, offers: {nvidia.com/gpu: "${gpus}"}}]}
maintenance: [{nodes: n, at: 1h, for: 1m}]
policies: [shortest, {name: mine, policy: {scoring: spread}}]
"""


def ask(*words: str) -> Asked:
    """What these words ask for; click.UsageError, KumiError."""
    found: list[Asked] = []

    @click.command()
    @options
    def command(**said: Any) -> None:
        found.append(asked(said))

    command.main(list(words), standalone_mode=False)
    return found[0]


@pytest.fixture
def trace(tmp_path: Path) -> list[str]:
    """A trace's options."""
    made = tiny.write(tmp_path)
    return ["--format", "openb", "--nodes", made.nodes, "--jobs", made.jobs]


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "two.yaml"
    path.write_text(SCENARIO)
    return str(path)


def test_a_trace_is_played_by_the_policies_that_are_named(trace: list[str]) -> None:
    found = ask(*trace, "--policy", "fifo", "-p", "easy", "-p", "fifo", "--runs-from", "scheduled").experiment
    assert found.policies == ("fifo", "easy")
    assert isinstance(found.source, Trace)
    assert found.source.options == (("runs_from", "scheduled"),)
    assert found.seeds == (0,)


def test_a_format_has_options_of_its_own(trace: list[str]) -> None:
    words = (
        "--format",
        "swf",
        "--jobs",
        trace[-1],
        "--format-option",
        "processors=pod",
        "--format-option",
        "queues=log",
    )
    found = ask(*words).experiment.source
    assert isinstance(found, Trace)
    assert found.options == (("processors", "pod"), ("queues", "log"))


def test_who_names_no_policy_gets_the_default(trace: list[str]) -> None:
    assert ask(*trace).experiment.policies == ("default",)


def test_all_reshaping_is_in_the_shape(trace: list[str]) -> None:
    words = "--gpu-nodes --scale-nodes 1% --resample --sample 7 --inflate 1.3 --compress-time 100 --no-departures --drop-waiting"
    found = ask(*trace, *words.split()).experiment.source
    assert isinstance(found, Trace)
    assert found.shape == Shape(True, 0.01, True, 7, 1.3, 100.0, True, True)


def test_the_seed_of_the_sample_is_the_runs_own_where_no_other_is_named(trace: list[str]) -> None:
    found = ask(*trace, "--inflate", "1.3", "--sample-seed", "7").experiment
    assert found.seeds == (7,)
    other = ask(*trace, "--inflate", "1.3", "--sample-seed", "7", "--seeds", "2").experiment
    assert other.seeds == (0, 1)
    assert isinstance(other.source, Trace)
    assert other.source.sample_seed == 7


def test_a_seed_of_the_sample_alone_draws_the_jobs_anew(trace: list[str]) -> None:
    found = ask(*trace, "--sample-seed", "3").experiment
    assert isinstance(found.source, Trace)
    assert (found.source.shape.resample, found.seeds) == (True, (3,))


def test_a_scenario_has_its_own_policies_and_seeds(scenario: str) -> None:
    found = ask(scenario).experiment
    assert isinstance(found.source, ScenarioFile)
    assert found.policies == ("shortest", Stated(1, "mine"))
    assert found.seeds == (0, 1, 2)


def test_options_take_the_place_of_what_a_scenario_says(scenario: str) -> None:
    found = ask(scenario, "--policy", "fifo", "--seed", "5", "--set", "gpus=4,8", "--set", "inflate=2").experiment
    assert found.policies == ("fifo",)
    assert found.seeds == (5,)
    assert found.grid == (("gpus", (4, 8)), ("inflate", (2,)))
    assert len(found.tasks()) == 2


def test_a_scheduler_in_another_process_takes_the_place_of_a_scenarios_policies(scenario: str) -> None:
    assert ask(scenario, "--external", "mine {kubeconfig}").experiment.policies == ("default",)
    assert ask(scenario, "--external", "mine {kubeconfig}", "-p", "fifo").experiment.policies == ("fifo",)


@pytest.mark.parametrize(
    ("said", "values"),
    [("x=1,2.5", (1, 2.5)), ("x=true,false", (True, False)), ("x=1%", ("1%",)), ("x=a,b", ("a", "b"))],
)
def test_values_of_parameters_are_numbers_switches_or_words(
    trace: list[str], said: str, values: tuple[Any, ...]
) -> None:
    assert ask(*trace, "--set", said).experiment.grid == (("x", values),)


def test_limits_are_lengths_of_time(trace: list[str]) -> None:
    found = ask(*trace, "--max-virtual", "30d", "--max-real", "1m30s").experiment.limits
    assert (found.virtual_ms, found.real_s) == (30 * 86_400_000, 90.0)


def test_runs_are_saved_beside_the_results(trace: list[str], tmp_path: Path) -> None:
    found = ask(*trace, "--out", str(tmp_path / "out"), "--resume")
    assert found.experiment.keep == str(tmp_path / "out" / ".checkpoints")
    assert found.experiment.resume
    assert ask(*trace).experiment.keep == ""


def test_metrics_are_sent_with_headers(trace: list[str]) -> None:
    words = ("--remote-write", "http://vm/api/v1/write", "--remote-write-header", "Authorization: Bearer a:b")
    assert ask(*trace, *words).receiver == Receiver("http://vm/api/v1/write", {"Authorization": "Bearer a:b"})
    with pytest.raises(KumiError, match="must begin with http"):
        ask(*trace, "--remote-write", "vm:8428")


def test_a_scheduler_in_another_process_is_named_with_its_limit(trace: list[str], tmp_path: Path) -> None:
    found = ask(
        *trace, "--external", "mine {kubeconfig}", "--external-name", "mine", "--external-limit", "3s"
    ).experiment
    assert found.speed == "external"
    assert found.external == External("mine {kubeconfig}", "mine", limit_s=3.0)
    waits = ask(*trace, "--external-kubeconfig", str(tmp_path / "kc"), "--out", str(tmp_path)).experiment
    assert waits.external == External(kubeconfig=str(tmp_path / "kc"))
    assert waits.keep == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "what is to be played? Name a SCENARIO.yaml, or a trace"),
        (["--policy", "fifo"], "what is to be played?"),
        (["SCENARIO", "--jobs", "JOBS"], "leave out --jobs, or SCENARIO.yaml"),
        (
            ["SCENARIO", "--format", "swf", "--runs-from", "creation"],
            "leave out --format, --runs-from, or SCENARIO.yaml",
        ),
        (["SCENARIO", "--format-option", "a=b"], "leave out --format-option, or SCENARIO.yaml"),
        (["--jobs", "JOBS"], "--jobs says nothing without --format: openb, swf or kumi"),
        (["--format", "openb"], "--format openb needs the trace's jobs: --jobs FILE"),
        (["TRACE", "--seed", "1", "--seeds", "2"], "leave out one of them"),
        (["TRACE", "--report"], "--report needs a folder: --out DIR"),
        (["TRACE", "--csv", "--metrics"], "--metrics, --csv needs a folder: --out DIR"),
        (["TRACE", "--resume"], "--resume needs a folder: --out DIR"),
        (["TRACE", "--speed", "stack", "--out", "OUT", "--resume"], "runs at stack speed are not saved"),
        (["TRACE", "--remote-write-header", "A:b"], "says nothing without --remote-write URL"),
        (["TRACE", "--remote-write", "http://x", "--remote-write-header", "A"], "is written NAME:VALUE"),
        (["TRACE", "--external", "x", "--speed", "stack"], "leave out --speed"),
        (["TRACE", "--external", "x", "--out", "OUT", "--resume"], "leave out --resume"),
        (["TRACE", "--external", "x", "--backend", "ray"], "leave out --backend"),
        (["TRACE", "--external-name", "mine"], "--external-name says nothing without --external COMMAND"),
        (["TRACE", "--compare"], "there is one: name another"),
        (["TRACE", "--set", "inflate=1", "--set", "inflate=2"], "write all its values after one (inflate=1,2)"),
        (["TRACE", "--set", "inflate=1", "--inflate", "2"], "--inflate and --set inflate both say it"),
        (["TRACE", "--set", "inflate"], "write it like inflate=1.0,1.3"),
        (["TRACE", "--set", "inflate=1,,2"], "write it like inflate=1.0,1.3"),
        (["TRACE", "--scale-nodes", "few"], "write a part (1% or 0.01), or how many (15)"),
        (["TRACE", "--max-real", "soon"], "write it like 90s, 1h30m or 30d"),
        (["TRACE", "--max-virtual", "0s"], "write it like 90s, 1h30m or 30d"),
        (["TRACE", "--seeds", "a-b"], "write how many (10), or which (0-9, or 1,5,7)"),
        (["TRACE", "--seeds", "0"], "there must be one seed at least"),
        (["TRACE", "--seeds", "1000000000"], "at most 100,000 seeds"),
        (["TRACE", "--seeds", "5-9999999"], "at most 100,000 seeds"),
        (["TRACE", "--seed", "99999999999999999999"], "is not in the range"),
        (["TRACE", "--nodes", "nowhere.csv"], "does not exist"),
    ],
)
def test_what_contradicts_itself_is_refused_with_what_to_do(
    words: list[str], said: str, trace: list[str], scenario: str, tmp_path: Path
) -> None:
    filled: list[str] = []
    for word in words:
        named = {"TRACE": trace, "SCENARIO": [scenario], "JOBS": [trace[-1]], "OUT": [str(tmp_path)]}
        filled += named.get(word, [word])
    with pytest.raises(click.UsageError) as caught:
        ask(*filled)
    assert said in caught.value.format_message()
    assert caught.value.exit_code == 2


def test_a_scenario_that_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("name: x\ncluster: {nodes: [{name: n, offers: {cpu: many}}]}\n")
    with pytest.raises(KumiError, match="line 2"):
        ask(str(path))


@pytest.mark.parametrize(
    ("said", "seeds"),
    [("3", (0, 1, 2)), ("2-4", (2, 3, 4)), ("1,5,7", (1, 5, 7)), ("1,3-4,3", (1, 3, 4)), ("0-0", (0,))],
)
def test_seeds_are_counted_or_named(said: str, seeds: tuple[int, ...]) -> None:
    assert Seeds().convert(said, None, None) == seeds


@pytest.mark.parametrize(
    ("said", "ms"), [("90s", 90_000), ("1h30m", 5_400_000), ("2d", 172_800_000), ("1d12h", 129_600_000)]
)
def test_lengths_of_time(said: str, ms: int) -> None:
    assert Span().convert(said, None, None) == ms


def test_a_parameter_is_written_with_dashes_or_without() -> None:
    assert Varied().convert("scale-nodes=1%,2%", None, None) == ("scale_nodes", ("1%", "2%"))


def test_every_option_has_a_help_text() -> None:
    @click.command()
    @options
    def command(**_: Any) -> None:
        pass

    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
    assert CliRunner().invoke(command, ["--help"]).exit_code == 0
