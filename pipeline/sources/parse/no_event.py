"""Why no line of a log is an event: the likely mistake, guessed from its first rejected lines. It is told, nothing is decided by it.

The guess is about a whole log: of a log with events a rejected line has its own reason, and that is all that is known of it.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from schemas.events import ENVELOPE_REQUIRED, FIELDS

#: So many rejected lines are enough to guess from.
MOST_LINES = 50
#: What a byte becomes in `raw` that is no UTF-8.
_NO_TEXT = "\ufffd"
#: First bytes of files that are no text, as `raw` has them, and what they are.
_FORMATS = {
    "\x1f" + _NO_TEXT: ("gzip", ".jsonl.gz"),
    "(" + _NO_TEXT + "/" + _NO_TEXT: ("zstd", ".jsonl.zst"),
    "PAR1": ("Parquet", ".parquet"),
}
_BOM = "\ufeff"
#: A member of an object that has a line of its own.
_MEMBER = re.compile(r'\s*"[^"]*"\s*:\s*.*')
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_NUMBER = re.compile(r"(ts|epoch): (-?\d+) is not in")
_TEXT = re.compile(r'(\w+): "(.*)" is not a long')
_ABSENT = re.compile(r"(\w+) is absent")
_WRAPPED = re.compile(r'"([\w.-]+)"\s*:\s*(?:"\{\\"|\{\s*")')
_PER_S = {"seconds": 1, "milliseconds": 1_000, "microseconds": 1_000_000, "nanoseconds": 1_000_000_000}
_UNITS = {"ts": "microseconds", "epoch": "milliseconds"}


class Rejected(NamedTuple):
    """A rejected line: reason and detail of the parser, the line or its beginning (bytes that are not UTF-8 as U+FFFD)."""

    reason: str
    detail: str
    raw: str


def likely_mistake(lines: Sequence[Rejected]) -> str | None:
    """What is probably wrong with a log of which no line is an event, as a sentence without its full stop; None: nobody knows.

    `lines` are its first ones (MOST_LINES are enough), in order.
    """
    if not lines:
        return None
    return next((found for guess in _GUESSES if (found := guess(lines)) is not None), None)


def _other_format(lines: Sequence[Rejected]) -> str | None:
    known = next((names for begin, names in _FORMATS.items() if lines[0].raw.startswith(begin)), None)
    return known and f"the file is {known[0]}, but its name does not say so: let it end in {known[1]}"


def _other_encoding(lines: Sequence[Rejected]) -> str | None:
    if not any("\0" in line.raw for line in lines):
        return None
    return "the text is UTF-16 or UTF-32, but a log is UTF-8: iconv -f UTF-16 -t UTF-8 FILE > FILE.jsonl"


def _array(lines: Sequence[Rejected]) -> str | None:
    if not lines[0].raw.lstrip(_BOM + " \t").startswith("["):
        return None
    return "the file is one JSON array, but a log has one JSON object a line: jq -c '.[]' FILE > FILE.jsonl"


def _spread_out(lines: Sequence[Rejected]) -> str | None:
    begins = lines[0].raw.strip() == "{"
    if not begins or not any(_MEMBER.fullmatch(line.raw) for line in lines[1:]):
        return None
    return "a JSON object takes several lines, but a log has one JSON object a line: jq -c . FILE > FILE.jsonl"


def _other_quotes(lines: Sequence[Rejected]) -> str | None:
    return "names and texts are in single quotes, but JSON has double quotes" if lines[0].raw.startswith("{'") else None


def _separated(lines: Sequence[Rejected]) -> str | None:
    head = lines[0].raw
    if "{" in head:
        return None
    mark, times = max(((mark, head.count(mark)) for mark in _SEPARATORS), key=lambda found: found[1])
    if times < len(ENVELOPE_REQUIRED) - 1 or not any(line.raw.count(mark) == times for line in lines[1:]):
        return None
    return f"lines are values between {_SEPARATORS[mark]} (CSV), but a line of a log is a JSON object"


def _no_json(lines: Sequence[Rejected]) -> str | None:
    if _commonest(lines) not in ("not_json", "not_an_object") or any(line.raw.lstrip(_BOM + " \t").startswith("{") for line in lines):
        return None
    return "lines are no JSON objects: is it another log, as the broker's own?"


def _other_unit(lines: Sequence[Rejected]) -> str | None:
    """A number of time in another unit: it would be in its range if it were taken for one of that unit."""
    found = next((match for line in lines if line.reason == "out_of_range" and (match := _NUMBER.match(line.detail))), None)
    if found is None:
        return None
    name, value = found[1], int(found[2])
    declared, wanted = FIELDS[name], _UNITS[found[1]]
    for unit, per_s in _PER_S.items():
        if unit != wanted and declared.minimum <= value * _PER_S[wanted] // per_s <= declared.maximum:
            return f"{name} is in {unit} ({value}), but the log's {name} is in {wanted} since 1970"
    return None


def _text_for_number(lines: Sequence[Rejected]) -> str | None:
    found = next((match for line in lines if line.reason == "wrong_type" and (match := _TEXT.match(line.detail))), None)
    return found and f'{found[1]} is a text ("{found[2]}"), but the log has numbers there, without quotes'


def _other_version(lines: Sequence[Rejected]) -> str | None:
    found = next((line for line in lines if line.reason == "unknown_version"), None)
    return found and f"the log is of another version: {found.detail}"


def _other_objects(lines: Sequence[Rejected]) -> str | None:
    """Objects without the envelope: they hold events, or they are something else."""
    if _commonest(lines) != "missing_envelope_field":
        return None
    first = next(line for line in lines if line.reason == "missing_envelope_field")
    wrapped = _WRAPPED.search(first.raw)
    if wrapped and '"v' in first.raw:
        return f"the event is inside of another object, in its field {wrapped[1]}: write that field alone, one a line"
    absent = _ABSENT.match(first.detail)
    return f"lines are JSON objects, but no events: {absent[1] if absent else 'a field'} is absent. Is it another log?"


def _commonest(lines: Sequence[Rejected]) -> str:
    return Counter(line.reason for line in lines).most_common(1)[0][0]


_GUESSES: tuple[Callable[[Sequence[Rejected]], str | None], ...] = (
    _other_format,
    _other_encoding,
    _array,
    _spread_out,
    _other_quotes,
    _separated,
    _no_json,
    _other_unit,
    _text_for_number,
    _other_version,
    _other_objects,
)
