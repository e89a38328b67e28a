"""Compiled rules that travel to a cluster's executors with the code: nothing is compiled there."""

import os
from collections.abc import Iterator
from pathlib import Path

from pipeline.rules_cache import parts_cache, rules_cache

ROOT = Path(__file__).parent.parent
#: Beside the code. The folder of these very sources is in it, as in NUMBA_CACHE_DIR.
SHIPPED = "compiled_rules"


def rules_to_ship(cache_parent: str) -> Iterator[tuple[str, Path]]:
    """(name in the shipped form, file) of every compiled rule in NUMBA_CACHE_DIR that was made of these sources."""
    cache, parts = Path(rules_cache(cache_parent)), Path(parts_cache(cache_parent))
    for file in sorted(cache.rglob("*.nb[ic]")):
        if not file.is_relative_to(parts):
            yield f"{SHIPPED}/{file.relative_to(cache.parent).as_posix()}", file


def use_shipped_rules() -> None:
    """Where compiled rules came with the code, let numba find them. Before numba is imported.

    numba takes them if they were compiled for this kind of processor, by this version of numba. Else it compiles the rules, and keeps
    them in the same place.
    """
    shipped = ROOT / SHIPPED
    if shipped.is_dir():
        os.environ["NUMBA_CACHE_DIR"] = str(shipped)
