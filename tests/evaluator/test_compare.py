"""Which policy wins what, and when nobody does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kumi.evaluator.budget import VIRTUAL_TIME_SPENT
from kumi.evaluator.compare import Better, Compared, Verdict, compare, to_json


def run(policy: str, seed: int, wait: float, **more: Any) -> dict[str, Any]:
    return {"policy": policy, "seed": seed, "wait_s": {"mean": wait}, **more}


def of(runs: list[dict[str, Any]], metric: str = "wait_s.mean") -> Compared:
    (comparison,) = compare(runs)
    (found,) = (one for one in comparison.metrics if one.metric == metric)
    return found


def runs_of(**waits: Sequence[float]) -> list[dict[str, Any]]:
    return [run(policy, seed, wait) for policy, listed in waits.items() for seed, wait in enumerate(listed)]


samples = st.lists(st.integers(0, 1_000), min_size=3, max_size=8)


@given(samples, st.integers(1, 100))
def test_a_policy_that_is_better_by_as_much_with_each_seed_wins_whatever_the_seeds_do(
    waits: list[int], gap: int
) -> None:
    if len(set(waits)) == 1:
        waits[0] += 1
    found = of(runs_of(slow=[w + gap for w in waits], quick=list(waits)))
    assert (found.verdict, found.best) == (Verdict.WINNER, "quick")
    assert found.leads["slow"].mean == -gap


@given(samples)
def test_equal_values_have_no_winner(waits: list[int]) -> None:
    assert of(runs_of(a=waits, b=list(waits))).verdict is not Verdict.WINNER


@given(samples, samples)
def test_the_winner_is_the_same_whoever_is_named_first(one: list[int], other: list[int]) -> None:
    count = min(len(one), len(other))
    forward = of(runs_of(a=one[:count], b=other[:count]))
    backward = of(runs_of(b=other[:count], a=one[:count]))
    assert forward.verdict is backward.verdict
    if forward.verdict is Verdict.WINNER:
        assert forward.best == backward.best


def test_a_difference_within_the_noise_names_nobody() -> None:
    found = of(runs_of(a=[10, 30, 20, 25], b=[12, 22, 30, 20]))
    assert found.verdict is Verdict.NO_DIFFERENCE


def test_a_difference_that_is_hidden_by_the_seeds_shows_in_pairs() -> None:
    # seed by seed 1.0, 1.1 and 0.9 apart, though the seeds themselves are hundreds apart
    found = of(runs_of(a=[100, 500, 900], b=[101, 501.1, 900.9]))
    assert (found.verdict, found.best) == (Verdict.WINNER, "a")
    assert found.values["a"].half is not None
    assert found.values["a"].half > 100


def test_one_seed_says_that_no_noise_is_known() -> None:
    found = of(runs_of(a=[1], b=[1000]))
    assert (found.verdict, found.best) == (Verdict.NO_NOISE_KNOWN, "a")


def test_seeds_that_change_nothing_tell_no_noise_either() -> None:
    assert of(runs_of(a=[1, 1, 1], b=[2, 2, 2])).verdict is Verdict.NO_NOISE_KNOWN


def test_what_is_the_same_for_all_is_the_same_with_one_seed_too() -> None:
    assert of(runs_of(a=[5], b=[5])).verdict is Verdict.SAME


def test_one_policy_wins_nothing() -> None:
    assert of(runs_of(a=[1, 2, 3])).verdict is Verdict.NO_DIFFERENCE


def test_more_policies_need_a_clearer_difference() -> None:
    near = {"a": [1.0, 2.0, 3.0], "b": [2.0, 3.2, 3.8]}
    assert of(runs_of(**near)).verdict is Verdict.WINNER
    crowd = {f"p{n}": [50.0, 60.0, 71.0] for n in range(8)}
    assert of(runs_of(**near, **crowd)).verdict is Verdict.NO_DIFFERENCE


def test_more_is_better_where_it_is() -> None:
    runs = [
        {"policy": p, "seed": s, "jain_fairness": base + s / 100}
        for p, base in (("a", 0.5), ("b", 0.9))
        for s in (0, 1)
    ]
    found = of(runs, "jain_fairness")
    assert (found.best, found.better) == ("b", Better.MORE)


def test_each_resource_is_a_metric_of_its_own_though_its_name_has_dots() -> None:
    allocated = {"nvidia.com/gpu": {"mean": 10.0, "peak": 90.0}, "cpu": {"mean": 5.0, "peak": 6.0}}
    (comparison,) = compare([run("a", 0, 1, allocation_percent=allocated)])
    named = [one.metric for one in comparison.metrics]
    assert named == [
        "wait_s.mean",
        "allocation_percent.cpu.mean",
        "allocation_percent.nvidia.com/gpu.mean",
        "allocation_percent.cpu.peak",
        "allocation_percent.nvidia.com/gpu.peak",
    ]
    assert comparison.metrics[2].values["a"].mean == 10.0


def test_only_seeds_that_every_policy_ran_with_whole_count() -> None:
    runs = [*runs_of(a=[1, 2, 3], b=[4, 5]), run("b", 2, 99, partial=True)]
    (comparison,) = compare(runs)
    assert comparison.seeds == (0, 1)


def test_runs_of_the_same_virtual_time_are_compared_though_they_were_not_over() -> None:
    cut = {"partial": True, "stopped": VIRTUAL_TIME_SPENT}
    (comparison,) = compare([run("a", 0, 1, **cut), run("b", 0, 2, **cut)])
    assert comparison.seeds == (0,)


def test_a_metric_that_a_run_does_not_have_is_left_out() -> None:
    runs = [run("a", 0, 1, makespan_s=5.0), run("b", 0, 2, makespan_s=None)]
    (comparison,) = compare(runs)
    assert [one.metric for one in comparison.metrics] == ["wait_s.mean"]


def test_runs_of_different_parameters_are_compared_apart() -> None:
    runs = [run(p, 0, w, parameters={"inflate": i}) for i, p, w in ((1.0, "a", 1), (1.0, "b", 2), (1.3, "a", 3))]
    found = compare(runs)
    assert [(c.parameters, c.policies) for c in found] == [({"inflate": 1.0}, ("a", "b")), ({"inflate": 1.3}, ("a",))]


def test_no_run_is_no_comparison() -> None:
    assert compare([]) == ()


def test_the_object_names_the_winner_and_the_widths() -> None:
    (comparison,) = compare(runs_of(a=[1, 2], b=[11, 12]))
    (metric,) = to_json(comparison)["metrics"]
    assert (metric["winner"], metric["verdict"], metric["better"]) == ("a", "winner", "less")
    assert metric["leads"] == {"b": {"mean": -10.0, "half_width": 0.0}}
