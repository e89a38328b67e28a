"""How rules are compiled: which of them count references to arrays."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline.rules
from pipeline.rules.array import Array
from pipeline.rules.compiled import compiled, compiled_allocating, numba

#: How types of what is or holds an array print. A `Record` is a row where it lies: no array.
ARRAYS = ("numpy.ndarray", "Blocks")


@pytest.fixture(autouse=True)
def nothing_cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """numba's cache does not know how a rule was to be compiled."""
    monkeypatch.setattr("pipeline.rules.compiled._RULES", str(tmp_path))


def second_of(values: Array) -> int:
    """A rule that names a part of an array."""
    rest = values[1:]
    return rest[0]


def doubled(values: Array) -> int:
    """A rule that makes an array."""
    return np.empty_like(values).size * 2


@pytest.mark.parametrize(("compile_rule", "counts"), [(compiled, False), (compiled_allocating, True)])
def test_only_a_rule_that_makes_arrays_counts_references(compile_rule: Callable[[Any], Any], counts: bool) -> None:
    rule = compile_rule(second_of)
    assert rule(np.arange(3)) == 1
    (code,) = rule.inspect_llvm().values()
    assert "define" in code
    assert ("NRT_decref" in code) == counts


def test_a_rule_that_may_make_arrays_does() -> None:
    assert compiled_allocating(doubled)(np.arange(3)) == 6


def test_a_rule_that_makes_an_array_and_does_not_say_so_is_refused() -> None:
    with pytest.raises(numba.core.errors.NumbaError, match="returning of array"):
        compiled(doubled)(np.arange(3))


def every_rule() -> dict[str, Any]:
    """All compiled rules by their names."""
    modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(pipeline.rules.__path__, "pipeline.rules.")]
    members = [rule for module in modules for rule in vars(module).values() if isinstance(rule, numba.core.dispatcher.Dispatcher)]
    return {f"{rule.__module__}.{rule.__name__}": rule for rule in members}


def returns_array(rule: Any) -> bool:
    """By its signature."""
    return any(name in str(inspect.signature(rule.py_func).return_annotation) for name in ARRAYS)


def takes_array(rule: Any) -> bool:
    """Whether a rule that it names returns one."""
    named = [rule.py_func.__globals__.get(name) for name in rule.py_func.__code__.co_names]
    return any(isinstance(other, numba.core.dispatcher.Dispatcher) and returns_array(other) for other in named)


def test_who_returns_an_array_and_who_takes_it_count_references() -> None:
    """Else an array would never be freed, or freed while somebody has it: numba gives what is returned to the caller."""
    rules = every_rule()
    concerned = {name for name, rule in rules.items() if returns_array(rule) or takes_array(rule)}
    assert {"pipeline.rules.blocks.copied", "pipeline.rules.broker.marks._coarsen"} < concerned
    assert [name for name in sorted(concerned) if not rules[name].targetoptions["_nrt"]] == []
