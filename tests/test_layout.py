"""The house keeps its shape: tests mirror the code, files stay small, every module says what it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "kumi"
MODULES = sorted(p.relative_to(SOURCE) for p in SOURCE.rglob("*.py") if p.stat().st_size)
LINES_AT_MOST = 600


def says_something(module: Path) -> bool:
    """Whether a module has code to test: a function with a body, not just nouns and signatures."""
    tree = ast.parse((SOURCE / module).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = [n for n in node.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
            if body:
                return True
    return False


TESTED_BY_USE = ("testing",)
TESTS_OF_A_ROOM = ("test_package.py", "test_stories.py")
"""what no single module answers for: a package, and what a whole room comes to, told from beginning to end"""


@pytest.mark.parametrize(
    "module", [m for m in MODULES if m.parts[0] not in TESTED_BY_USE and says_something(m)], ids=str
)
def test_a_module_with_code_has_a_test_file_at_the_same_place(module: Path) -> None:
    name = "test_package.py" if module.name == "__init__.py" else f"test_{module.name}"
    here = ROOT / "tests" / module.parent / name
    assert here.exists(), f"tests/{module.parent}/{name} is missing"


def test_a_test_file_has_a_module_at_the_same_place() -> None:
    rooms = {p.name for p in SOURCE.iterdir() if p.is_dir()}
    strays = []
    for test in (ROOT / "tests").rglob("test_*.py"):
        place = test.relative_to(ROOT / "tests")
        if place.parts[0] not in rooms:
            continue
        module = SOURCE / place.parent / place.name.removeprefix("test_")
        if place.name not in TESTS_OF_A_ROOM and not module.exists():
            strays.append(str(place))
    assert strays == []


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_says_what_it_is_and_stays_small(module: Path) -> None:
    text = (SOURCE / module).read_text()
    assert ast.get_docstring(ast.parse(text)), f"{module} has no docstring"
    assert text.count("\n") <= LINES_AT_MOST, f"{module} wants to be two"
