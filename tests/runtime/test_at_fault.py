"""Whose error it was: of code that raises in a plug-in, in a library that it called, in a package, in Kumi."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest

from kumi.api.quantity import parse
from kumi.runtime.at_fault import MODULE, at_fault


def of(name: str, text: str) -> dict[str, Any]:
    """A module of that name."""
    module = types.ModuleType(name)
    exec(text, module.__dict__)
    return module.__dict__


def blamed(work: Callable[[], object]) -> str:
    with pytest.raises(Exception) as caught:
        work()
    frames = caught.value.__traceback__
    assert frames is not None
    caught.value.__traceback__ = frames.tb_next  # without the test itself
    return at_fault(caught.value)


def test_one_of_a_file_is_known_by_its_name_also_where_a_library_raises_for_it() -> None:
    plugin = of(f"{MODULE}mine", "import json\ndef bad(): 1 / 0\ndef worse(): json.loads('')")
    assert blamed(plugin["bad"]) == blamed(plugin["worse"]) == "plug-in mine"


def test_one_of_a_package_is_known_by_the_package() -> None:
    assert blamed(of("cheap.nodes", "def bad(): raise KeyError('x')")["bad"]) == "package cheap"


def test_what_kumi_raises_is_kumis_also_where_a_plug_in_gave_it_what_was_wrong() -> None:
    assert blamed(lambda: parse("x", "cpu")) == ""
    assert at_fault(ValueError("never raised")) == ""
