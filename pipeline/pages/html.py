"""Templates to HTML. Jinja2 escapes every name; what would steer a reader's screen is shown as its code. Pure."""

import re
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from pipeline.diagnosis.counts import percent
from pipeline.diagnosis.words import MISSING, cause_words
from pipeline.pages import numbers
from pipeline.pages.badges import cause_name, hue_of
from pipeline.visible import visible

#: An instant as sentences of a diagnosis have it.
_INSTANT = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
_WITH_DATE = "%Y-%m-%d %H:%M:%S"


def environment(package: str) -> Environment:
    """Templates of a package, beside those that all pages share."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates"), PackageLoader("pipeline.pages", "templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    made.filters |= {
        "clock": clock,
        "day_clock": lambda at: clock(at, _WITH_DATE),
        "told": told,
        "count": numbers.count,
        "short": numbers.short,
        "rate": numbers.rate,
        "size": numbers.size,
        "span": numbers.span,
        "lasting": numbers.lasting,
        "percent": percent,
        "limit": numbers.limit,
        "cause": cause_name,
        "cause_words": cause_words,
        "hue": hue_of,
        "missing": MISSING.__getitem__,
        "iso": iso,
    }
    return made


@cache
def style() -> str:
    """The one style sheet."""
    return files("pipeline.pages").joinpath("style.css").read_text(encoding="utf-8")


def iso(at: datetime) -> str:
    """`2026-11-21T11:48:27Z`."""
    return at.isoformat().replace("+00:00", "Z")


def clock(at: datetime | None, form: str = "%H:%M:%S") -> Markup:
    """`11:48:27` in UTC, which a script makes local; the date and the zone on hover."""
    if at is None:
        return Markup("?")
    shown, whole = at.strftime(form), at.strftime(f"{_WITH_DATE} UTC")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(iso(at), whole, shown)


def told(sentence: str) -> Markup:
    """A sentence whose instants are times of the page, as `clock` has them."""
    words, end = Markup(), 0
    for found in _INSTANT.finditer(sentence):
        words += escape(_visible(sentence[end : found.start()])) + clock(datetime.fromisoformat(found[0]), _WITH_DATE)
        end = found.end()
    return words + escape(_visible(sentence[end:]))


def _visible(value: Any) -> Any:
    """Control characters and marks that turn text around, as their codes; a no-break space of ours stays."""
    if not isinstance(value, str):
        return value
    return type(value)(visible(value, keep="\n" + numbers.NO_BREAK))
