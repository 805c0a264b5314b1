from __future__ import annotations

import os
import sys
from pathlib import Path

from kumi.kubelet.settings import MachineSettings, NodeSettings, architecture, own_environment


def test_a_node_offers_the_machine_and_what_it_is_told_to() -> None:
    offered = NodeSettings({"cpu": "64", "nvidia.com/gpu": "6"}, pods=7).offered()
    assert (offered["cpu"], offered["nvidia.com/gpu"], offered["pods"]) == ("64", "6", "7")
    assert offered["memory"].endswith("Ki")
    assert NodeSettings().offered()["cpu"] == str(os.cpu_count())


def test_the_interpreters_programs_are_found_last() -> None:
    assert own_environment()["PATH"].split(os.pathsep)[-1] == os.path.dirname(sys.executable)


def test_containers_start_where_kumi_was_started(tmp_path: Path) -> None:
    assert MachineSettings(tmp_path).working_dir == Path.cwd()


def test_the_architecture_has_its_kubernetes_name() -> None:
    assert architecture() not in ("x86_64", "aarch64")
