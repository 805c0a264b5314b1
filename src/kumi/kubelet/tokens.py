"""Tokens of a pod's service account: asked for when the pod is prepared, renewed before they end.

The rule   a token is due when DUE of its life is over, or after DAY_MS of it; a taken over pod's are due at once, since
           nobody knows when they were made. All tokens of a pod are renewed together, when the first is due.
Files      each is swapped as a whole (volumes.py): who opens it finds the old token or the new one.
Trouble    tried again, RETRY_MS after the first failure, ever later up to RETRY_MOST_MS; the old token stays meanwhile.
Ends       with the pod.
Source     Kubernetes: service account token volume projection (the kubelet requests a new one at 80 % of its life, or
           after 24 hours).
Not here   what makes tokens: registry.subresources.token.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from kumi.api.errors import KumiError
from kumi.api.meta import parse_time
from kumi.api.wire import JsonObject
from kumi.kubelet import volumes
from kumi.runtime.client import Client
from kumi.runtime.clock import Clock

LOG = logging.getLogger(__name__)
DUE = 0.8
DAY_MS = 24 * 3600 * 1000
RETRY_MS, RETRY_MOST_MS = 1_000, 60_000
_LOOK_MS = 60_000
"""the longest sleep: a machine that was suspended has lost time meanwhile"""

Asked: TypeAlias = tuple[str, int]
"""(audience, "" for the API's; seconds)"""


class Token(NamedTuple):
    """Its text, and when it is to be renewed."""

    text: str
    due_ms: int


async def ask(client: Client, pod: JsonObject, asked: Sequence[Asked], now_ms: int) -> dict[Asked, Token]:
    """A token of the pod's service account, bound to the pod, for each that is asked for. ApiError 404: no account."""
    metadata, found = pod["metadata"], {}
    account = {"name": pod["spec"].get("serviceAccountName") or "default", "namespace": metadata["namespace"]}
    bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
    for audience, seconds in asked:
        spec = {"audiences": [audience] if audience else [], "expirationSeconds": seconds, "boundObjectRef": bound}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": account, "spec": spec}
        status = (await client.create(body, subresource="token"))["status"]
        ends_ms = parse_time(status.get("expirationTimestamp")) or now_ms + seconds * 1000
        found[audience, seconds] = Token(status["token"], due_ms(now_ms, ends_ms))
    return found


def due_ms(made_ms: int, ends_ms: int) -> int:
    """When a token of that life is to be renewed."""
    return made_ms + min(int((ends_ms - made_ms) * DUE), DAY_MS)


def texts_of(tokens: Mapping[Asked, Token]) -> dict[Asked, str]:
    """The tokens themselves."""
    return {asked: token.text for asked, token in tokens.items()}


async def keep(
    client: Client, clock: Clock, pod: Callable[[], JsonObject | None], home: Path, tokens: Mapping[Asked, Token]
) -> None:
    """Renews a pod's tokens in its volumes below `home`. `pod`: as it is now, None once it is over; `tokens`: those that are
    there, none of them for a pod that was taken over."""
    due = min((token.due_ms for token in tokens.values()), default=0)
    pause_ms = RETRY_MS
    while True:
        while (left := due - clock.now_ms()) > 0:
            await clock.sleep_ms(min(left, _LOOK_MS))
        living = pod()
        if living is None:
            return
        now_ms = clock.now_ms()
        try:
            renewed = await ask(client, living, volumes.tokens_of(living), now_ms)
            volumes.renew(living, home, texts_of(renewed))
        except (KumiError, OSError) as error:
            LOG.warning(
                "tokens of pod %s/%s: %s", living["metadata"].get("namespace"), living["metadata"]["name"], error
            )
            due, pause_ms = now_ms + pause_ms, min(pause_ms * 2, RETRY_MOST_MS)
            continue
        due, pause_ms = min(token.due_ms for token in renewed.values()), RETRY_MS
