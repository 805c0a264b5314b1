from __future__ import annotations

from kumi.engine.placement import consent
from kumi.engine.placement.agreeing import as_one, as_written, by_all, starting_anew
from kumi.engine.placement.customs import KUMI, VOLCANO, Customs
from kumi.engine.placement.roles import EACH, GANG_ONLY


def test_each_has_its_own() -> None:
    assert Customs(starting_anew, as_written, GANG_ONLY, consent.VOLCANO) == VOLCANO
    assert Customs(by_all, as_one, EACH, consent.KUMI) == KUMI
