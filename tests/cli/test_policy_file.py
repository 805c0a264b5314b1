"""`--policy FILE`: read before anything starts, and again when it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumi.cli.policy_file import PolicyFile
from kumi.engine.policy import parse


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(text, "utf-8")
    return path


def test_a_policy_that_changes_is_read_again_and_one_that_is_wrong_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, "scoring: nodeorder\n")
    policy = PolicyFile(path)
    assert not policy.look()
    path.write_text("scoring: nobody, really\n")
    assert not policy.look()
    assert "line 1: scoring" in caplog.text
    assert policy.profile.arguments == {"scoring": "nodeorder"}
    path.write_text("scoring: binpack\n")
    assert policy.look()
    assert policy.profile.arguments == {"scoring": "binpack"}
    assert not policy.look()
    path.write_text("# the same\nscoring: binpack\n")
    assert not policy.look()
    path.unlink()
    assert not policy.look()


HEAD = "apiVersion: v1\nkind: ConfigMap\n"


@pytest.mark.parametrize(
    "text",
    [
        "---\n---\n---\nscoring: nobody\n",
        f"---\n---\n---\n{HEAD}data:\n  a: |\n    scoring: nobody\n",
        f"{HEAD}<<: {{data: {{a: 'scoring: nobody'}}}}\n",
        f"{HEAD}data: {{<<: {{a: 'scoring: nobody'}}}}\n",
        f"{HEAD}data: {{a: 'scoring: !!binary aGk='}}\n",
        f"{HEAD}data: {{a: 'scoring: !!timestamp 2024-01-01'}}\n",
        f"{HEAD}data: {{a: 'scoring: !!set {{x}}'}}\n",
        "scoring: 1e999\n",
        "{[a]: b}\n",
        "scoring: !!bool x\n",
        "scoring: \x00\n",
        "plugins: [no.py]\n",
    ],
)
def test_whatever_is_wrong_what_was_read_before_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    path = write(tmp_path, "scoring: nodeorder\n")
    policy = PolicyFile(path)
    path.write_text(text)
    assert not policy.look()
    assert "what it said before goes on" in caplog.text
    assert policy.profile.arguments == {"scoring": "nodeorder"}
    path.write_text("scoring: binpack\n")
    assert policy.look()


def test_without_a_file_nothing_ever_changes() -> None:
    policy = PolicyFile(None)
    assert not policy.look()
    assert policy.profile == parse(None)


def test_what_is_said_in_vain_is_told_whenever_the_file_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "tiers: [{plugins: [{name: binpack, arguments: {binpack.wieght: 1}}]}]\n"
    path = write(tmp_path, text)
    policy = PolicyFile(path)
    assert caplog.text.count("line 1: tiers[0].plugins[0].arguments.binpack.wieght") == 1
    path.write_text(f"\n{text}")
    assert not policy.look()
    assert caplog.text.count("line 2: tiers[0].plugins[0].arguments.binpack.wieght") == 1
