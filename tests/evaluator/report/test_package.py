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
        assert await shown.run("document.querySelectorAll('.uplot canvas').length") == 10
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
        assert len(rows) == 11
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


def no_job(policy: str = "fifo") -> Result:
    """A run to which no job came."""
    told = Told()
    told.node("n1")
    return told.result(0.001, policy)


def one_job() -> Result:
    """A run of one job of one tenant."""
    told = Told()
    told.node("n1")
    job = told.job("only", 0)
    told.start(job, 0, "n1")
    told.end(job, 10)
    return told.result(10)


@pytest.mark.needs("chromium")
@pytest.mark.process
@pytest.mark.parametrize(
    "results",
    [[no_job()], [no_job(), small("easy")], [small(), no_job("easy")], [one_job()]],
    ids=["no job", "no job in the first", "no job in the second", "one job"],
)
async def test_runs_of_few_jobs_or_none_are_shown_to_the_last_section(
    port: int, tmp_path: Path, results: list[Result]
) -> None:
    path = tmp_path / "few.html"
    path.write_bytes(page(results, "Few"))
    async with opened(port) as shown:
        await shown.show(path, width=1280)
        await shown.run(
            "document.querySelectorAll('#tenants select').forEach(e => { e.selectedIndex = 1; "
            "e.dispatchEvent(new Event('change')); })"
        )
        await shown.run("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        assert shown.errors == []
        last = "[...document.querySelectorAll('main section')].at(-1).id"
        assert await shown.run(last) == "meaning"
        assert await shown.run("document.getElementById('window').textContent")


@pytest.mark.needs("chromium")
@pytest.mark.process
async def test_tenants_and_queues_have_slowdown_tardiness_and_utilization(port: int, tmp_path: Path) -> None:
    path = tmp_path / "small.html"
    path.write_bytes(page([small()], "Small"))
    async with opened(port) as shown:
        await shown.show(path, width=1280)
        for table, row, want in (("tenants", "red", "5 s"), ("queues", "gold", "10 s")):
            cells = f"[...document.querySelector('[aria-label=\"Figures by {table}\"] table').rows]"
            heads = await shown.run(f"[...{cells}[0].cells].map(c => c.textContent)")
            found = await shown.run(
                f"[...{cells}.find(r => r.cells[0].textContent === '{row}').cells].map(c => c.textContent)"
            )
            assert {"Mean queue", "Bounded slowdown, mean", "GPU utilization", "Makespan"} <= set(heads)
            assert found[heads.index("Tardiness, mean")] == want
        assert shown.errors == []
