"""Whether the server is up, and which version it is: the paths that anybody may read.

/version                       major, minor and gitVersion: the Kubernetes version whose API is spoken, and Kumi's own
/healthz /livez /readyz        `ok`, or 500 with the checks that failed; `?verbose` shows each; `?exclude=NAME` leaves
                               one out; PATH/NAME is that check alone
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping

from aiohttp import web

from kumi import __version__
from kumi.api.wire import JsonObject
from kumi.apiserver.errors import no_such_resource
from kumi.apiserver.responses import answer

KUBERNETES = (1, 33, 0)
"""The Kubernetes version whose API is spoken"""

Check = Callable[[], bool]
PATHS = ("healthz", "livez", "readyz")


def version_document() -> JsonObject:
    """/version, as clients compare it."""
    major, minor, patch = KUBERNETES
    return {
        "major": str(major),
        "minor": str(minor),
        "gitVersion": f"v{major}.{minor}.{patch}+kumi-{__version__}",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": platform.python_implementation().lower(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }


def report(path: str, checks: Mapping[str, Check], excluded: frozenset[str], *, verbose: bool) -> tuple[int, str]:
    """HTTP status and text of a health path."""
    lines, failed = [], []
    for name, check in checks.items():
        if name in excluded:
            lines.append(f"[+]{name} excluded: ok")
        elif _passes(check):
            lines.append(f"[+]{name} ok")
        else:
            failed.append(name)
            lines.append(f"[-]{name} failed")
    if failed:
        return 500, "\n".join([*lines, f"{path} check failed", ""])
    return 200, "\n".join([*lines, f"{path} check passed", ""]) if verbose else "ok"


def _passes(check: Check) -> bool:
    try:
        return check()
    except Exception:
        return False


def add_routes(app: web.Application, checks: Mapping[str, Check]) -> None:
    """/version and the health paths; `checks` are those of /readyz, besides answering at all."""
    every = {"ping": lambda: True}

    async def version(request: web.Request) -> web.Response:
        return await answer(request, version_document())

    async def health(request: web.Request) -> web.Response:
        path = request.path.strip("/").partition("/")[0]
        known = {**every, **checks} if path == "readyz" else every
        if name := request.match_info.get("check", ""):
            if name not in known:
                raise no_such_resource()
            known = {name: known[name]}
        excluded = frozenset(request.query.getall("exclude", []))
        status, text = report(path, known, excluded, verbose="verbose" in request.query)
        headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache, private"}
        return web.Response(text=text, status=status, headers=headers)

    app.router.add_get("/version", version)
    app.router.add_get("/version/", version)
    for path in PATHS:
        app.router.add_get(f"/{path}", health)
        app.router.add_get(f"/{path}/{{check}}", health)
