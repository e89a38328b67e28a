"""Around every answer: the token that is asked for, headers, and one line of JSON for the log."""

import hmac
from collections.abc import Callable, MutableMapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
#: A watchdog of the process asks without a token.
OPEN_PATHS = frozenset({"/healthz"})


class Access:
    """The application with a token (None: none is asked for) and a log. `log` takes one entry a request; `now_s` never goes back."""

    def __init__(self, app: ASGIApp, token: str | None, log: Callable[[dict[str, Any]], None], now_s: Callable[[], float]) -> None:
        self._app, self._token, self._log, self._now_s = app, token, log, now_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the life of the server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, sent = self._now_s(), {"status": 0, "bytes": 0}

        async def passed_on(message: Message) -> None:
            _count(sent, message)
            await send(message)

        try:
            refusal = self._refusal(scope)
            await (refusal or self._app)(scope, receive, passed_on)
        finally:
            self._log(
                {
                    "method": scope["method"],
                    "path": scope["path"],
                    "query": scope["query_string"].decode("latin-1"),
                    "from": (scope["client"] or ("",))[0],
                    **sent,
                    "ms": round((self._now_s() - begun) * 1000, 1),
                }
            )

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        if scope["method"] not in ("GET", "HEAD"):
            return JSONResponse({"reason": "only GET is answered"}, 405, {"Allow": "GET, HEAD"})
        if self._token is None or scope["path"] in OPEN_PATHS:
            return None
        given = dict(scope["headers"]).get(b"authorization", b"")
        if hmac.compare_digest(given, b"Bearer " + self._token.encode()):
            return None
        return JSONResponse({"reason": "a token is asked for"}, 401, {"WWW-Authenticate": "Bearer"})


def _count(sent: dict[str, int], message: MutableMapping[str, Any]) -> None:
    """Note status and size, and put our headers on the answer."""
    if message["type"] == "http.response.start":
        sent["status"] = message["status"]
        given = {name for name, _ in message["headers"]}
        message["headers"] = [*message["headers"], *(header for header in _HEADERS if header[0] not in given)]
    elif message["type"] == "http.response.body":
        sent["bytes"] += len(message.get("body", b""))
