"""`kumi plugins`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kumi.api.errors import KumiError
from kumi.cli.plugins import command, described
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.runtime.plugin_files import Found


def test_every_plug_in_is_listed_with_what_it_has_a_say_in_and_what_it_is_about() -> None:
    done = CliRunner().invoke(command, ["-o", "json"], catch_exceptions=False)
    listed = {one["name"]: one for one in json.loads(done.stdout)}
    assert list(listed) == sorted(PLUGINS)
    assert all(one["hooks"] and one["about"] and one["source"] == "kumi" for one in listed.values())
    assert "job_ready" in listed["gang"]["hooks"]
    assert listed["overcommit"]["arguments"] == {"factor": 1.2}


def test_the_table_has_a_line_each() -> None:
    lines = CliRunner().invoke(command, [], catch_exceptions=False).stdout.strip().splitlines()
    assert lines[0].split()[0] == "PLUGIN"
    assert [line.split()[0] for line in lines[1:]] == sorted(PLUGINS)


def test_a_plug_in_that_can_not_be_opened_is_told(tmp_path: Path) -> None:
    class Broken:
        @classmethod
        def configured(cls, option: object) -> Broken:
            raise ValueError("no")

    with pytest.raises(KumiError, match="plug-in b of x can't be opened: no"):
        described(Found("b", Broken, "x"))
