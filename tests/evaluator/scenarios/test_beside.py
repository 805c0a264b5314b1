"""Imports from a file's own folder leave nothing behind."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from kumi.evaluator.scenarios.beside import Beside


def test_what_is_imported_in_a_block_is_there_in_the_next_one_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "mine_alone.py").write_text("VALUE = []\n")
    beside = Beside(tmp_path / "gen.py")
    with beside:
        first = importlib.import_module("mine_alone")
    assert "mine_alone" not in sys.modules
    assert str(tmp_path) not in sys.path
    with beside:
        assert importlib.import_module("mine_alone") is first
    assert beside.files == (tmp_path / "mine_alone.py",)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("mine_alone")


def test_what_was_there_before_stays_and_so_does_what_comes_from_elsewhere(tmp_path: Path) -> None:
    folder = Path(__file__).parent  # of this package, which is imported already
    beside = Beside(folder / "gen.py")
    with beside:
        importlib.import_module("colorsys")
        importlib.import_module("tests.evaluator.scenarios.told")
    assert {"colorsys", "tests.evaluator.scenarios.told", __name__} <= set(sys.modules)
    assert beside.files == ()


def test_a_block_that_fails_leaves_nothing_behind_either(tmp_path: Path) -> None:
    (tmp_path / "half_done.py").write_text("import json\nraise ValueError('no')\n")
    with pytest.raises(ValueError, match="no"), Beside(tmp_path / "gen.py"):
        importlib.import_module("half_done")
    assert "half_done" not in sys.modules
    assert str(tmp_path) not in sys.path
