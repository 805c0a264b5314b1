"""A file of tokens that the operator keeps: one line a user, as `kumi up --token-file` reads it at its start.

    token,user,uid[,"group1,group2"]
Empty lines don't count. A token that is there twice is an error: nobody can mean that.
Source     Kubernetes: authenticating, static token file.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path

from kumi.api.errors import KumiError
from kumi.apiserver.authentication import AUDIENCE, Known, User, known


class TokenFile:
    """See the module; a TokenSource. Tokens are kept as their digests. KumiError: the file can't be read."""

    def __init__(self, path: Path) -> None:
        self._user_by_digest: dict[bytes, User] = {}
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise KumiError(f"the token file {path} can't be read: {error}") from error
        for number, row in enumerate(csv.reader(lines, skipinitialspace=True), 1):
            if not row:
                continue
            token, user = _parsed(row, f"{path}, line {number}")
            if _digest(token) in self._user_by_digest:
                raise KumiError(f"{path}, line {number}: this token is there twice")
            self._user_by_digest[_digest(token)] = user

    def knows(self, token: str, audiences: Sequence[str]) -> Known | None:
        """See TokenSource; compared in constant time."""
        given = _digest(token)
        found = [user for digest, user in self._user_by_digest.items() if hmac.compare_digest(digest, given)]
        return Known(found[0], (AUDIENCE,)) if found and AUDIENCE in audiences else None


def _parsed(row: list[str], where: str) -> tuple[str, User]:
    token, name, uid, *rest = (*row, "", "", "")[: max(len(row), 3)]
    if not token or not name or len(row) < 3 or len(rest) > 1:
        raise KumiError(f'{where}: expected token,user,uid or token,user,uid,"group1,group2"')
    groups = [group.strip() for group in rest[0].split(",") if group.strip()] if rest else []
    return token, known(name, groups, uid)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
