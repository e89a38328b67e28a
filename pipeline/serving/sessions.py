"""Signing in with a browser, which cannot bring a Bearer token: the token once in a form, then a cookie.

The cookie has the end of the session and a keyed hash of it. So nothing is kept here, a restart signs nobody out, another token signs
everybody out, and whoever reads the cookie does not learn the token. It is for this server alone (no Domain), no script reads it
(HttpOnly), and no page of another site sends it along with what it loads (SameSite=Lax). Strict would ask again whoever follows a link
from a chat; and a request that a link can make changes nothing here. Over TLS it is `__Host-` and Secure: it never goes out in clear.
"""

import hmac
from collections.abc import Callable
from hashlib import sha256

#: A shift, and some hours.
SESSION_S = 12 * 3600
_NAME = "dispatch_session"


class Sessions:
    """Sessions of those who know a token. `utc_s`: seconds since 1970."""

    def __init__(self, token: str, utc_s: Callable[[], float]) -> None:
        self._token, self._utc_s = token.encode(), utc_s
        self._key = sha256(b"a session of dispatch analytics\0" + self._token).digest()

    def is_token(self, given: bytes) -> bool:
        """Whether somebody knows the token. It takes as long for a wrong one."""
        return hmac.compare_digest(given, self._token)

    def cookie(self, *, is_tls: bool) -> str:
        """Set-Cookie for somebody who knows it."""
        end = str(int(self._utc_s()) + SESSION_S)
        return self._set(f"{end}.{self._signature(end)}", SESSION_S, is_tls)

    def no_cookie(self, *, is_tls: bool) -> str:
        """Set-Cookie that takes the session away."""
        return self._set("", 0, is_tls)

    def is_open(self, cookies: bytes, *, is_tls: bool) -> bool:
        """Whether a request's Cookie header has a session that goes on."""
        end, _, signature = _value(cookies, _name(is_tls)).partition(".")
        is_ours = hmac.compare_digest(signature.encode("latin-1"), self._signature(end).encode())
        return is_ours and int(end) > self._utc_s()

    def _signature(self, end: str) -> str:
        return hmac.new(self._key, end.encode("latin-1"), sha256).hexdigest()

    def _set(self, value: str, age_s: int, is_tls: bool) -> str:
        secure = "; Secure" if is_tls else ""
        return f"{_name(is_tls)}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Lax{secure}"


def _name(is_tls: bool) -> str:
    return f"__Host-{_NAME}" if is_tls else _NAME


def _value(cookies: bytes, name: str) -> str:
    """Of one cookie, empty where it is not there. Other cookies of the host may look as they like."""
    for one in cookies.decode("latin-1").split(";"):
        found, _, value = one.strip().partition("=")
        if found == name:
            return value
    return ""
