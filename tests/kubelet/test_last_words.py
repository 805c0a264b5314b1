"""The message of a container that has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumi.kubelet import mounts
from kumi.kubelet.last_words import FILE_BYTES, LOG_BYTES, LOG_LINES, make_file, path_of, with_last_words
from kumi.kubelet.log_files import LIMITS, Limits, Log
from kumi.kubelet.pod_words import Exit
from tests.kubelet.stage import Cluster, container, pod, state

FALL_BACK = {"terminationMessagePolicy": "FallbackToLogsOnError"}


def logged(directory: Path, text: bytes, limits: Limits = LIMITS) -> str:
    stem = str(directory / "0")
    log = Log(stem, limits)
    log.take("stdout", text)
    log.close()
    return stem


def test_what_was_written_to_the_file_is_the_message_the_last_of_it(tmp_path: Path) -> None:
    stem = logged(tmp_path, b"log\n")
    Path(make_file(stem)).write_bytes(b"x" * FILE_BYTES + b"end")
    said = with_last_words(Exit(1, message="node"), FALL_BACK, stem).message
    assert (len(said), said[-4:]) == (FILE_BYTES, "xend")


def test_the_end_of_the_log_stands_in_where_the_policy_says_so_and_it_failed(tmp_path: Path) -> None:
    stem = logged(tmp_path, b"".join(b"%d\n" % n for n in range(200)))
    make_file(stem)
    said = with_last_words(Exit(1), FALL_BACK, stem).message
    assert said.splitlines() == [str(n) for n in range(200 - LOG_LINES, 200)]
    assert with_last_words(Exit(0), FALL_BACK, stem).message == ""
    assert with_last_words(Exit(1), {}, stem).message == ""


def test_long_lines_of_the_log_are_cut_at_their_beginning(tmp_path: Path) -> None:
    stem = logged(tmp_path, b"x" * 9_000 + b"end\n")
    said = with_last_words(Exit(1), FALL_BACK, stem).message
    assert len(said) <= LOG_BYTES
    assert said.endswith("xend\n")


def test_the_end_of_a_log_may_be_in_several_files(tmp_path: Path) -> None:
    stem = logged(tmp_path, b"".join(b"line %d\n" % n for n in range(200)), Limits(500, 50))
    assert len(list(tmp_path.glob("0*.log"))) > 10
    said = with_last_words(Exit(1), FALL_BACK, stem).message
    assert said.splitlines() == [f"line {n}" for n in range(200 - LOG_LINES, 200)]


def test_parts_of_a_line_are_one_line(tmp_path: Path) -> None:
    stem = logged(tmp_path, b"x" * 20 * 1024 + b"\nend\n")
    said = with_last_words(Exit(1), FALL_BACK, stem).message
    assert said == "x" * (LOG_BYTES - 5) + "\nend\n"
    log = Log(str(tmp_path / "1"))
    for text in (b"Pass", b"word"):
        log.take("stderr", text)
        log.close()
    assert with_last_words(Exit(1), FALL_BACK, str(tmp_path / "1")).message == "Password"


def test_without_words_of_its_own_the_node_s_stay(tmp_path: Path) -> None:
    assert with_last_words(Exit(1, message="node"), FALL_BACK, str(tmp_path / "0")).message == "node"


def test_the_default_path_is_not_provided() -> None:
    assert path_of({}) == path_of({"terminationMessagePath": "/dev/termination-log"}) == ""
    assert path_of({"terminationMessagePath": "/tmp/words"}) == "/tmp/words"


@pytest.mark.process
async def test_a_container_s_last_words_are_in_its_status(cluster: Cluster) -> None:
    if cluster.machine.isolation == mounts.NONE:
        pytest.skip("no private views here")
    script = "echo disk is full > /run/of/words; exit 1"
    await cluster.run(
        pod(
            "p",
            container(script, terminationMessagePath="/run/of/words"),
            container("echo so; exit 1", "b", **FALL_BACK),
        )
    )
    found = await cluster.phase("p", "Failed")
    assert state(found)["terminated"]["message"] == "disk is full\n"
    assert state(found, "b")["terminated"]["message"] == "so\n"
