"""Quantities and versions: compared, added, turned into numbers."""

from __future__ import annotations

import pytest

from tests.registry.custom.cel.run import run


@pytest.mark.parametrize(
    "text",
    [
        "quantity('1Gi').isGreaterThan(quantity('1Mi'))", "quantity('1024Mi') == quantity('1Gi')",
        "quantity('1').add(quantity('500m')) == quantity('1500m')", "quantity('2').sub(1).asInteger() == 1",
        "quantity('-1').sign() == -1", "!quantity('1m').isInteger()", "quantity('1m').asApproximateFloat() == 0.001",
        "quantity('1').compareTo(quantity('2')) == -1", "isQuantity('1Ki') && !isQuantity('x')",
        "semver('1.2.3').isLessThan(semver('1.10.0'))", "semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))",
        "semver('1.0.0-rc.2').isLessThan(semver('1.0.0-rc.10'))", "semver('1.2.3').minor() == 2",
        "isSemver('1.2.3') && !isSemver('v1.2')",
    ],
)  # fmt: skip
def test_what_holds(text: str) -> None:
    assert run(text) is True


@pytest.mark.parametrize(
    "text", ["quantity('x')", "quantity('1m').asInteger()", "semver('1')", "quantity('1').compareTo(semver('1.0.0'))"]
)
def test_what_fails(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        run(text)
