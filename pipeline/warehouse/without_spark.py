"""Writers of tables take a session of Spark, and ask it nothing where delta-rs can open the warehouse."""

from typing import Any

#: In place of a session, for a process that has none. delta-rs must be able to open the warehouse (`delta_url`).
NO_SPARK: Any = None
