"""The page that asks a browser for the token: `/sign-in`, and in the place of each page until then."""

from http import HTTPStatus
from urllib.parse import parse_qs, quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from pipeline.serving.page.html import rendered
from pipeline.serving.page.routes import HEADERS
from pipeline.serving.sessions import Sessions

PATH = "/sign-in"
#: A token and an address are shorter.
MOST_BYTES = 8_192
_HTML = "text/html; charset=utf-8"


class SignIn:
    """Answers of `/sign-in`: GET has the form, or who is signed in; POST takes the token, or with `out` ends the session."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request of that path."""
        request = Request(scope, receive)
        answer = await self._posted(request) if request.method == "POST" else self._shown(request)
        await answer(scope, receive, send)

    def asked(self, scope: Scope) -> Response:
        """In the place of a page, which is answered after that."""
        query = scope["query_string"].decode("latin-1")
        return _form(f"{quote(scope['path'])}?{query}" if query else quote(scope["path"]), "", HTTPStatus.UNAUTHORIZED)

    def _shown(self, request: Request) -> Response:
        if self._sessions.is_open(request.headers.get("cookie", "").encode("latin-1"), is_tls=_is_tls(request)):
            return Response(rendered("signed-in.html"), headers=HEADERS, media_type=_HTML)
        return _form("/", "", HTTPStatus.OK)

    async def _posted(self, request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return _form("/", "That is too long for a token.", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        given = parse_qs(body.decode("utf-8", "replace"))
        if "out" in given:
            return _to("/", self._sessions.no_cookie(is_tls=_is_tls(request)))
        then = given.get("then", ["/"])[0]
        if not self._sessions.is_token(given.get("token", [""])[0].strip().encode()):
            return _form(then, "This is not the token.", HTTPStatus.UNAUTHORIZED)
        return _to(then if _is_here(then) else "/", self._sessions.cookie(is_tls=_is_tls(request)))


def _is_tls(request: Request) -> bool:
    return request.url.scheme == "https"


def _is_here(address: str) -> bool:
    """Whether it is a path of this server: browsers take `//host` and `/\\host` for another one, and leave line ends out."""
    return address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()


def _to(address: str, cookie: str) -> Response:
    return RedirectResponse(address, HTTPStatus.SEE_OTHER, {"Set-Cookie": cookie})


def _form(then: str, fault: str, status: int) -> Response:
    headers = HEADERS | ({"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {})
    return Response(rendered("sign-in.html", then=then if _is_here(then) else "/", fault=fault), status, headers, _HTML)
