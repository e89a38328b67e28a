"""Who may ask: methods, the token that is asked for, headers, and one line of JSON for the log."""

from collections.abc import Callable, MutableMapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline.serving.page.sign_in import PATH as SIGN_IN
from pipeline.serving.page.sign_in import SignIn
from pipeline.serving.sessions import Sessions

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
#: Of a path, a query and all headers together. h11 counts only what came in several parts.
MOST_HEAD_BYTES = 16_384
#: Colon, blank and end of line.
_AROUND_HEADER_BYTES = 4
#: Of a path or a query in the log.
_MOST_LOGGED = 2_000
#: A watchdog of the process asks without a token.
OPEN_PATHS = frozenset({"/healthz"})
#: What the page that asks for the token is made of.
OPEN_FILES = "/static/"
_BEARER = b"Bearer "


class Access:
    """The application for those who have a session or bring the token (null: for all), and a log.

    `log` takes one entry a request; `now_s` never goes back.
    """

    def __init__(self, app: ASGIApp, sessions: Sessions | None, log: Callable[[dict[str, Any]], None], now_s: Callable[[], float]) -> None:
        self._app, self._sessions, self._log, self._now_s = app, sessions, log, now_s
        self._sign_in = None if sessions is None else SignIn(sessions)

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
            await self._for(scope)(scope, receive, passed_on)
        finally:
            self._log(
                {
                    "method": scope["method"],
                    "path": scope["path"][:_MOST_LOGGED],
                    "query": scope["query_string"].decode("latin-1")[:_MOST_LOGGED],
                    "from": (scope["client"] or ("",))[0],
                    **sent,
                    "ms": round((self._now_s() - begun) * 1000, 1),
                }
            )

    def _for(self, scope: Scope) -> ASGIApp:
        """Who answers the request."""
        method, path = scope["method"], scope["path"]
        if _head_bytes(scope) > MOST_HEAD_BYTES:
            return JSONResponse({"reason": f"the head of a request has at most {MOST_HEAD_BYTES:,} bytes"}, 431)
        if self._sign_in is not None and path == SIGN_IN and method in ("GET", "HEAD", "POST"):
            return self._sign_in
        if method not in ("GET", "HEAD"):
            return JSONResponse({"reason": "only GET is answered"}, 405, {"Allow": "GET, HEAD"})
        if self._sessions is None or self._sign_in is None or path in OPEN_PATHS or path.startswith(OPEN_FILES):
            return self._app
        headers = dict(scope["headers"])
        if _is_known(self._sessions, headers, is_tls=scope["scheme"] == "https"):
            return self._app
        if b"text/html" in headers.get(b"accept", b""):
            return self._sign_in.asked(scope)
        return JSONResponse({"reason": "a token is asked for"}, 401, {"WWW-Authenticate": "Bearer"})


def _is_known(sessions: Sessions, headers: dict[bytes, bytes], *, is_tls: bool) -> bool:
    given = headers.get(b"authorization", b"")
    if given.startswith(_BEARER) and sessions.is_token(given.removeprefix(_BEARER)):
        return True
    return sessions.is_open(headers.get(b"cookie", b""), is_tls=is_tls)


def _head_bytes(scope: Scope) -> int:
    of_headers = sum(len(name) + len(value) + _AROUND_HEADER_BYTES for name, value in scope["headers"])
    return len(scope["raw_path"]) + len(scope["query_string"]) + of_headers


def _count(sent: dict[str, int], message: MutableMapping[str, Any]) -> None:
    """Note status and size, and put our headers on the answer."""
    if message["type"] == "http.response.start":
        sent["status"] = message["status"]
        given = {name for name, _ in message["headers"]}
        message["headers"] = [*message["headers"], *(header for header in _HEADERS if header[0] not in given)]
    elif message["type"] == "http.response.body":
        sent["bytes"] += len(message.get("body", b""))
