from __future__ import annotations

from pathlib import Path

from kumi.kubelet.pod_record import PodRecord, home_of, load, save
from tests.kubelet.stage import pod


def test_a_record_survives(tmp_path: Path) -> None:
    given = {"main": {"nvidia.com/gpu": [0, 2]}}
    record = PodRecord(
        node="n", namespace="ns", name="p", uid="u", started_ms=5, address="127.2.0.2", port=7, devices=given
    )
    save(tmp_path, record)
    assert load(tmp_path) == record


def test_no_record_and_a_broken_one_are_none(tmp_path: Path) -> None:
    assert load(tmp_path) is None
    (tmp_path / "pod.json").write_text('{"node": 5}')
    assert load(tmp_path) is None


def test_a_pods_directory_has_its_namespace_name_and_uid(tmp_path: Path) -> None:
    assert home_of(tmp_path, pod("p", "x", meta={"uid": "u1"})) == tmp_path / "pods" / "default_p_u1"
