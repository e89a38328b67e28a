"""The tables that `--tables` names."""

import difflib
from collections.abc import Sequence

from pipeline.faults import BadConfig


def chosen_tables(names: str | None, known: Sequence[str]) -> list[str]:
    """Those of `known`, in its order, that `names` (with commas between) names; all if it is None.

    Raises BadConfig for the first name that is none of them, with the nearest one that is.
    """
    if names is None:
        return list(known)
    chosen = [name.strip() for name in names.split(",")]
    for name in chosen:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"those are {', '.join(known)}"
            raise BadConfig(f"--tables {name}: there is no such table; {hint}")
    return [name for name in known if name in chosen]
