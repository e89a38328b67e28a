"""The files of a folder on this machine or in a store, as somebody sees them who watches a job write."""

from contextlib import suppress

from pyarrow.fs import FileSelector, FileType

from pipeline.store.arrow_places import arrow_place

#: A folder that comes or goes amid a listing is listed again; one that does so each time is a fault.
LISTINGS = 100


def files_below(uri: str, *endings: str) -> set[str]:
    """Paths of the files below that end with one of `endings`; none if there is no such folder.

    Raises:
        FileNotFoundError: A folder came or went amid each of `LISTINGS` listings.
    """
    for _ in range(LISTINGS - 1):
        with suppress(FileNotFoundError):
            return _listed(uri, endings)
    return _listed(uri, endings)


def _listed(uri: str, endings: tuple[str, ...]) -> set[str]:
    folder, filesystem = arrow_place(uri)
    found = filesystem.get_file_info(FileSelector(folder, allow_not_found=True, recursive=True))
    return {one.path for one in found if one.type == FileType.File and one.path.endswith(endings)}


def state_versions(checkpoint: str) -> set[str]:
    """Files of the state that a query's checkpoint has: each partition adds one in a micro-batch."""
    return files_below(f"{checkpoint}/state", ".changelog", ".zip")
