"""The door to small files: whoever has the URI's file system opens it."""

from pipeline.faults import BadWarehouse
from pipeline.store.address import local_path, object_address, scheme_of
from pipeline.store.local_files import LocalFiles
from pipeline.store.small_files import SmallFiles


def files_at(uri: str) -> SmallFiles:
    """The small files of the file system that the URI is in; a path without a scheme is on this machine.

    Raises BadWarehouse for a file system that only Hadoop knows: `files_with_hadoop` (hadoop_files.py) opens it.
    """
    if local_path(uri) is not None or scheme_of(uri) is None:
        return LocalFiles()
    if object_address(uri) is not None:
        from pipeline.store.object_files import ObjectFiles

        return ObjectFiles()
    raise BadWarehouse(f"{uri} is in a file system that only Hadoop reads; this command opens s3a:, gs:, abfss: and local ones")
