"""An error of DuckDB as one plain sentence about the statement: DuckDB's own names functions that nobody has written."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches

import duckdb

from pipeline.faults import BadConfig
from pipeline.query.functions import PREFIX
from pipeline.query.missing_functions import ANSWERED, ASK_SPARK, ONLY_SPARK

_NO_FUNCTION = re.compile(r"Function with name \"?(?P<name>\w+)\"? does not exist")
_ARGUMENTS = (
    re.compile(r"argument types '(?P<name>\w+)\((?P<types>.*?)\)'\."),
    re.compile(r"function call \"(?P<name>[^\"(]+)\((?P<types>.*?)\)\""),
    re.compile(r"Macro \"?(?P<name>\w+)(?P<types>\(\))\"? does not support the supplied arguments"),
)
_NO_COLUMN = re.compile(r"Referenced column \"(?P<name>[^\"]*)\" not found.*?(?:Candidate bindings: (?P<near>.*))?$", re.S)
_KIND = re.compile(r"^[A-Z][A-Za-z ]*Error: ")
_MISSING = re.compile(r"Required keyword: '\w+' missing for <class '[\w.]+'>\. (?P<place>Line \d+, Col: \d+)")


@contextmanager
def refusals() -> Iterator[None]:
    """While DuckDB answers a statement of a person: its errors are BadConfig, in words about the statement."""
    try:
        yield
    except duckdb.Error as refused:
        raise BadConfig(f"SQL: {refusal(str(refused))}") from refused


def refusal(message: str) -> str:
    """The sentence, without candidates, a place in a text that DuckDB was given, and DuckDB's name of the kind of error."""
    first = message.strip().splitlines()[0]
    if unknown := _NO_COLUMN.search(message.strip()):
        near = re.findall(r"\"([^\"]+)\"", (unknown["near"] or "").partition("\n")[0])
        return f"there is no column {unknown['name']}{f'; did you mean {near[0]}?' if near else ''}"
    if missing := _NO_FUNCTION.search(first):
        return _no_function(missing["name"].removeprefix(PREFIX).lower())
    for pattern in _ARGUMENTS:
        if found := pattern.search(first):
            types = re.sub(r"_LITERAL|\"", "", found["types"]).removeprefix("()")
            given = f" ({types})" if types else ""
            name = found["name"].removeprefix(PREFIX)
            who = name if name in ANSWERED or not name.isidentifier() else "a function"
            return f"{who} does not take these arguments{given} here; maybe {ASK_SPARK}"
    return f"{_KIND.sub('', first)}"


def not_parsed(message: str) -> str:
    """What sqlglot says of a text that it does not understand, in one line."""
    missing = _MISSING.search(message)
    return f"an argument is missing: {missing['place']}" if missing else message.strip().splitlines()[0]


def _no_function(name: str) -> str:
    known = ANSWERED | ONLY_SPARK
    if name in known:
        return f"the function {name} is not answered here; {ASK_SPARK}"
    near = get_close_matches(name, known, 1)
    return f"there is no function {name}{f'; did you mean {near[0]}?' if near else ''}"
