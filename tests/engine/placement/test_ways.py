from __future__ import annotations

import pytest

from kumi.engine.placement import customs, ways
from kumi.engine.placement.actions import ACTIONS, LEAST


@pytest.mark.parametrize("profile", ["kumi", "kueue"])
def test_nobody_goes_in_vain_but_where_volcano_is_to_be_reproduced(profile: str) -> None:
    assert ways.of(profile) == ways.Ways(LEAST, customs.KUMI)
    assert ways.of("volcano") == ways.Ways(ACTIONS, customs.VOLCANO)
