"""Removes files of installed packages that nothing here opens. requirements/never-used.txt lists them, with the reasons."""

import fnmatch
import os
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path

#: Between an archive and a pattern of what is in it, as in the URLs of Java.
WITHIN = "!/"


def patterns_of(text: str) -> list[str]:
    """The patterns of a list; comments are left out."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def remove_never_used(site_packages: Path, patterns: Iterable[str]) -> None:
    """Remove what matches. A pattern that matches nothing is fine: it was removed before, or is of another machine."""
    within: dict[str, list[str]] = {}
    for pattern in patterns:
        archive, found, entry = pattern.partition(WITHIN)
        if found:
            within.setdefault(archive, []).append(entry)
            continue
        for path in site_packages.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    for archive, entries in within.items():
        for path in site_packages.glob(archive):
            _remove_entries(path, entries)


def _remove_entries(archive: Path, patterns: list[str]) -> None:
    """Write the archive without the entries that match; it appears whole or not at all."""
    with zipfile.ZipFile(archive) as old:
        kept = [entry for entry in old.infolist() if not any(fnmatch.fnmatchcase(entry.filename, pattern) for pattern in patterns)]
        if len(kept) == len(old.infolist()):
            return
        half = archive.with_suffix(".half")
        with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in kept:
                new.writestr(entry, old.read(entry))
    os.replace(half, archive)
