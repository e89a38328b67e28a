"""Why there is nothing to read at a place: what lies there is empty, or has another ending."""

import os
from collections.abc import Sequence

from pipeline.sources import jsonl_files, parquet_files
from pipeline.sources.place import Place, files_below, paths_here

ENDINGS = (*jsonl_files.SUFFIXES, *parquet_files.SUFFIXES)
_MOST_NAMED = 3


def nothing_words(place: Place) -> str:
    """Of a local place without a file that has something in it: the empty ones, else the endings that are taken and what is there."""
    empty = sorted(paths_here(place))
    if empty:
        return f"there is nothing to load: {_named(empty)} {'is' if len(empty) == 1 else 'are'} empty"
    begin = "/" + place.begin.removeprefix("file:").lstrip("/")
    others = sorted(files_below(begin)) if os.path.isdir(begin) and not place.glob else []
    there = f"; there {'is' if len(others) == 1 else 'are'} {_named(others)}" if others else ""
    return f"there is no file to load: taken are {', '.join(ENDINGS[:-1])} and {ENDINGS[-1]}{there}"


def _named(paths: Sequence[str]) -> str:
    """Names of the first ones, and how many more."""
    names = [os.path.basename(path) for path in paths[:_MOST_NAMED]]
    more = len(paths) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")
