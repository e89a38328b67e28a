"""A DuckDB that is closed: it reads some folders of this machine and nothing else."""

import re
import tempfile
from collections.abc import Sequence

import duckdb

from pipeline.query.functions import MACROS, PREFIX

#: Where a text calls one of the macros; sqlglot writes names in either case, and quotes those that were quoted.
_CALLED = re.compile(rf"\b{PREFIX}(\w+)(?=\"?\()", re.IGNORECASE)


class ClosedDuckDB:
    """A `connection` in memory that reads nothing outside of these folders, loads no extension and keeps its settings.

    Beyond `most_memory` (as "1GB"; None: most of the machine's) sorts, groups and joins go on in temporary files, somewhat slower.
    """

    def __init__(self, folders: Sequence[str], most_memory: str | None) -> None:
        # By itself DuckDB would put the files into the folder in which the command was called. These are gone with the process.
        self._files = tempfile.TemporaryDirectory(prefix="dispatch-analytics-")
        limit = {} if most_memory is None else {"memory_limit": most_memory}
        self.connection = duckdb.connect(
            config={
                "allow_community_extensions": "false",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
                "temp_directory": self._files.name,
                **limit,
            }
        )
        self._macros: set[str] = set()
        self.connection.execute("SET TimeZone = 'UTC'")
        quoted = ", ".join("'" + folder.replace("'", "''") + "/'" for folder in folders)
        self.connection.execute(f"SET allowed_directories = [{quoted}]")
        self.connection.execute("SET enable_external_access = false")
        self.connection.execute("SET lock_configuration = true")

    def learn_macros(self, text: str) -> None:
        """Make the macros that a statement calls. Most statements call few; to make all would take longer than most answers."""
        for name in sorted({called.lower() for called in _CALLED.findall(text)} & MACROS.keys()):
            if name in self._macros:
                continue
            overloads = ", ".join(MACROS[name])
            self.learn_macros(overloads)
            self.connection.execute(f"CREATE OR REPLACE MACRO {PREFIX}{name}{overloads}")
            self._macros.add(name)  # only now: another thread may interrupt
