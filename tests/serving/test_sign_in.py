"""A server with a token asks a browser for it in a form, once; the cookie that it gives says nothing of the token and has an end."""

import http.client
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest
from served import PATIENCE_S, Served, served

from pipeline.serving.page.sign_in import MOST_BYTES
from pipeline.serving.sessions import SESSION_S, Sessions
from pipeline.warehouse.layout import Warehouse

TOKEN = "a-long-secret"
BROWSER = {"Accept": "text/html,*/*"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Of a warehouse without tables: who may ask is decided before anything is read."""
    with served(Warehouse(f"file:{tmp_path_factory.mktemp('w')}"), token=TOKEN) as made:
        yield made


@dataclass(frozen=True)
class Answer:
    """Of one request."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def cookie(self) -> str:
        """NAME=VALUE of its Set-Cookie."""
        return self.headers.get("set-cookie", "").partition(";")[0]


def ask(server: Served, method: str, path: str, headers: dict[str, str] | None = None, **form: str) -> Answer:
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    client.request(method, path, urlencode(form) if form else None, headers or {})
    found = client.getresponse()
    answer = Answer(found.status, {name.lower(): value for name, value in found.getheaders()}, found.read().decode())
    client.close()
    return answer


def signed_in(server: Served) -> dict[str, str]:
    return {**BROWSER, "Cookie": ask(server, "POST", "/sign-in", token=TOKEN).cookie}


def test_a_browser_gets_the_form_in_the_place_of_a_page_and_a_program_json(guarded: Served) -> None:
    page = ask(guarded, "GET", '/topic?topic="><b>', BROWSER)
    assert page.status == 401
    assert '<form class="sign-in" method="post" action="/sign-in">' in page.text
    assert "<b>" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    program = ask(guarded, "GET", "/", {"Accept": "*/*"})
    assert (program.status, program.text) == (401, '{"reason":"a token is asked for"}')
    assert ask(guarded, "GET", re.findall(r'href="(/static/[^"]+)"', page.text)[0], BROWSER).status == 200


def test_the_token_opens_the_page_that_was_asked_for(guarded: Served) -> None:
    form = ask(guarded, "GET", "/topic?topic=a%2Fb", BROWSER).text
    then = re.findall(r'name="then" value="([^"]*)"', form)[0]
    assert then == "/topic?topic=a%2Fb"
    answer = ask(guarded, "POST", "/sign-in", BROWSER, token=f" {TOKEN} ", then=then)
    assert (answer.status, answer.headers["location"]) == (303, then)
    set_cookie = answer.headers["set-cookie"]
    assert set_cookie.endswith(f"; Path=/; Max-Age={SESSION_S}; HttpOnly; SameSite=Lax")
    assert TOKEN not in set_cookie
    opened = {**BROWSER, "Cookie": f"other=1; bad cookie; {answer.cookie}"}
    for path in ("/", "/metrics", "/v1/why"):
        assert ask(guarded, "GET", path, opened).status == 503, "the warehouse is empty, and it was asked"


@pytest.mark.parametrize("token", ["", "wrong", TOKEN.upper(), f"{TOKEN}x", "sécret"])
def test_another_token_opens_nothing(guarded: Served, token: str) -> None:
    answer = ask(guarded, "POST", "/sign-in", BROWSER, token=token, then="/log")
    assert answer.status == 401
    assert "set-cookie" not in answer.headers
    assert "This is not the token." in answer.text
    assert 'name="then" value="/log"' in answer.text
    assert not any(TOKEN in str(entry) for entry in guarded.log)


@pytest.mark.parametrize("then", ["//elsewhere.example/", "/\\elsewhere.example", "https://elsewhere.example", "/\n/x", "x", ""])
def test_nobody_is_sent_elsewhere(guarded: Served, then: str) -> None:
    assert ask(guarded, "POST", "/sign-in", BROWSER, token=TOKEN, then=then).headers["location"] == "/"


@pytest.mark.parametrize(
    "change", [lambda end, mark: f"{int(end) + 9}.{mark}", lambda end, mark: f"{end}.{mark[::-1]}", lambda end, mark: end]
)
def test_a_cookie_that_was_changed_opens_nothing(guarded: Served, change: Callable[[str, str], str]) -> None:
    name, _, value = ask(guarded, "POST", "/sign-in", token=TOKEN).cookie.partition("=")
    for other in (change(*value.split(".")), "", "é.é", "." * 5_000):
        assert ask(guarded, "GET", "/", {**BROWSER, "Cookie": f"{name}={other}".encode().decode("latin-1")}).status == 401


def test_a_session_ends_with_its_time_and_with_the_token() -> None:
    now_s = [1000.0]
    sessions = Sessions(TOKEN, lambda: now_s[0])
    cookie = sessions.cookie(is_tls=False).partition(";")[0].encode()
    assert sessions.is_open(cookie, is_tls=False)
    assert Sessions(TOKEN, lambda: now_s[0]).is_open(cookie, is_tls=False), "a restart signs nobody out"
    assert not Sessions("another", lambda: now_s[0]).is_open(cookie, is_tls=False)
    now_s[0] += SESSION_S
    assert not sessions.is_open(cookie, is_tls=False)


def test_over_tls_the_cookie_never_goes_out_in_clear() -> None:
    sessions = Sessions(TOKEN, lambda: 0)
    cookie = sessions.cookie(is_tls=True)
    assert cookie.startswith("__Host-")
    assert cookie.endswith("; HttpOnly; SameSite=Lax; Secure")
    assert sessions.is_open(cookie.partition(";")[0].encode(), is_tls=True)
    assert not sessions.is_open(cookie.partition(";")[0].encode(), is_tls=False)


def test_somebody_signs_out(guarded: Served) -> None:
    headers = signed_in(guarded)
    assert "You are signed in." in ask(guarded, "GET", "/sign-in", headers).text
    out = ask(guarded, "POST", "/sign-in", headers, out="1")
    assert (out.status, out.headers["location"]) == (303, "/")
    assert "Max-Age=0" in out.headers["set-cookie"]
    assert ask(guarded, "GET", "/", {**BROWSER, "Cookie": out.cookie}).status == 401
    assert "Sign in." in ask(guarded, "GET", "/sign-in", BROWSER).text


def test_a_form_that_is_too_long_is_refused_and_other_methods_are(guarded: Served) -> None:
    assert ask(guarded, "POST", "/sign-in", BROWSER, token="x" * MOST_BYTES).status == 413
    assert ask(guarded, "DELETE", "/sign-in", signed_in(guarded)).status == 405
    assert ask(guarded, "POST", "/v1/why", signed_in(guarded), a="b").status == 405


def test_without_a_token_there_is_nothing_to_sign_in_to(tmp_path: Path) -> None:
    with served(Warehouse(f"file:{tmp_path}")) as free:
        assert ask(free, "GET", "/sign-in", BROWSER).status == 404
        assert ask(free, "POST", "/sign-in", BROWSER, token=TOKEN).status == 405
