"""The exposition reads back with virtual timestamps, and the board asks for nothing that isn't there."""

from __future__ import annotations

import json
import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kumi.evaluator.prometheus import PREFIX, board, exposition, lines, names
from tests.evaluator.told import GPU, ms, small


def test_every_figure_reads_back_with_the_time_of_the_virtual_clock() -> None:
    families = {f.name: f for f in text_string_to_metric_families(exposition([small()]).decode())}
    assert set(families) == set(names())
    waits = families[f"{PREFIX}queue_length"].samples
    assert waits[0].labels == {"policy": "fifo", "seed": "0"}
    assert [round(s.timestamp * 1000) for s in waits[:3]] == [ms(0), ms(0.167), ms(0.334)]
    assert all(s.value <= 2 for s in waits)
    (preemptions,) = families[f"{PREFIX}preemptions"].samples
    assert (preemptions.value, round(preemptions.timestamp * 1000)) == (1, ms(100))


def test_milliseconds_survive() -> None:
    text = exposition([small()]).decode()
    told = {at for line in lines([small()]) for at, _ in line.samples}
    assert {int(line.rsplit(" ", 1)[1]) for line in text.splitlines() if not line.startswith("#")} == told


def test_percents_of_the_summary_are_ratios_here() -> None:
    told = {(line.name, line.labels): line.samples for line in lines([small()])}
    labels = (("policy", "fifo"), ("resource", GPU), ("seed", "0"))
    assert told[f"{PREFIX}mean_allocation_ratio", labels][0][1] == pytest.approx(0.95)
    assert max(value for _, value in told[f"{PREFIX}allocation_ratio", labels]) == pytest.approx(1)


def test_runs_share_their_names_and_a_name_is_told_in_one_piece() -> None:
    found = [line.name for line in lines([small(), small("drf")])]
    assert [name for i, name in enumerate(found) if not i or found[i - 1] != name] == list(dict.fromkeys(found))
    assert {dict(line.labels)["policy"] for line in lines([small(), small("drf")])} == {"fifo", "drf"}


def test_tenants_and_queues_have_figures_of_their_own_and_lines_over_time() -> None:
    told = {(line.name, line.labels): line.samples for line in lines([small()])}

    def of(name: str, **labels: str) -> float:
        return told[PREFIX + name, tuple(sorted({"policy": "fifo", "seed": "0", **labels}.items()))][0][1]

    assert (of("queue_jobs", queue="gold"), of("queue_finished_jobs", queue="silver")) == (2, 1)
    assert of("queue_jobs") == 1  # giant's, which is in no queue
    assert of("queue_allocation_ratio", queue="gold", resource=GPU) == pytest.approx((200 + 20 + 35) / 300)
    assert of("tenant_deadlines_missed", tenant="red") == 1
    assert of("tenant_tardiness_seconds", tenant="red", quantile="1") == 10
    assert of("tenant_bounded_slowdown", tenant="blue", quantile="0.5") == pytest.approx(85 / 50)
    assert of("tenant_utilization_ratio", tenant="red", resource=GPU) == pytest.approx((200 + 30) / 300)
    waits = told[f"{PREFIX}queue_waiting", (("policy", "fifo"), ("queue", "gold"), ("seed", "0"))]
    assert {value for at, value in waits if ms(20) <= at < ms(49)} == {1}


def test_the_figures_of_the_run_have_those_of_jobs_too() -> None:
    told = {(line.name, line.labels): line.samples for line in lines([small()])}
    run = (("policy", "fifo"), ("quantile", "1"), ("seed", "0"))
    assert told[f"{PREFIX}tardiness_seconds", run][0][1] == 10
    assert told[f"{PREFIX}bounded_slowdown", run][0][1] == pytest.approx(85 / 50)


def test_no_label_is_empty_and_all_models_together_have_none() -> None:
    told = list(lines([small()]))
    assert all(value for line in told for _, value in line.labels)
    models = [dict(line.labels).get("model") for line in told if line.name == f"{PREFIX}gpu_fragmentation_ratio"]
    assert models == [None, "A", "B"]


def test_labels_of_strangers_are_escaped() -> None:
    families = list(text_string_to_metric_families(exposition([small('a"b\\c\nd')]).decode()))
    assert families[0].samples[0].labels["policy"] == 'a"b\\c\nd'


def test_no_runs_no_lines() -> None:
    assert exposition([]) == b""


def queries() -> list[str]:
    found = json.loads(board())
    asked = [target["expr"] for panel in found["panels"] for target in panel.get("targets", [])]
    return asked + [one["query"]["query"] for one in found["templating"]["list"] if one["type"] == "query"]


def test_the_board_asks_only_for_what_is_told_and_leaves_little_out() -> None:
    asked = {name for query in queries() for name in re.findall(r"\bkumi_\w+", query)}
    assert asked <= set(names())
    of_groups = (f"{PREFIX}tenant_", f"{PREFIX}queue_")
    assert {name for name in names() if name not in asked and not name.startswith(of_groups)} <= {
        f"{PREFIX}{name}" for name in ("makespan_seconds", "peak_allocation_ratio", "deadlines_met")
    }


def test_the_board_tells_lines_apart_by_labels_that_they_have() -> None:
    labels: dict[str, set[str]] = {}
    for line in lines([small()]):
        labels.setdefault(line.name, set()).update(name for name, _ in line.labels)
    for query in queries():
        for name, inside in re.findall(r"\b(kumi_\w+)\{([^}]*)\}", query):
            assert set(re.findall(r"(\w+)=", inside)) <= labels[name], query
    for panel in json.loads(board())["panels"]:
        for target in panel.get("targets", []):
            (name,) = re.findall(r"\bkumi_\w+", target["expr"])
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= labels[name], panel["title"]


def test_panels_of_the_board_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(board())["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells
        assert at["x"] + at["w"] <= 24
