"""The page stands alone: no address in it, strangers' names are text, and a real browser shows all of it without complaint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kumi.evaluator.report import page
from kumi.evaluator.result import Result
from tests.evaluator.report.browser import opened, running
from tests.evaluator.told import Told, small

SIZES = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


def crowded(policy: str) -> Result:
    """A run of 300 jobs of many tenants on 40 nodes, some of them gangs."""
    told = Told()
    for number in range(40):
        told.node(f"a-node-with-a-long-name-{number:03d}", gpus=20, model=("A100", "T4")[number % 2])
    for number in range(300):
        job = told.job(f"job-{number}", number, pods=1 + number % 4, runs=400, tenant=f"tenant {number % 15}", due=900)
        told.start(
            job, number + number % 7, *(f"a-node-with-a-long-name-{(number + n) % 40:03d}" for n in range(job.pods))
        )
        told.end(job, number + 500)
    told.job("never", 700, gpus=64)
    return told.result(800, policy, never="no node has so many GPUs")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with running(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_bytes(page([crowded("fifo"), crowded("a policy with quite a long name"), small("spread")], "A load"))
    return path


def test_there_is_no_address_in_it() -> None:
    text = page([small()], "A load").decode()
    assert not re.search(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", text, re.IGNORECASE)
    assert not re.search(r"<(?:link|img|iframe|script)[^>]*\b(?:src|href)=", text)
    assert "default-src 'none'" in text


def test_names_of_strangers_are_text() -> None:
    text = page([small("</script><script>alert(1)</script>")], "<img src=x onerror=alert(2)>").decode()
    assert "<img" not in text
    assert text.count("</script>") == 3
    assert "&lt;img" in text


def test_the_library_comes_with_its_licence() -> None:
    text = page([small()], "A load").decode()
    assert "The MIT License" in text
    assert "Leon Sorokin" in text


def test_equal_results_give_equal_bytes() -> None:
    assert page([small(), small("drf")], "A load") == page([small(), small("drf")], "A load")


@pytest.mark.needs("chromium")
@pytest.mark.process
@pytest.mark.parametrize(("width", "scheme"), SIZES)
async def test_a_browser_shows_it_without_complaint_and_without_asking_for_anything(
    port: int, report: Path, width: int, scheme: str
) -> None:
    async with opened(port) as shown:
        await shown.show(report, width=width, scheme=scheme)
        assert shown.errors == []
        assert shown.asked == [report.as_uri()]
        assert await shown.run("document.documentElement.scrollWidth") == width
        assert await shown.run("document.documentElement.dataset.theme") == scheme
        assert await shown.run("document.querySelectorAll('.uplot canvas').length") == 8
        assert await shown.run("document.querySelectorAll('main section').length") == 7


@pytest.mark.needs("chromium")
@pytest.mark.process
async def test_every_chart_has_a_name_and_a_table_of_its_figures(port: int, report: Path) -> None:
    async with opened(port) as shown:
        await shown.show(report, width=1280)
        assert await shown.run(
            "[...document.querySelectorAll('.plot, canvas[role]')].every(e => e.role === 'img' && e.ariaLabel)"
        )
        await shown.run(
            "document.querySelectorAll('details').forEach(e => { e.open = true; }); new Promise(done => setTimeout(done, 50))"
        )
        rows = await shown.run(
            "[...document.querySelectorAll('details')].map(e => e.querySelectorAll('tbody tr').length)"
        )
        assert len(rows) == 9
        assert all(rows)
        assert shown.errors == []


@pytest.mark.needs("chromium")
@pytest.mark.process
async def test_all_charts_follow_one_window_of_time(port: int, report: Path) -> None:
    async with opened(port) as shown:
        await shown.show(report, width=1280)
        whole = await shown.run("document.getElementById('window').textContent")
        await shown.run("document.querySelector('[data-time=in]').click()")
        assert await shown.run("document.getElementById('window').textContent") != whole
        canvas = "document.querySelector('.gantt canvas')"
        await shown.run(f"{canvas}.dispatchEvent(new KeyboardEvent('keydown', {{key: '0'}}))")
        assert await shown.run("document.getElementById('window').textContent") == whole


@pytest.mark.needs("chromium")
@pytest.mark.process
async def test_a_policy_can_be_hidden_from_the_charts(port: int, report: Path) -> None:
    async with opened(port) as shown:
        await shown.show(report, width=1280)
        await shown.run("document.querySelector('.chip').click()")
        assert await shown.run("document.querySelector('.chip').getAttribute('aria-pressed')") == "false"
        assert await shown.run("document.querySelectorAll('.u-legend .u-off').length") > 0
        assert shown.errors == []


@pytest.mark.needs("chromium")
@pytest.mark.process
async def test_the_summary_marks_the_best_of_a_row(port: int, report: Path) -> None:
    async with opened(port) as shown:
        await shown.show(report, width=1280)
        row = "[...document.querySelectorAll('#summary tbody tr')].find(r => r.cells[0].textContent === 'Preemptions')"
        assert await shown.run(f"[...{row}.cells].map(c => c.className)") == ["", "best", "best", ""]


@pytest.mark.needs("chromium")
@pytest.mark.process
async def test_a_page_without_runs_says_so(port: int, tmp_path: Path) -> None:
    empty = tmp_path / "empty.html"
    empty.write_bytes(page([], "Nothing"))
    async with opened(port) as shown:
        await shown.show(empty, width=1280)
        assert shown.errors == []
        assert "No run was played" in await shown.run("document.body.innerText")
