"""Python generators."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.evaluator.model import START_MS, Arrive
from kumi.evaluator.scenarios.document import Document, Part
from kumi.evaluator.scenarios.python import Generator, source
from kumi.evaluator.scenarios.steps import Moment, Step, Told
from tests.evaluator.scenarios.told import faults, written

DATA = Path(__file__).parent.parent / "data"
POD = "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'}}"


def moments(folder: Path, body: str, seed: int = 1) -> list[Moment]:
    path = written(folder, f"def events(seed):\n    {body}\n", "gen.py")
    return list(Generator(path, (), START_MS).moments(seed))


def test_each_event_comes_so_many_seconds_after_the_one_before(tmp_path: Path) -> None:
    body = f"for n in range(3): yield 'create', {POD}, 0.5"
    assert [m.at_ms - START_MS for m in moments(tmp_path, body)] == [500, 1000, 1500]


def test_an_object_may_be_yaml_of_several(tmp_path: Path) -> None:
    text = (
        "'''apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: b}\n'''"
    )
    found = moments(tmp_path, f"yield 'create', {text}, 1")
    assert [m.object["metadata"]["name"] for m in found if isinstance(m, Step)] == ["a", "b"]


def test_a_job_comes_as_it_is_at_its_time(tmp_path: Path) -> None:
    body = (
        "from kumi.evaluator.model import Job, Role; from kumi.engine.model import PodShape\n"
        "    yield 'create', Job('ns/j', 0, (Role('main', 1, PodShape(())),), 5, deadline_ms=7), 2"
    )
    (found,) = moments(tmp_path, body)
    assert isinstance(found, Told)
    assert isinstance(found.event, Arrive)
    job = found.event.job
    assert (job.arrives_ms, job.deadline_ms) == (START_MS + 2000, START_MS + 2007)


def test_the_seed_and_arguments_are_its_own() -> None:
    one = Generator(DATA / "generator.py", (("cpus", 5),), START_MS)
    first = next(one.moments(1))
    assert isinstance(first, Step)
    assert first.object["status"]["allocatable"]["cpu"] == "5"
    times = [[m.at_ms for m in one.moments(seed)] for seed in (1, 1, 2)]
    assert times[0] == times[1] != times[2]
    with pytest.raises(KumiError, match=r"events\(seed, ...\) can't be called so: got an unexpected"):
        Generator(DATA / "generator.py", (("gpus", 5),), START_MS)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("yield 1", r"gen.py, event 1: must be \(verb, object, seconds after\), not 1"),
        (f"yield 'make', {POD}, 0", "event 1: 'make' is no verb; it may be create, update, delete"),
        (f"yield 'create', {POD}, -1", "event 1: -1 are no seconds"),
        (f"yield 'create', {POD}, True", "event 1: True are no seconds"),
        (f"yield 'create', {POD}, 0; yield 'create', 7, 0", "event 2: int is no object"),
        ("yield 'create', 'a: 1', 0", "event 1: document 1: apiVersion and kind are missing"),
        ("yield 1 / 0", "event 1: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3); yield", "event 1: SystemExit: 3"),
        (
            "from kumi.evaluator.model import Job; yield 'delete', Job('a/b', 0, (), 1), 0",
            "event 1: a Job can only be created",
        ),
    ],
)
def test_what_is_no_event_is_told_with_its_number(tmp_path: Path, body: str, says: str) -> None:
    with pytest.raises(KumiError, match=says):
        moments(tmp_path, body)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n", "has no function events"),
        ("1 / 0\n", "can't be run: ZeroDivisionError"),
        ("raise SystemExit\n", "can't be run: SystemExit"),
        ("def (\n", "can't be run: SyntaxError"),
    ],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(KumiError, match=says):
        Generator(written(tmp_path, text, "gen.py"), (), START_MS)


def test_a_part_names_a_file_beside_the_scenario() -> None:
    document = Document(DATA / "s.yaml", b"")
    one = Part(document, {"file": "generator.py", "arguments": {"cpus": 3}}, "python")
    assert len(source(one, START_MS)) == len(source(Part(document, "generator.py"), START_MS)) == 1
    assert faults(one) == []
    wrong = Part(document, "none.py", "python")
    assert source(wrong, START_MS) == []
    assert "can't be read: No such file" in faults(wrong)[0]


@pytest.mark.parametrize("body", ["return 5", "raise ValueError('no')"])
def test_a_function_that_yields_nothing_is_told(tmp_path: Path, body: str) -> None:
    with pytest.raises(KumiError, match=r"gen.py: events must yield .verb, object, seconds after.: "):
        moments(tmp_path, body)


def test_modules_that_stand_beside_it_can_be_imported_at_any_time_and_each_folder_has_its_own(tmp_path: Path) -> None:
    before = dict(sys.modules), list(sys.path)
    gens = []
    for folder, name in (("one", "a"), ("two", "b")):
        (tmp_path / folder / "parts").mkdir(parents=True)
        (tmp_path / folder / "shapes.py").write_text("POD = " + POD.replace("'p'", repr(name)))
        (tmp_path / folder / "parts" / "__init__.py").write_text("from shapes import POD as FIRST\n")
        path = tmp_path / folder / "gen.py"
        path.write_text(
            "import shapes\n\ndef events(seed):\n"
            "    yield 'create', shapes.POD, 0\n    import parts\n    yield 'create', parts.FIRST, 0\n"
        )
        gens.append(Generator(path, (), START_MS))
    both = zip(*(each.moments(0) for each in gens), strict=True)
    names = [[m.object["metadata"]["name"] for m in together if isinstance(m, Step)] for together in both]
    assert names == [["a", "b"], ["a", "b"]]
    assert [each.files for each in gens] == [(tmp_path / folder / "shapes.py",) for folder in ("one", "two")]
    assert (dict(sys.modules), list(sys.path)) == before


def test_a_module_beside_it_that_changes_is_read_again_and_counts_as_a_file_of_the_scenario(tmp_path: Path) -> None:
    path = written(
        tmp_path, "import shapes\n\ndef events(seed):\n    yield 'create', shapes.POD, shapes.AFTER\n", "gen.py"
    )
    for after in (1, 20):
        (tmp_path / "shapes.py").write_text(f"POD = {POD}\nAFTER = {after}\n")
        (found,) = Generator(path, (), START_MS).moments(0)
        assert found.at_ms == START_MS + after * 1000
    part = Part(Document(tmp_path / "s.yaml", b""), "gen.py", "here")
    assert len(source(part, START_MS)) == 1
    assert list(part.document.files) == [path, tmp_path / "shapes.py"]


def test_a_module_beside_it_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, "import nowhere_at_all\n", "gen.py")
    with pytest.raises(KumiError, match="can't be run: ModuleNotFoundError: No module named 'nowhere_at_all'"):
        Generator(path, (), START_MS)
