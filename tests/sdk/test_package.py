"""The client's names are there, and cost nothing until they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kumi.sdk


def test_every_public_name_is_there() -> None:
    assert all(getattr(kumi.sdk, name) for name in kumi.sdk.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = kumi.sdk.nothing  # type: ignore[attr-defined]


def test_importing_the_package_does_not_import_http() -> None:
    code = "import sys, kumi.sdk.places; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
