"""The report: policies side by side in one HTML file that needs nothing else, no network either.

    page(results, title)   the file's bytes; title(results): who is shown against whom

What is in it  the summary, side by side; over time: allocation, queue, running jobs, fragmentation, shares, fairness, who waits;
               how waiting and completion times are spread; who ran where (gantt.py); figures of tenants and queues; jobs that
               never ran to their end, and why; what each figure means. Behind every chart is the table of its figures.
Made of        page.html, in which style, scripts and the data (JSON, thinned: data.py) are put; uplot.js draws lines (its licence
               is in the page). The page forbids itself every connection (Content-Security-Policy).
Limits         charts have the first RUNS runs with the first seed; the tables of the summary have all.
Bytes          equal results give equal bytes, but for what `run_s` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files

import orjson

from kumi.evaluator.report.data import page_data
from kumi.evaluator.result import Result

SCRIPTS = ("words.js", "tables.js", "charts.js", "gantt.js", "page.js")


def page(results: Sequence[Result], title: str) -> bytes:
    """The report of these runs. `title`: what was played."""
    text = _part("page.html")
    data = orjson.dumps(page_data(results)).decode()
    library = f"/*\n{_part('uplot.LICENSE').strip()}\n*/\n{_without_head(_part('uplot.js'))}"
    parts = {
        "title": escape(title),
        "style": _part("uplot.css") + _part("page.css"),
        "library": library,
        "script": "\n".join(_part(name) for name in SCRIPTS),
        # in a script element, only its end tag and comments mean anything to the browser
        "data": data.replace("<", "\\u003c"),
    }
    head, *rest = text.split("{{")
    made = [head]
    for piece in rest:
        name, _, tail = piece.partition("}}")
        made += (parts[name], tail)
    return "".join(made).encode()


def title(results: Sequence[Result]) -> str:
    """The policies, each once."""
    return " against ".join(dict.fromkeys(one.label for one in results))


def _part(name: str) -> str:
    return files("kumi.evaluator.report").joinpath(name).read_text()


def _without_head(script: str) -> str:
    """Without its first comment, which has an address in it."""
    return script[script.index("*/") + 2 :].lstrip() if script.startswith("/*") else script
