"""Manifests from files, folders and standard input."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import click
import pytest

from kumi.api.yaml import load_objects
from kumi.cli.apply import read


def test_a_folder_gives_its_manifests_in_order(tmp_path: Path) -> None:
    for name, kind in (("b.yml", "B"), ("a.yaml", "A"), ("c.json", "C"), ("d.txt", "D")):
        (tmp_path / name).write_text(f'{{"apiVersion": "v1", "kind": "{kind}"}}')
    assert [o["kind"] for o in load_objects(read(str(tmp_path)))] == ["A", "B", "C"]


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("text"))
    assert read("-") == "text"


def test_a_missing_file_is_named() -> None:
    with pytest.raises(click.ClickException, match=r"nowhere\.yaml"):
        read("nowhere.yaml")
