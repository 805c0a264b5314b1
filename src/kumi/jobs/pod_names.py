"""Names of pods that are made in numbers: `<stem><5 letters>`.

The letters come from a digest of (owner's uid, what the pod is for, n) with the smallest n whose name nobody has. So a
creation that is repeated because the view did not show its pod yet finds the name taken and makes no second pod.
Source     Kubernetes: object names (the letters are those of generated names).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from itertools import count

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_STEM = 58
"""a generated name has at most 63 letters, 5 of them its own"""


def pod_name(uid: str, stem: str, taken: Collection[str], purpose: str = "") -> str:
    """The next name of an owner's pods that is not `taken`."""
    for number in count():
        name = stem[:_STEM] + letters(f"{uid}/{purpose}/{number}", 5)
        if name not in taken:
            return name
    raise AssertionError("count never ends")


def letters(text: str, length: int) -> str:
    """A digest as letters that spell no word."""
    digest = hashlib.sha256(text.encode()).digest()
    return "".join(LETTERS[byte % len(LETTERS)] for byte in digest[:length])
