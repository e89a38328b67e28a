"""Files of a log as they were listed; and the listing of those that lie at a place now, without Spark."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import filter as matching

from pipeline.sources.place import Place, is_glob
from pipeline.store.files import files_at
from pipeline.store.small_files import SmallFiles


@dataclass(frozen=True, order=True)
class ListedFile:
    """A file as it was listed: `path` as Spark writes it (`file:/a b/c`, not percent-encoded), `length` in bytes.

    Of a file that several tasks read each reads part `part` of `parts`.
    """

    path: str
    length: int
    part: int = 0
    parts: int = 1


def files_now(place: Place) -> list[ListedFile]:
    """The wanted files that lie there now, in the order of their paths. Empty files are left out, as Spark leaves them."""
    return sorted(file for file in visible_files(place) if file.length and re.match(place.wanted, file.path))


def visible_files(place: Place) -> Iterator[ListedFile]:
    """All files at the place that Spark would list, in any order; wanted or not, empty or not."""
    files = files_at(place.begin)
    # Hadoop expands a glob before anything is listed: what it names may be hidden, what lies below may not.
    for begin in _named(files, place):
        for uri, size in files.below(begin):
            below = uri.removeprefix(f"{begin}/") if uri != begin else uri.rpartition("/")[2]
            if not any(map(_is_hidden, below.split("/"))):
                yield ListedFile(uri, size)


def _named(files: SmallFiles, place: Place) -> set[str]:
    """Files and folders that the place's glob names; without a glob where the place begins."""
    begin = place.begin.rstrip("/")
    return {one for glob in _alternatives(place.glob) for one in _expanded(files, begin, glob)} if place.glob else {begin}


def _expanded(files: SmallFiles, folder: str, glob: str) -> set[str]:
    found = {folder}
    for part in glob.split("/"):
        found = {f"{one}/{name}" for one in found for name in (matching(files.names(one), part) if is_glob(part) else [part])}
    return found


def _alternatives(glob: str) -> list[str]:
    """A glob of Hadoop as globs of Python, which know no braces."""
    braces = re.search(r"\{([^{}]*)\}", glob)
    if braces is None:
        return [glob.replace("[^", "[!")]
    return [whole for one in braces[1].split(",") for whole in _alternatives(glob[: braces.start()] + one + glob[braces.end() :])]


def _is_hidden(name: str) -> bool:
    """As Spark has it: `_SUCCESS` and `.crc` are hidden, a partition's folder such as `_date=1` is not."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)
