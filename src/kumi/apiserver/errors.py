"""Whatever goes wrong becomes a `v1 Status` with its HTTP code, and the server stays up.

    ApiError                      its own Status
    a path that nobody serves     404 NotFound, in the words that kubectl's users know
    a method it doesn't have      405 MethodNotAllowed
    a body over the limit         413 RequestEntityTooLarge
    any other KumiError           500 InternalError with its text: it was written for a person (a full disk, say)
    any other exception           500 InternalError, logged with its traceback
A lost connection and a cancelled request are nobody's fault and pass through.
"""

from __future__ import annotations

import logging

from aiohttp import web
from aiohttp.typedefs import Handler

from kumi.api.errors import ApiError, KumiError
from kumi.apiserver.responses import status_response

LOG = logging.getLogger("kumi.apiserver")

BODY_LIMIT = 3 * 1024 * 1024
"""bytes of a request body"""

NO_SUCH_RESOURCE = "the server could not find the requested resource"


def no_such_resource() -> ApiError:
    """404 for a path, a group, a version or a resource that is not served."""
    return ApiError(404, "NotFound", NO_SUCH_RESOURCE)


def method_not_allowed() -> ApiError:
    """405 for a verb that the resource doesn't have."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def too_large() -> ApiError:
    """413 for a body past the limit."""
    message = f"Request entity too large: limit is {BODY_LIMIT}"
    return ApiError(413, "RequestEntityTooLarge", message)


def as_api_error(error: Exception) -> ApiError:
    """What a client is told about any exception."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return too_large()
    if isinstance(error, web.HTTPNotFound):
        return no_such_resource()
    if isinstance(error, web.HTTPMethodNotAllowed):
        return method_not_allowed()
    if isinstance(error, web.HTTPException):
        return ApiError(error.status, error.reason.replace(" ", ""), error.text or error.reason)
    if isinstance(error, TimeoutError):
        return ApiError(504, "Timeout", "the request was not finished in time")
    return ApiError(500, "InternalError", f"Internal error occurred: {error}")


def report(error: Exception, request: web.BaseRequest) -> ApiError:
    """`as_api_error`, with our own bugs and the world's failures written to the log."""
    told = as_api_error(error)
    if not isinstance(error, ApiError | web.HTTPException):
        LOG.error("%s %s failed: %s", request.method, request.path, error, exc_info=not isinstance(error, KumiError))
    return told


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Middleware: the outermost, so that nothing escapes it."""
    try:
        return await handler(request)
    except ConnectionError:
        raise
    except Exception as error:
        return status_response(report(error, request))
