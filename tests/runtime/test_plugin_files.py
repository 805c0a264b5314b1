"""Plug-ins that aren't Kumi's own: found by name, or told what is wrong with them."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.runtime import plugin_files
from kumi.runtime.plugin_files import BUILT_IN, GROUP, built_in, others

GOOD = """
from __future__ import annotations
from dataclasses import dataclass
from kumi.engine.placement.hooks import Fit


@dataclass(frozen=True)
class Mine:
    size: int = 3

    @classmethod
    def configured(cls, option):
        return cls()

    def open(self, session):
        return self
"""


def file(tmp_path: Path, text: str, name: str = "mine.py") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def installed(monkeypatch: pytest.MonkeyPatch, *entries: tuple[str, str]) -> None:
    found = [EntryPoint(name, value, GROUP) for name, value in entries]
    monkeypatch.setattr(plugin_files, "entry_points", lambda group: found if group == GROUP else [])


def test_kumis_own_are_those_of_the_registry() -> None:
    assert {one.name: one.made for one in built_in()} == PLUGINS
    assert {one.source for one in built_in()} == {BUILT_IN}


def test_a_file_is_a_plug_in_of_its_name(tmp_path: Path) -> None:
    (found,) = others([file(tmp_path, GOOD)])
    assert (found.name, found.source) == ("mine", str(tmp_path / "mine.py"))
    assert found.made.configured(None).size == 3  # type: ignore[arg-type,attr-defined]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1", "has 0"),
        (GOOD + GOOD.replace("class Mine", "class Yours").replace("from __future__ import annotations", ""), "has 2"),
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("def (", "SyntaxError"),
    ],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(KumiError, match=told):
        others([file(tmp_path, text)])


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(KumiError, match="FileNotFoundError"):
        others([tmp_path / "none.py"])


def test_what_is_installed_is_found_by_the_name_of_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ("theirs", "kumi.engine.placement.plugins.gang:Gang"))
    (found,) = others()
    assert found.name == "theirs"
    assert found.made is PLUGINS["gang"]


@pytest.mark.parametrize("value", ["kumi.engine.placement.plugins.gang:Nobody", "kumi.engine.placement.heap:Heap"])
def test_what_is_installed_and_is_none_is_told(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    installed(monkeypatch, ("theirs", value))
    with pytest.raises(KumiError, match="plug-in theirs"):
        others()


def test_a_name_is_given_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KumiError, match="kumi has one of that name"):
        others([file(tmp_path, GOOD, "gang.py")])
    installed(monkeypatch, ("mine", "kumi.engine.placement.plugins.gang:Gang"))
    with pytest.raises(KumiError, match="has one of that name"):
        others([file(tmp_path, GOOD)])
