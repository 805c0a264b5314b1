"""Lines of queues: GET .../pendingworkloads of a ClusterQueue or a LocalQueue, as `kubectl get --raw` and others ask for it.

    /apis/visibility.kueue.x-k8s.io/VERSION/clusterqueues/NAME/pendingworkloads
    /apis/visibility.kueue.x-k8s.io/VERSION/namespaces/NAMESPACE/localqueues/NAME/pendingworkloads
    ?offset=0&limit=1000        which part of the line

404: there is no such queue, or nobody decides in this process (`kumi up --bare`, `--no-controllers`), as where the API is not
installed.
Source     Kueue: visibility API.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from aiohttp import web

from kumi.api.errors import bad_request, not_found
from kumi.api.visibility import GROUP, PENDING, SUMMARY, VERSIONS
from kumi.api.wire import JsonObject
from kumi.apiserver.errors import no_such_resource
from kumi.apiserver.responses import answer
from kumi.apiserver.routes.options import number
from kumi.runtime.visibility import Pending, PendingSource, nobody_decides

LIMIT = 1000
LARGEST = 2**31


def add_routes(app: web.Application, source: PendingSource | None) -> None:
    """Both paths."""

    async def of_cluster_queue(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        found = _asked(source).pending(name)
        if found is None:
            raise not_found("clusterqueues", name, GROUP)
        return await _summary(request, found)

    async def of_local_queue(request: web.Request) -> web.Response:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        decider = _asked(source)
        queue = decider.cluster_queue_of(f"{namespace}/{name}")
        if queue is None:
            raise not_found("localqueues", name, GROUP)
        line = decider.pending(queue) or iter(())
        own = (p for p in line if (p.metadata.get("namespace"), p.local_queue) == (namespace, name))
        return await _summary(request, own)

    base = f"/apis/{GROUP}/{{version}}"
    app.router.add_get(f"{base}/clusterqueues/{{name}}/{PENDING}", of_cluster_queue)
    app.router.add_get(f"{base}/namespaces/{{namespace}}/localqueues/{{name}}/{PENDING}", of_local_queue)


def _asked(source: PendingSource | None) -> PendingSource:
    if source is None:
        raise nobody_decides()
    return source


async def _summary(request: web.Request, line: Iterator[Pending]) -> web.Response:
    version = request.match_info["version"]
    if version not in VERSIONS:
        raise no_such_resource()
    offset, limit = _whole(request, "offset", 0), _whole(request, "limit", LIMIT)
    items = [_item(pending) for pending in islice(line, offset, offset + limit)]
    body: JsonObject = {"kind": SUMMARY, "apiVersion": f"{GROUP}/{version}", "metadata": {}, "items": items}
    return await answer(request, body)


def _whole(request: web.Request, name: str, default: int) -> int:
    found = number(request.query, name)
    if found is None:
        return default
    if not 0 <= found < LARGEST:
        raise bad_request(f"{name} must be a whole number from 0 on")
    return found


def _item(pending: Pending) -> JsonObject:
    return {
        "metadata": pending.metadata,
        "priority": pending.priority,
        "localQueueName": pending.local_queue,
        "positionInClusterQueue": pending.position,
        "positionInLocalQueue": pending.position_in_local_queue,
    }
