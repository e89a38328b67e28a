"""Files of bronze in which every event is in a packet: their names say so, so nobody needs to open one to know."""

import re

from schemas.lane_columns import LAYOUT

_NAMED = re.compile(r"\.packets-(\d+)\.parquet")


def name_with_packets(name: str) -> str:
    """The name of a file that holds packets of this version's layout."""
    return f"{name}.packets-{LAYOUT}.parquet"


def is_packed(path: str) -> bool:
    """Whether every event of the file is in a packet of this version's layout, by the file's name."""
    found = _NAMED.search(path)
    return found is not None and int(found[1]) == LAYOUT
