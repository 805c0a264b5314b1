"""The documents are current: what is made is made anew, what is named is there."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import rules  # noqa: E402

from kumi.api.scheme import SCHEME, load  # noqa: E402
from kumi.cli.main import COMMANDS  # noqa: E402
from kumi.controllers.scheduler import Scheduler  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_page_of_rules_is_current() -> None:
    assert (ROOT / "docs" / "rules.md").read_text() == rules.page(), "run make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_a_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_a_file_that_a_page_names_is_there(page: Path) -> None:
    for name in re.findall(r"`((?:tests|docs|bench|tools|examples|src)/[\w./-]+\.\w+)`", page.read_text()):
        assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_a_command_that_a_page_shows_exists() -> None:
    for page in PAGES:
        for command in re.findall(r"(?:`|^ +|/)kumi ([a-z][a-z-]*)", page.read_text(), re.MULTILINE):
            assert command in COMMANDS, f"{page.name}: kumi {command}"


def test_the_rights_that_the_scheduler_needs_are_named() -> None:
    load()
    needed: dict[str, list[str]] = {}
    for kind in map(SCHEME.of, Scheduler().watches):
        needed.setdefault(kind.group or "core", []).append(kind.plural)
    rights = (ROOT / "docs" / "volcano.md").read_text().partition("## Rights\n")[2].partition("\n## ")[0]
    told = re.findall(r"^\| `?([\w.-]+)`? \| (`\w+`(?:, `\w+`)*) \|$", rights, re.MULTILINE)
    assert {group: re.findall(r"\w+", names) for group, names in told} == {g: sorted(needed[g]) for g in needed}


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / "docs" / "dependencies.md").read_text()
    for requirement in project["dependencies"]:
        name = re.match(r"[A-Za-z0-9_-]+", requirement)
        assert name is not None
        assert name[0].lower() in text.lower(), f"docs/dependencies.md says nothing of {name[0]}"


def test_every_target_that_make_promises_is_there() -> None:
    text = (ROOT / "Makefile").read_text()
    for target in ("setup", "demo", "demo-torch", "test", "lint", "bench", "docs", "mutants"):
        assert re.search(rf"^{target}:", text, re.MULTILINE), target
