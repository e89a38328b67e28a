"""Why there is nothing to read at a place: what lies there is empty, or has another ending."""

import re
from collections.abc import Sequence

from pipeline.sources import jsonl_files, parquet_files
from pipeline.sources.listing import visible_files
from pipeline.sources.place import Place

ENDINGS = (*jsonl_files.SUFFIXES, *parquet_files.SUFFIXES)
_MOST_NAMED = 3


def nothing_words(place: Place) -> str:
    """Of a place without a file that has something in it: the empty ones, else the endings that are taken and what is there."""
    paths = sorted(file.path for file in visible_files(place))
    empty = [path for path in paths if re.match(place.wanted, path)]
    if empty:
        return f"there is nothing to load: {_named(empty)} {'is' if len(empty) == 1 else 'are'} empty"
    others = [] if place.glob else paths
    there = f"; there {'is' if len(others) == 1 else 'are'} {_named(others)}" if others else ""
    return f"there is no file to load: taken are {', '.join(ENDINGS[:-1])} and {ENDINGS[-1]}{there}"


def _named(paths: Sequence[str]) -> str:
    """Names of the first ones, and how many more."""
    names = [path.rpartition("/")[2] for path in paths[:_MOST_NAMED]]
    more = len(paths) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")
