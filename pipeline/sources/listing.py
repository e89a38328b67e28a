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

    Of a file that several tasks read each reads part `part` of `parts`. `begin`: its first bytes, with `lines_before` lines, were read
    while it grew; one that still grows (`is_open`) is read as far as `length`.
    """

    path: str
    length: int
    part: int = 0
    parts: int = 1
    begin: int = 0
    lines_before: int = 0
    is_open: bool = False


def files_now(place: Place) -> list[ListedFile]:
    """The wanted files that lie there now, in the order of their paths. Empty files are left out, as Spark leaves them."""
    return sorted(file for file in visible_files(place) if file.length and re.match(place.wanted, file.path))


def visible_files(place: Place) -> Iterator[ListedFile]:
    """All files at the place that Spark would list, in any order; wanted or not, empty or not."""
    files = files_at(place.begin)
    # Hadoop expands a glob before anything is listed: what it names may be hidden, what lies below may not.
    for begin in named_by(place):
        for uri, size in files.below(begin):
            below = uri.removeprefix(f"{begin}/") if uri != begin else uri.rpartition("/")[2]
            if all(map(shows, below.split("/"))):
                yield ListedFile(uri, size)


def named_by(place: Place) -> set[str]:
    """Files and folders that the place's glob names; without a glob where the place begins."""
    return _matching(place, place.glob)


def folders_of(place: Place) -> set[str]:
    """Folders in which the place's glob looks for names; empty without a glob."""
    return (
        {one.rpartition("/")[0] for glob in _alternatives(place.glob) for one in _matching(place, _any_name(glob))} if place.glob else set()
    )


def _any_name(glob: str) -> str:
    folder, slash, _ = glob.rpartition("/")
    return f"{folder}{slash}."


def _matching(place: Place, glob: str) -> set[str]:
    files, begin = files_at(place.begin), place.begin.rstrip("/")
    return {one for way in _alternatives(glob) for one in _expanded(files, begin, way)} if glob else {begin}


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


def shows(name: str) -> bool:
    """Whether Spark lists it: `_SUCCESS` and `.crc` are hidden, a partition's folder such as `_date=1` is not."""
    return not name.startswith(".") and not (name.startswith("_") and "=" not in name)
