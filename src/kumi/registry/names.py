"""Generated names: `generateName` and five characters, none of which reads like another or makes a word.

They are drawn from a fresh UID, so that the registry has one source of chance. The start is cut so that the whole stays a
DNS label.
Source     Kubernetes: names, generateName.
"""

from __future__ import annotations

import hashlib

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX = 5
LONGEST = 63


def generated(start: str, uid: str) -> str:
    """A name that starts with `start`, drawn from `uid`."""
    number = int.from_bytes(hashlib.blake2b(uid.encode(), digest_size=8).digest(), "big")
    characters = []
    for _ in range(SUFFIX):
        number, digit = divmod(number, len(ALPHABET))
        characters.append(ALPHABET[digit])
    return start[: LONGEST - SUFFIX] + "".join(characters)
