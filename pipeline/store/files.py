"""The door to small files: whoever has the URI's file system opens it. Clients of stores are imported where they are needed."""

from pipeline.faults import BadWarehouse
from pipeline.store.address import hdfs_address, local_path, object_address, scheme_of
from pipeline.store.local_files import LocalFiles
from pipeline.store.small_files import SmallFiles


def files_at(uri: str) -> SmallFiles:
    """The small files of the file system that the URI is in; a path without a scheme is on this machine.

    Raises BadWarehouse for a file system that is none of these.
    """
    if local_path(uri) is not None or scheme_of(uri) is None:
        return LocalFiles()
    if object_address(uri) is not None:
        from pipeline.store.object_files import ObjectFiles

        return ObjectFiles()
    if hdfs_address(uri) is not None:
        from pipeline.store.hdfs_files import HdfsFiles

        return HdfsFiles()
    raise BadWarehouse(f"{uri}: {scheme_of(uri)}: is not known; files are read on this machine, and at s3a://, gs://, abfss:// and hdfs://")
