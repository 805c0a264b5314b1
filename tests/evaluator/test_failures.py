"""Who is said to have broken a run."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from kumi.api.errors import InvariantError, KumiError
from kumi.evaluator.failures import NAMED_AT_MOST, SomeFailed, broken, file_of
from kumi.runtime.plugin_files import others
from tests.evaluator import tiny

PLUGIN = tiny.plug_in('return {}["boom"]')


def failed(plugin: object = None, why: Exception | None = None) -> Exception:
    """What somebody raised, on its way through the plug-in where there is one."""
    try:
        if plugin is not None:
            plugin.configured(None).open(None)  # type: ignore[attr-defined]
        raise why or ZeroDivisionError("none is left")
    except Exception as error:
        return error


def test_a_plug_in_is_named_with_the_file_and_the_line(tmp_path: Path) -> None:
    file = tmp_path / "order.py"
    file.write_text(PLUGIN)
    (found,) = [one for one in others([file]) if one.name == "order"]
    told = str(broken(failed(found.made), "mine seed 0", 3_600_000, {"order": found.made}))
    assert told == f"mine seed 0: at 01:00:00 the plug-in order failed ({file}, line 11): KeyError: 'boom'"
    assert file_of(found.made) == str(file)


@pytest.mark.parametrize("plugins", [{}, {"order": object}])
def test_else_it_is_a_mistake_of_kumis_or_of_what_is_in_its_way(plugins: dict[str, object]) -> None:
    told = str(broken(failed(), "fifo seed 0", 0, plugins))
    assert told.startswith("fifo seed 0: at 00:00:00 the run failed (tests/evaluator/test_failures.py, line ")
    assert "by a mistake of Kumi's" in told
    assert ("or of its plug-ins (order)" in told) is bool(plugins)
    assert told.endswith(": ZeroDivisionError: none is left")


def test_a_broken_law_is_told_in_its_own_words() -> None:
    assert str(broken(failed(why=InvariantError("time went back")), "fifo", 0, {})).endswith("Kumi's: time went back")


def test_only_so_many_runs_are_told_and_each_once() -> None:
    many = SomeFailed([f"run {n % 9}" for n in range(18)], [None])
    assert isinstance(many, KumiError)
    assert str(many).splitlines() == [
        *(f"run {n}" for n in range(NAMED_AT_MOST)),
        f"and {9 - NAMED_AT_MOST} more runs failed",
    ]
    assert many.played == [None]
    assert str(SomeFailed(["it broke"], [])) == "it broke"


def test_one_from_another_process_is_the_same() -> None:
    error = broken(failed(), "fifo seed 0", 0, {})
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
