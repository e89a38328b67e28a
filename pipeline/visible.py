"""Names come out of a log that others write. What would steer a terminal, or turn a line around, is shown as its code."""

import json
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

#: Longer than the names that most people give: a topic of tenant, namespace, name and partition has its place.
WIDEST = 100
_CUT = "…"
_BEYOND_FOUR_DIGITS = 0x10000


def visible(text: str, keep: str = "") -> str:
    """The text with `\\u001b` for ESC, and so for each character that is not printable: controls, line ends, marks of direction.

    `keep`: characters that stay, such as the line ends of a text of ours. What is visible already stays as it is.
    """
    return text if text.isprintable() else "".join(one if one.isprintable() or one in keep else _code(one) for one in text)


def visible_json(value: Any, default: Callable[[Any], Any] | None = None, indent: int | None = None) -> str:
    """The value as JSON, in which such characters of texts are JSON's own escapes: whoever reads it gets the text as it was."""
    text = json.dumps(value, default=default, ensure_ascii=False, indent=indent)
    # json.dumps writes a line end only between values; in a text it is escaped already.
    return text if text.isprintable() else "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)


def document_json(document: Any) -> str:
    """A document of ours as one line of JSON: times and dates as ISO 8601. Raises TypeError for what has no form there."""
    return visible_json(document, _json_value)


def _json_value(value: Any) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise TypeError(f"no JSON for {type(value)}")


def cut_in_the_middle(text: str, widest: int = WIDEST) -> str:
    """At most `widest` characters (3 or more): the beginning and the end, which a name differs by, around an ellipsis."""
    if len(text) <= widest:
        return text
    end = (widest - len(_CUT)) // 2
    return text[: widest - len(_CUT) - end] + _CUT + text[-end:]


def _code(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < _BEYOND_FOUR_DIGITS else f"\\U{code:08x}"
