"""The templates of the pages, and the files beside them."""

from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment

from pipeline.pages.html import environment, style

#: Files beside the pages, with their types.
STATIC = {"style.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"}


def rendered(template: str, **about: Any) -> str:
    """HTML of a whole page."""
    return _environment().get_template(template).render(version=version(), **about)


@cache
def static(name: str) -> str:
    """The text of a file of STATIC."""
    return style() if name == "style.css" else files("pipeline.serving.page").joinpath(name).read_text(encoding="utf-8")


@cache
def version() -> str:
    """Of all static files: it is in their addresses, so that a browser may keep them for ever."""
    return sha256("".join(static(name) for name in STATIC).encode()).hexdigest()[:12]


@cache
def _environment() -> Environment:
    return environment("pipeline.serving.page")
