"""Small files in an object store: S3, Google's, Azure's. An object store has no folders: one is there where an object lies below it."""

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError
from obstore.store import ObjectStore, from_url

from pipeline.faults import invariant
from pipeline.store.address import object_address, with_hadoops_scheme
from pipeline.store.credentials import obstore_options, store_environment
from pipeline.store.small_files import SmallFiles
from pipeline.store.whole_answers import whole_answer

if TYPE_CHECKING:
    from obstore import ObjectMeta, PutMode, UpdateVersion


class ObjectFiles(SmallFiles):
    """`SmallFiles` of object stores, by URI. Faults of a store come through as obstore's."""

    def exists(self, uri: str) -> bool:
        """Whether an object is there, or one below it."""
        return self.modified_at(uri) is not None or self.is_folder(uri)

    def is_folder(self, uri: str) -> bool:
        """Whether an object lies below."""
        return whole_answer(lambda: next(_below(uri), None)) is not None

    def absolute(self, uri: str) -> str:
        """`uri` by Hadoop's scheme."""
        return with_hadoops_scheme(uri)

    def names(self, folder: str, after: str = "") -> list[str]:
        """Names of what lies in `folder` and is greater than `after`, sorted; empty if nothing does.

        With `after` the store lists no more than that, but objects below folders, too.
        """
        store, key = _place(folder)
        if after:
            begin = f"{key}/" if key else ""
            listed_after = whole_answer(lambda: [*obstore.list(store, begin, offset=f"{begin}{after}")])
            found = {one["path"].removeprefix(begin).partition("/")[0] for page in listed_after for one in page}
            return sorted(name for name in found if name > after)  # there are stores that list all the same
        listed = whole_answer(lambda: obstore.list_with_delimiter(store, f"{key}/"))
        keys = {*(one["path"] for one in listed["objects"]), *(one.rstrip("/") for one in listed["common_prefixes"])}
        return sorted(one.rpartition("/")[2] for one in keys - {key})  # Hadoop marks a folder by an object of its name

    def read(self, uri: str) -> str | None:
        """Content as UTF-8 text; None if there is no such object."""
        found = self._found(uri)
        return None if found is None else found[0]

    def dated(self, uri: str) -> tuple[str, datetime] | None:
        """Content, and when it was written, in one request; None if there is no such object."""
        found = self._found(uri)
        return None if found is None else (found[0], found[1]["last_modified"])

    def modified_at(self, uri: str) -> datetime | None:
        """When the object was written, by the store's clock; None if there is none."""
        store, key = _place(uri)
        try:
            return obstore.head(store, key)["last_modified"]
        except FileNotFoundError:
            return None

    def below(self, uri: str) -> Iterator[tuple[str, int]]:
        """(absolute URI, bytes) of every object below, in the order of their keys, or of the object that is at `uri`."""
        store, key = _place(uri)
        bucket = self.absolute(uri).removesuffix(key).rstrip("/")
        try:
            yield f"{bucket}/{key}", obstore.head(store, key)["size"]
        except FileNotFoundError:
            yield from ((f"{bucket}/{path}", size) for path, size in whole_answer(lambda: [*_below(uri)]))

    def write(self, uri: str, text: str) -> None:
        """Make or replace the object."""
        _put(uri, text, "overwrite")

    def create(self, uri: str, text: str) -> bool:
        """Make the object unless it is there; False if it is. Of several callers one wins: the store decides (a conditional PUT)."""
        try:
            _put(uri, text, "create")
        except AlreadyExistsError:
            # It may be ours: a PUT of which the answer was lost is sent again.
            return self.read(uri) == text
        return True

    def replace(self, uri: str, before: str, text: str) -> bool:
        """Replace the object if it says `before`; False if it says something else, or is not there. Of several callers one wins."""
        found = self._found(uri)
        if found is None or found[0] != before:
            return found is not None and found[0] == text
        try:
            _put(uri, text, _as_it_was(found[1]))
        except (PreconditionError, FileNotFoundError):
            return self.read(uri) == text
        return True

    def delete(self, uri: str) -> bool:
        """Remove an object, and all below; False if there was none."""
        is_folder = self.is_folder(uri)
        if is_folder:
            from pipeline.store.arrow_places import arrow_place

            folder, filesystem = arrow_place(uri)
            try:
                filesystem.delete_dir(folder)  # with Hadoop's marks, too, whose keys end with a slash: obstore cannot name them
            except FileNotFoundError:
                if self.is_folder(uri):
                    raise
                # All below is gone; in Google's stores Arrow also wants the folder's own mark, which is not there.
        if self.modified_at(uri) is None:
            return is_folder
        whole_answer(lambda: obstore.delete(*_place(uri)))
        return True

    def _found(self, uri: str) -> tuple[str, "ObjectMeta"] | None:
        store, key = _place(uri)
        try:
            found = whole_answer(lambda: obstore.get(store, key))
            return bytes(found.bytes()).decode(), found.meta
        except FileNotFoundError:
            return None


def object_store(bucket: str) -> ObjectStore:
    """The store of a bucket, by its URL. Raises BadConfig where there is no key."""
    return _store(bucket, store_environment())


@lru_cache(maxsize=64)
def _store(bucket: str, _environment: tuple[str | None, ...]) -> ObjectStore:
    return from_url(bucket, **obstore_options(bucket))


def _put(uri: str, text: str, mode: "PutMode") -> None:
    """Sent again where the answer breaks off: under a condition the store may then find what the first one made."""
    store, key = _place(uri)
    whole_answer(lambda: obstore.put(store, key, text.encode(), mode=mode))


def _as_it_was(about: "ObjectMeta") -> "UpdateVersion":
    """The condition that an object is the one that was read: S3 and Azure know it by its tag, Google by its version."""
    known: UpdateVersion = {"e_tag": about["e_tag"]} if about["e_tag"] else {}
    return {**known, "version": about["version"]} if about["version"] else known


def _place(uri: str) -> tuple[ObjectStore, str]:
    place = object_address(uri)
    invariant(place is not None, f"{uri} is in no object store")
    assert place is not None
    return object_store(place.bucket), place.key


def _below(folder: str) -> Iterator[tuple[str, int]]:
    """(key, bytes) of every object below."""
    store, key = _place(folder)
    for page in obstore.list(store, f"{key}/"):
        for one in page:
            yield one["path"], one["size"]
