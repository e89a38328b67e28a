"""Writers of tables take a session of Spark, and ask it nothing where the warehouse is on the local file system."""

from typing import Any

#: In place of a session, for a process that has none. The warehouse must have a `local_folder`.
NO_SPARK: Any = None
