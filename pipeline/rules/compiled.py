"""The one way to compile a rule: numba, cached on disk, no fast-math. Under NUMBA_DISABLE_JIT=1 the same function runs as plain Python."""

from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

import numba

from pipeline.rules_cache import parts_cache, rules_cache

Rule = TypeVar("Rule", bound=Callable[..., object])

_RULES, _PARTS = rules_cache(numba.config.CACHE_DIR), parts_cache(numba.config.CACHE_DIR)


class ByPackage(import_module("numba.core.caching").UserProvidedCacheLocator):  # type: ignore[misc]  # numba has no types
    """Names a folder of the cache after the package of its rules. numba names it after the place of the sources.

    So whoever has the same sources finds the same rules: another checkout, an executor of a cluster. numba imports this by name.
    """

    def __init__(self, rule: Callable[..., object], file: str) -> None:
        super().__init__(rule, file)
        self._folder = f"{numba.config.CACHE_DIR}/{rule.__module__.rpartition('.')[0]}"

    def get_cache_path(self) -> str:
        """Where compiled forms of the rule are."""
        return self._folder


def compiled(rule: Rule) -> Rule:
    """Compile `rule` lazily, once per signature. Integers stay int64; overflow would wrap, so rules use `integers.py`.

    It may neither make an array nor return one. So nothing counts references to arrays, which took a third of the fold's time.
    """
    return _compiled(rule, _RULES)


def compiled_allocating(rule: Rule) -> Rule:
    """As `compiled`, of a rule that makes arrays or returns one."""
    return _compiled(rule, _RULES, _nrt=True)


def compiled_part(rule: Rule) -> Rule:
    """Compile a rule that only rules call: without the forms that Python would call it by, which take a third of the time to compile."""
    return _part(rule)


def inlined_part(rule: Rule) -> Rule:
    """As `compiled_part`, put into its caller by LLVM: for rules of the most frequent events.

    Each array that is handed to a rule is seven words on the stack, and a rule that looks at other subscriptions asks for ten.
    """
    return _part(rule, forceinline=True)


def allocating_part(rule: Rule) -> Rule:
    """As `compiled_part`, of a rule that makes arrays or returns one: whoever it returns it to is one, too."""
    return _part(rule, _nrt=True)


def _part(rule: Rule, **more: bool) -> Rule:
    return _compiled(rule, _PARTS, no_cpython_wrapper=True, no_cfunc_wrapper=True, **more)


def _compiled(rule: Rule, folder: str, **more: bool) -> Rule:
    options = {"nogil": True, "_nrt": False, **more}  # NRT: numba's runtime, which makes arrays and counts references to them
    config = numba.config
    others = config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES
    # Read when a function is decorated: functions of others are cached elsewhere.
    config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = folder, f"{__name__}.{ByPackage.__name__}"
    try:
        return numba.njit(cache=True, **options)(rule)
    except RuntimeError:  # numba may not write to the folder: compile in every process
        return numba.njit(**options)(rule)
    finally:
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = others
