"""The table of trace formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.evaluator import traces

DATA = Path(__file__).parent.parent / "data"


@pytest.mark.parametrize("name", traces.FORMATS)
def test_every_format_says_what_it_is_and_how_it_is_read(name: str) -> None:
    found = traces.known(name)
    assert found.about
    assert callable(found.read)
    assert all(words for words in found.options.values())


def test_a_trace_is_read_by_the_name_of_its_format_with_its_options() -> None:
    load = traces.read("swf", None, DATA / "small.swf", processors="pod")
    assert load.name == "small.swf"
    assert [job.job.pods for job in load.events()] == [1] * 5  # type: ignore[union-attr]


def test_what_is_not_there_is_named_with_what_there_is() -> None:
    with pytest.raises(KumiError, match=r"no trace format 'csv': it may be openb, swf, kumi"):
        traces.read("csv", None, DATA / "small.swf")
    with pytest.raises(KumiError, match=r"processors=cpu means nothing: it may be gang, pod"):
        traces.read("swf", None, DATA / "small.swf", processors="cpu")
    with pytest.raises(KumiError, match=r"the options of openb are runs_from \(creation or scheduled\)"):
        traces.read("openb", None, DATA / "openb_tasks.csv", speed="fast")
    with pytest.raises(KumiError, match="openb needs a file of nodes"):
        traces.read("openb", None, DATA / "openb_tasks.csv")
