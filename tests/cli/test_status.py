"""Rows of `kumi status`."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumi.cli.status import node_row, queue_row, show, unsound, waits, workload_row


def test_a_node_shows_whether_it_is_ready_and_what_it_offers() -> None:
    status = {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"cpu": "2", "nvidia.com/gpu": "6"}}
    assert node_row({"metadata": {"name": "n"}, "status": status}) == ("n", "Ready", "2 cpu, 6 nvidia.com/gpu")
    assert node_row({"metadata": {"name": "n"}})[1] == "NotReady"


def test_a_queue_shows_its_counts_and_what_is_reserved() -> None:
    used = [{"name": "spot", "resources": [{"name": "cpu", "total": "3"}]}]
    status = {"pendingWorkloads": 1, "admittedWorkloads": 2, "flavorsReservation": used}
    assert queue_row({"metadata": {"name": "q"}, "status": status}) == ("q", "1", "2", "3 cpu of spot")


@pytest.mark.parametrize(("kind", "answer"), [("Admitted", False), ("Finished", False), ("QuotaReserved", True)])
def test_what_is_neither_admitted_nor_finished_waits(kind: str, answer: bool) -> None:
    assert waits({"status": {"conditions": [{"type": kind, "status": "True"}]}}) is answer


def test_a_waiting_workload_shows_why() -> None:
    status = {"conditions": [{"type": "QuotaReserved", "status": "False", "message": "full"}]}
    workload = {"metadata": {"namespace": "a", "name": "w"}, "spec": {"queueName": "q"}, "status": status}
    assert workload_row(workload) == ("a/workload/w", "q", "full")


def test_a_waiting_workload_is_named_by_its_job_as_kumi_why_takes_it() -> None:
    owners = [{"kind": "PyTorchJob", "name": "bert", "controller": True}]
    workload = {"metadata": {"namespace": "a", "name": "pytorchjob-bert-1", "ownerReferences": owners}}
    assert workload_row(workload)[0] == "a/pytorchjob/bert"


def test_a_table_is_aligned_and_nothing_is_shown_for_no_rows(capsys: pytest.CaptureFixture[str]) -> None:
    show("A", [], ("B",))
    show("NAME", [("x", "1"), ("longer", "2")], ("N",))
    assert capsys.readouterr().out == "\nNAME     N\nx        1\nlonger   2\n"


def test_a_part_that_fails_for_ever_is_named_with_where_to_look() -> None:
    said = unsound("scheduler", Path("/data"))
    assert said.startswith("NOT READY: the scheduler ")
    assert "/data/kumi.log" in said
    assert "/data/replays" in said
