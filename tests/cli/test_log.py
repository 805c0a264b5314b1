"""Logging for people."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(("verbose", "shown"), [(True, True), (False, False)])
def test_verbose_shows_what_is_usual(verbose: bool, shown: bool) -> None:
    code = (
        f"import logging; from kumi.cli.log import set_up; set_up({verbose}); logging.getLogger('kumi.x').info('said')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ("I kumi.x: said" in done.stderr) is shown
