"""Templates to HTML. Jinja2 escapes every name; what would steer a reader's screen is shown as its code. Pure."""

from datetime import datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pipeline.diagnosis.words import MISSING, cause_words
from pipeline.serving.page import numbers
from pipeline.serving.page.marks import cause_name, hue_of, mark_of
from pipeline.visible import visible

#: Files beside the pages, with their types.
STATIC = {"style.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"}


def rendered(template: str, **about: Any) -> str:
    """HTML of a whole page."""
    return _environment().get_template(template).render(version=version(), **about)


@cache
def static(name: str) -> str:
    """The text of a file of STATIC."""
    return files("pipeline.serving.page").joinpath(name).read_text(encoding="utf-8")


@cache
def version() -> str:
    """Of all static files: it is in their addresses, so that a browser may keep them for ever."""
    return sha256("".join(static(name) for name in STATIC).encode()).hexdigest()[:12]


def clock(at: datetime | None, form: str = "%H:%M:%S") -> Markup:
    """`11:48:27` in UTC, which a script makes local; the date and the zone on hover."""
    if at is None:
        return Markup("?")
    shown, whole = at.strftime(form), at.strftime("%Y-%m-%d %H:%M:%S UTC")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at.isoformat().replace("+00:00", "Z"), whole, shown)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("pipeline.serving.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    made.filters |= {
        "clock": clock,
        "count": numbers.count,
        "short": numbers.short,
        "rate": numbers.rate,
        "size": numbers.size,
        "span": numbers.span,
        "percent": numbers.percent,
        "limit": numbers.limit,
        "cause": cause_name,
        "cause_words": cause_words,
        "hue": hue_of,
        "mark": mark_of,
        "missing": MISSING.__getitem__,
        "iso": lambda at: at.isoformat().replace("+00:00", "Z"),
    }
    return made


def _visible(value: Any) -> Any:
    """Control characters and marks that turn text around, as their codes; a no-break space of ours stays."""
    if not isinstance(value, str):
        return value
    return type(value)(visible(value, keep="\n" + numbers.NO_BREAK))
