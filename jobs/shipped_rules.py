"""Compiled rules that travel to a cluster's executors with the code: nothing is compiled there.

numba names a folder of its cache after the place of the sources. On an executor that place is another one for each application. So in the
shipped form a folder is named after the package.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from pipeline.rules_cache import rules_cache

ROOT = Path(__file__).parent.parent
#: Beside the code. The folder of these very sources is in it, as in NUMBA_CACHE_DIR.
SHIPPED = "compiled_rules"
#: The packages whose functions are compiled.
_COMPILED = "pipeline/machines"


def rules_to_ship(cache_parent: str) -> Iterator[tuple[str, Path]]:
    """(name in the shipped form, file) of every compiled rule in NUMBA_CACHE_DIR that was made of these sources in this place."""
    # numba takes its settings from the environment once, when it is imported.
    from numba.core.caching import UserProvidedCacheLocator

    cache = Path(rules_cache(cache_parent))
    sources = ROOT / _COMPILED
    for package in [sources, *sorted(path for path in sources.rglob("*") if path.is_dir())]:
        folder = cache / UserProvidedCacheLocator.get_suitable_cache_subpath(str(package / "__init__.py"))
        for file in sorted(folder.glob("*.nb[ic]")):
            yield f"{SHIPPED}/{cache.name}/{package.relative_to(ROOT).as_posix()}/{file.name}", file


def use_shipped_rules() -> None:
    """Where compiled rules came with the code, let numba find them. Before numba is imported.

    numba takes them if they were compiled for this kind of processor, by this version of numba. Else it compiles the rules, and keeps
    them in the same place.
    """
    shipped = ROOT / SHIPPED
    if shipped.is_dir():
        os.environ["NUMBA_CACHE_DIR"] = str(shipped)
        os.environ["NUMBA_CACHE_LOCATOR_CLASSES"] = "jobs.shipped_cache.ByPackage"
