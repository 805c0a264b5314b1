from __future__ import annotations

from kumi.bridge.sentences import CONDITION_REASONS, SENTENCES
from kumi.engine.reasons import Code


def test_every_code_has_a_sentence_and_a_word_and_no_other_has() -> None:
    assert set(SENTENCES) == set(CONDITION_REASONS) == set(Code)
