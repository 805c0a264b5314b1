"""Makes the page "rule, file, test, source" from the docstrings of the rooms that decide.

A rule file's docstring starts with one sentence (the rule) and has a line `Source     ...`. The page lists every module of
engine, jobs and bridge that has such a line, with its test file. Usage: rules.py [--write FILE | --check FILE]
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("engine", "jobs", "bridge", "controllers", "registry", "kubelet", "store")
SOURCE = re.compile(r"^Source\s+(.*(?:\n {6,}.*)*)", re.MULTILINE)


def rule_of(path: Path) -> tuple[str, str] | None:
    """(first sentence, source) of a rule file; None for a module that holds no rule."""
    doc = ast.get_docstring(ast.parse(path.read_text()))
    if not doc or not (found := SOURCE.search(doc)):
        return None
    sentence = " ".join(doc.split("\n\n")[0].split())
    return sentence, " ".join(found.group(1).split())


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# Rule, file, test, source",
        "",
        "Made from the docstrings by `make docs`; a test checks that it is current.",
        "",
    ]
    for room in ROOMS:
        rows = []
        for path in sorted((ROOT / "src" / "kumi" / room).rglob("[!_]*.py")):
            rule = rule_of(path)
            if rule is None:
                continue
            place = path.relative_to(ROOT / "src" / "kumi")
            test = Path("tests") / place.parent / f"test_{place.name}"
            tested = f"`{test}`" if (ROOT / test).exists() else "nouns alone"
            cells = (rule[0], f"`{place}`", tested, rule[1])
            rows.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")
        if rows:
            lines += [f"## {room}", "", "| rule | file | test | source |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


def main() -> int:
    """Writes the page, or compares it with what is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--check", type=Path)
    arguments = parser.parse_args()
    text = page()
    if arguments.write:
        arguments.write.write_text(text)
    elif arguments.check:
        return 0 if arguments.check.read_text() == text else 1
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
