"""Files that collectors are still writing, at the place of a log: how far each of them is whole, so that a job need not wait for its end.

A finished file has another name (`b-1-1.jsonl.gz`) than while it grew (`_unfinished-b-1-1`). Here a file is named by its finished name all
the time, as Spark will list it.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from re import match

from pipeline.sources.growing import UNFINISHED, Part, finished_name, whole_part
from pipeline.sources.listing import folders_of, named_by, shows
from pipeline.sources.place import Place
from pipeline.store.address import local_path

#: Finished name (`file:/a b/c.jsonl.gz`) → how far it was read while it grew.
Parts = Mapping[str, Part]


def look(place: Place, before: Parts) -> dict[str, Part]:
    """How far open files are whole now. `before` is the result of the look before; a part of it never becomes shorter.

    A file that is finished stays in the result: whoever reads the rest of it takes it out. One that is deleted does not. Raises OSError.
    """
    growing = dict(_growing(place))
    found = {file: part for file, part in before.items() if file in growing or not _is_gone(file)}
    for file, path in growing.items():
        part = _grown(path, found.get(file, Part()))
        if part.bytes:
            found[file] = part
    return dict(sorted(found.items()))


def has_open_files(place: Place) -> bool:
    """Whether somebody writes at the place now. Raises OSError."""
    return any(True for _ in _growing(place))


def unfinished_path(file: str) -> Path:
    """Where a file lies while it grows."""
    path = _path(file)
    return path.with_name(UNFINISHED + path.name.removesuffix(".jsonl.gz"))


def _growing(place: Place) -> Iterator[tuple[str, Path]]:
    """(finished name, path) of open files. One whose finished file is there, too, is a copy that was left behind."""
    for parent, names in _folders(place):
        for name in names:
            if name.startswith(UNFINISHED) and (final := finished_name(name)) not in names:
                file = f"file:{parent}/{final}"
                if match(place.wanted, file):
                    yield file, Path(parent, name)


def _folders(place: Place) -> Iterator[tuple[str, list[str]]]:
    """(path, names of files) of every folder with wanted files. A glob may also name files: it knows no name that a file will have."""
    for begin in named_by(place):
        for parent, folders, names in os.walk(str(local_path(begin)), onerror=_fail, followlinks=True):
            folders[:] = [name for name in folders if shows(name)]
            yield parent, names
    for folder in folders_of(place):
        yield from [(parent, names) for parent, _, names in islice(os.walk(str(local_path(folder)), onerror=_fail), 1)]


def _grown(path: Path, part: Part) -> Part:
    try:
        with path.open("rb") as stream:
            return whole_part(stream, part)
    except FileNotFoundError:
        return part  # finished just now


def _is_gone(file: str) -> bool:
    # In this order: a file that is renamed in between is there under its finished name.
    return not unfinished_path(file).exists() and not _path(file).exists()


def _path(file: str) -> Path:
    path = local_path(file)
    assert path is not None
    return path


def _fail(fault: OSError) -> None:
    if not isinstance(fault, FileNotFoundError | NotADirectoryError):  # a folder may go meanwhile; --events may be a file
        raise fault
