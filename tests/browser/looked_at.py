"""Somebody with a browser: pages in light or dark, wide or narrow, with or without scripts; all that goes wrong is noted."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

WIDE, PHONE = 1280, 390
PATIENCE_S = 30
#: While the incident of the demo goes on.
AMID = "2026-11-21T11:47:59Z"


class Visitor:
    """`faults`: errors of the console and of scripts, requests that went elsewhere. `answered`: addresses of which an answer came."""

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.faults: list[str] = []
        self.answered: list[str] = []

    def opens(
        self, server: Served, path: str = "/", *, width: int = WIDE, scheme: str = "light", scripts: bool = True, **asked: str
    ) -> "Page":
        """A page in a window of its own. Its clock is six hours behind UTC."""
        here = f"http://127.0.0.1:{server.port}"
        page = self._page(here, width, scheme, scripts)
        page.goto(here + path + (f"?{urlencode(asked)}" if asked else ""))
        return page

    def opens_file(self, file: Path, *, width: int = WIDE, scheme: str = "light") -> "Page":
        """A file of this machine in a window of its own."""
        page = self._page(file.as_uri(), width, scheme, scripts=True)
        page.goto(file.as_uri())
        return page

    def _page(self, here: str, width: int, scheme: str, scripts: bool) -> "Page":
        context = self._browser.new_context(
            viewport={"width": width, "height": 844},
            color_scheme="dark" if scheme == "dark" else "light",
            java_script_enabled=scripts,
            timezone_id="America/Chicago",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE_S * 1000)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self._note(message.type in ("error", "warning"), f"console: {message.text}"))
        page.on("pageerror", lambda error: self._note(True, f"script: {error}"))
        page.on("request", lambda request: self._note(not request.url.startswith((here, "data:")), f"elsewhere: {request.url}"))
        page.on("response", lambda response: self.answered.append(response.url))
        page.on("dialog", lambda dialog: self._note(True, f"dialog: {dialog.message}"))
        return page

    def leave(self) -> None:
        """Close all windows."""
        for context in self._contexts:
            context.close()

    def _note(self, is_fault: bool, words: str) -> None:
        if is_fault:
            self.faults.append(words)


def is_wider_than_its_window(page: "Page") -> bool:
    """Whether it scrolls sideways."""
    found: Any = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return bool(found)
